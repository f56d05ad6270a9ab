// How a file system spreads a file over its servers, and what Lustre says of it. Pure: the bytes of
// the attribute are handed in. Reading it: storage/file_striping.hpp.
#pragma once
#include "base/extent.hpp"

#include <cstddef>
#include <optional>
#include <span>

namespace sluice {

/// Stripe s of the file lies on server s mod `stripe_count`.
struct Striping {
    Bytes stripe_bytes = 0;
    std::int32_t stripe_count = 0;
    bool operator==(Striping const&) const = default;
};

/// From Lustre's layout of a file (struct lov_user_md in lustre_user.h, versions 1 and 3, in either
/// byte order). Of a composite layout the component that holds most of the file. Nothing where the
/// bytes are no such layout, or where it is not spread over servers in turn.
[[nodiscard]] std::optional<Striping> parse_lustre_layout(std::span<std::byte const> bytes);

}  // namespace sluice
