// How a file system spreads a file over its servers, and how Lustre says it. Pure: these functions
// read and make the bytes of the attribute. Files have it: storage/file_striping.hpp.
#pragma once
#include "base/extent.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

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

/// The attribute of a file, or of a folder, that is its layout.
constexpr char const* lustre_layout_name = "lustre.lov";
/// Of the bytes of a stripe.
constexpr Bytes lustre_stripe_multiple = 65536;

/// The numbers of a plain layout in this machine's byte order, as a folder has it or as somebody
/// asks for it: 0 is left to the file system. Nothing of a composite one.
[[nodiscard]] std::optional<Striping> parse_lustre_request(std::span<std::byte const> bytes);

/// The layout that asks for such stripes of a new file, in this machine's byte order. What is 0,
/// and the pool of servers, is as `of_folder` says, the layout of the file's folder, if that is a
/// plain one; else it is left to the file system. Lustre has stripes of multiples of 64 KiB below
/// 4 GiB only: the length is rounded up to one.
[[nodiscard]] std::vector<std::byte> lustre_layout(Striping const& wanted,
                                                   std::span<std::byte const> of_folder = {});

}  // namespace sluice
