// These functions move the bytes of an exchange between user memory, collective buffers and
// messages; every `copy` op ends in one of them. They neither wait nor communicate, and touch only
// memory that they are given. A message of a write holds a coverage, then the covered bytes. A
// message that asks for bytes of a read holds a coverage. Its answer holds where the file ends,
// then the bytes of that coverage.
#pragma once
#include "base/copy.hpp"
#include "file/run/shared_region.hpp"

namespace sluice {

/// The request's bytes that lie in the window, from user memory into the collective buffer;
/// `marks`: they are marked too, as is needed where the window may have holes.
void place(Request const& request, std::byte const* user, Window const& window,
           CbBuffer const& cb_buffer, bool marks) noexcept;

/// Marks the request's bytes that lie in the window.
void mark(Request const& request, Window const& window, Coverage coverage) noexcept;

/// The request's bytes that lie in the window and before the collective buffer's limit, into user
/// memory.
void take(Request const& request, std::byte* user, Window const& window,
          CbBuffer const& cb_buffer) noexcept;

void pack_written(CbBuffer const& cb_buffer, ByteBuffer& message);
void pack_wanted(CbBuffer const& cb_buffer, ByteBuffer& message);
void pack_answer(CbBuffer const& cb_buffer, std::span<std::byte const> wanted, Bytes window_bytes,
                 ByteBuffer& message);

/// The same messages straight from user memory: a write's data, and what a read wants.
void pack_own_written(Request const& request, std::byte const* user, Window const& window,
                      Bytes window_bytes, Bytes granule_bytes, ByteBuffer& message);
void pack_own_wanted(Request const& request, Window const& window, Bytes window_bytes,
                     Bytes granule_bytes, ByteBuffer& message);

/// These return false when the message is damaged; the collective buffer then holds only part of
/// it.
bool unpack_written(std::span<std::byte const> message, CbBuffer const& cb_buffer,
                    Bytes window_bytes);
bool unpack_wanted(std::span<std::byte const> message, CbBuffer const& cb_buffer);
bool unpack_answer(std::span<std::byte const> message, CbBuffer const& cb_buffer);
/// An answer straight into user memory.
bool unpack_own_answer(Request const& request, std::byte* user, Window const& window,
                       std::span<std::byte const> message);

}  // namespace sluice
