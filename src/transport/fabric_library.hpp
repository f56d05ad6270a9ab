// FabricLibrary is libfabric, opened when it is wanted: no program needs it to start; and what is
// asked of its providers. Only sources that are built with its headers (SLUICE_HAVE_LIBFABRIC)
// include this file.
#pragma once
#include <memory>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <span>
#include <string>

namespace sluice {

class FabricLibrary {
public:
    /// The copy that the process has, else the one that its MPI brings, else the system's. Null
    /// where there is none; `why` says what was tried.
    [[nodiscard]] static FabricLibrary const* get(std::string& why);

    static constexpr std::uint32_t version = FI_VERSION(1, 15);  ///< Of the functions as used here.

    struct FreeInfo {
        void operator()(fi_info* info) const noexcept { free_info(info); }
        decltype(&fi_freeinfo) free_info;
    };
    using Info = std::unique_ptr<fi_info, FreeInfo>;

    [[nodiscard]] Info no_info() const { return {dup_info(nullptr), FreeInfo{free_info}}; }
    [[nodiscard]] Info owned(fi_info* info) const { return {info, FreeInfo{free_info}}; }

    std::string path;
    decltype(&fi_getinfo) get_info = nullptr;
    decltype(&fi_freeinfo) free_info = nullptr;
    decltype(&fi_dupinfo) dup_info = nullptr;
    decltype(&fi_fabric) open_fabric = nullptr;
    decltype(&fi_strerror) text_of = nullptr;
    decltype(&fi_version) version_of = nullptr;

private:
    bool find();
    bool load(char const* name, int flags);
};

/// What the provider offers, a network interface after the other; null: nothing.
[[nodiscard]] FabricLibrary::Info fabric_info(FabricLibrary const& library,
                                              std::string const& provider);

/// Of these, the one that most likely reaches other hosts. The user's own choice is the provider's
/// variable, as FI_TCP_IFACE.
[[nodiscard]] fi_info* nearest_interface(fi_info* all) noexcept;

/// Whether addresses are those of internet protocols, on TCP ports.
[[nodiscard]] bool is_on_internet(fi_info const& info) noexcept;

/// An address on internet protocols, for people; empty where it is of another kind.
[[nodiscard]] std::string internet_address(fi_info const& info, std::span<std::byte const> bytes);

}  // namespace sluice
