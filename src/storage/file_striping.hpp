// These functions ask a file how its file system spreads it over servers, and make a file that is
// spread as somebody wants it.
#pragma once
#include "base/error.hpp"
#include "base/striping.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// Extended attributes of files.
class Attributes {
public:
    virtual ~Attributes() = default;
    /// Its bytes; empty where the file has none of that name, or the file system knows none.
    virtual std::vector<std::byte> read(int fd, char const* name) = 0;
    /// The same by name; nothing where its file system knows none of such names.
    virtual std::optional<std::vector<std::byte>> at(std::string const& path, char const* name) = 0;
    virtual Error write(std::string const& path, char const* name,
                        std::vector<std::byte> const& bytes) = 0;
    virtual void remove(std::string const& path, char const* name) = 0;
};

/// Of files on one device, 0: on any. Where its file system knows no attributes of such names it is
/// asked once.
class SystemAttributes final : public Attributes {
public:
    explicit SystemAttributes(std::uint64_t device) noexcept : device_(device) {}
    std::vector<std::byte> read(int fd, char const* name) override;
    std::optional<std::vector<std::byte>> at(std::string const& path, char const* name) override;
    Error write(std::string const& path, char const* name,
                std::vector<std::byte> const& bytes) override;
    void remove(std::string const& path, char const* name) override;

private:
    std::uint64_t device_;
};

/// Nothing where the file system does not say. May ask a server.
[[nodiscard]] std::optional<Striping> striping_of(int fd, Attributes& attributes);

/// Whether the file system may spread new files of the path's folder as one asks it to, as Lustre
/// does.
[[nodiscard]] bool can_be_striped(std::string const& path, Attributes& attributes);
/// Makes an empty file of such stripes, with the rights of any new file of this process. A file
/// that is there already stays as it is. Where no file can be made nothing is said: whoever opens
/// it next meets the same. An error: the file was made, and has other stripes. May ask a server.
[[nodiscard]] Error make_striped(std::string const& path, Striping const& wanted,
                                 Attributes& attributes);

}  // namespace sluice
