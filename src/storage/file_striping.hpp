// This function asks a file how its file system spreads it over servers.
#pragma once
#include "base/striping.hpp"

#include <cstdint>
#include <vector>

namespace sluice {

/// Extended attributes of files.
class Attributes {
public:
    virtual ~Attributes() = default;
    /// Its bytes; empty where the file has none of that name, or the file system knows none.
    virtual std::vector<std::byte> read(int fd, char const* name) = 0;
};

/// Of files on one device, 0: on any. Where its file system knows no attributes of such names it is
/// asked once.
class SystemAttributes final : public Attributes {
public:
    explicit SystemAttributes(std::uint64_t device) noexcept : device_(device) {}
    std::vector<std::byte> read(int fd, char const* name) override;

private:
    std::uint64_t device_;
};

/// Nothing where the file system does not say. May ask a server.
[[nodiscard]] std::optional<Striping> striping_of(int fd, Attributes& attributes);

}  // namespace sluice
