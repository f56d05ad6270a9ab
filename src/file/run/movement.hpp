// These functions move the bytes of an exchange between user memory, collective buffers and
// messages; every `copy` op ends in one of them. They neither wait nor communicate, and touch only
// memory that they are given. What comes from user memory, or goes there, has come or gone when the
// UserCopies are finished. A message of a write holds a coverage, then the covered bytes. A message
// that asks for bytes of a read holds a coverage. Its answer holds where the file ends, then the
// bytes of that coverage. Where the network writes parts of messages to their places, long
// stretches are such parts, and the message ends before its bytes.
#pragma once
#include "base/copy.hpp"
#include "file/run/shared_region.hpp"
#include "file/run/user_copies.hpp"

#include <vector>

namespace sluice {

/// The request's bytes that lie in the window, from user memory into the collective buffer;
/// `marks`: they are marked too, as is needed where the window may have holes.
void place(Request const& request, UserCopies& copies, Window const& window,
           CbBuffer const& cb_buffer, bool marks);

/// Marks the request's bytes that lie in the window.
void mark(Request const& request, Window const& window, Coverage coverage) noexcept;

/// The request's bytes that lie in the window and before the collective buffer's limit, into user
/// memory.
void take(Request const& request, UserCopies& copies, Window const& window,
          CbBuffer const& cb_buffer);

/// Parts are this long on average at least: a write of its own costs as much as copies of so many
/// bytes.
inline constexpr Bytes placed_part_bytes_least = Bytes{16} << 10;

/// A message that is packed.
struct Packed {
    explicit Packed(ByteBuffer& memory, bool may_place = false) noexcept
        : message(memory),
          places(may_place) {}
    ByteBuffer& message;
    bool places = false;  ///< The network can. Parts are made where they are long enough.
    std::vector<PlacedPart> parts = {};
    std::size_t head_bytes = 0;  ///< Of a message with parts: of `message`, what is no part.

    /// Of a message with parts: all together.
    [[nodiscard]] Bytes bytes() const noexcept {
        auto all = static_cast<Bytes>(head_bytes);
        for (PlacedPart const& part : parts) all += part.length;
        return all;
    }
};

/// Where an answer goes: into a collective buffer of the asking node, or to one rank, which takes
/// its bytes out of the message.
enum class AnswerTo : std::uint8_t { cb_buffer, message };

void pack_written(CbBuffer const& cb_buffer, Packed& packed);
void pack_wanted(CbBuffer const& cb_buffer, ByteBuffer& message);
void pack_answer(CbBuffer const& cb_buffer, std::span<std::byte const> wanted, Bytes window_bytes,
                 AnswerTo to, Packed& packed);

/// The same messages straight from user memory: a write's data, and what a read wants.
void pack_own_written(Request const& request, UserCopies& copies, Window const& window,
                      Bytes window_bytes, Bytes granule_bytes, Packed& packed);
void pack_own_wanted(Request const& request, Window const& window, Bytes window_bytes,
                     Bytes granule_bytes, ByteBuffer& message);

/// These return false when the message is damaged; the collective buffer then holds only part of
/// it. `placed`: so many bytes have been written to their places; 0: the message has all of them.
bool unpack_written(std::span<std::byte const> message, Bytes placed, CbBuffer const& cb_buffer,
                    Bytes window_bytes);
bool unpack_wanted(std::span<std::byte const> message, CbBuffer const& cb_buffer);
bool unpack_answer(std::span<std::byte const> message, Bytes placed, CbBuffer const& cb_buffer);
/// An answer straight into user memory.
bool unpack_own_answer(Request const& request, UserCopies& copies, Window const& window,
                       std::span<std::byte> message);

}  // namespace sluice
