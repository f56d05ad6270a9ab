// These functions ask about another process of this node, known by its number: whether it still
// runs, and what is in its memory, where the system lets this process read it. Numbers mean
// something only to processes of one pid namespace.
#pragma once
#include "system/descriptor.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

/// How a process is known to its peers; trivially copyable.
struct ProcessAddress {
    std::int64_t pid = 0;          ///< 0: nothing is known of it.
    std::uint64_t namespace_ = 0;  ///< In which the number holds.
    std::uint64_t probe = 0;       ///< Address of a word for peers to read, with `token` in it.
    std::uint64_t token = 0;
};

enum class ReadResult : std::uint8_t { ok, refused, gone };

/// This process, without a word for peers to read.
[[nodiscard]] ProcessAddress own_process() noexcept;

/// The same with one: `probe` stays and keeps the token.
[[nodiscard]] ProcessAddress own_address(std::uint64_t& probe);

/// Whether its memory can be read, and it is the process that is meant.
[[nodiscard]] bool is_readable(ProcessAddress const& peer) noexcept;

/// Copies bytes of the peer's memory; the peer has no part in it.
[[nodiscard]] ReadResult read_memory(ProcessAddress const& peer, std::byte* to, std::uint64_t from,
                                     std::size_t bytes) noexcept;

/// A descriptor that polls readable when the process has ended; none, with errno, where it has
/// ended already or the system has no such descriptors.
[[nodiscard]] Descriptor watch_process(std::int64_t process) noexcept;

/// Whether a process has ended that watch_process() gave this for; true where it gave none.
[[nodiscard]] bool has_ended(Descriptor const& watched) noexcept;

/// Whether the process has ended, also if nobody has collected it. False when that is not known.
[[nodiscard]] bool is_gone(ProcessAddress const& peer) noexcept;

}  // namespace sluice
