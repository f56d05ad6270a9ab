// Numbers of bytes as people write them, in settings, profiles and options. Pure.
#pragma once
#include "base/layout.hpp"

#include <optional>
#include <string>

namespace sluice {

/// 4096, 64K, 16M, 1G; nothing when it is no such number.
[[nodiscard]] std::optional<Bytes> parse_bytes(std::string const& text) noexcept;

}  // namespace sluice
