// What is asked of a provider of libfabric. Only sources of src/transport include this file.
#pragma once
#ifdef SLUICE_HAVE_LIBFABRIC
#include "transport/fabric_library.hpp"

#include <cstring>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <span>
#include <string>

namespace sluice {

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
#endif
