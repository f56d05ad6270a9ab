// CRC-32C (Castagnoli), the checksum of iSCSI, ext4 and many logs. It tells a record that reached a
// device completely from one that a crash has torn. Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

/// Of the bytes behind those that `before` is the checksum of; 0: there are none before.
[[nodiscard]] std::uint32_t crc32c(std::span<std::byte const> bytes,
                                   std::uint32_t before = 0) noexcept;
/// The same without the processor's instruction for it.
[[nodiscard]] std::uint32_t crc32c_by_table(std::span<std::byte const> bytes,
                                            std::uint32_t before = 0) noexcept;

}  // namespace sluice
