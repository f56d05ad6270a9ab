// What a program says of the memory of its buffers, in the words of MPI and of MPICH. Pure.
#pragma once
#include "base/program_stream.hpp"
#include "settings/knob.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

struct MemoryHints {
    /// MPICH's "type" and "value", as MPIX_Stream_create has them: calls begin when all is done
    /// that the stream was given before them. A type "none" takes the stream away.
    ProgramStream stream;
    /// "mpi_assert_memory_alloc_kinds" (MPI-4.1, 11.4.3): kinds of memory that buffers are of.
    /// Empty: of any.
    std::string alloc_kinds;
    bool operator==(MemoryHints const&) const = default;

    [[nodiscard]] bool may_be_on_device() const;
};

/// `before` are the values in force, kept where nothing new is said.
[[nodiscard]] MemoryHints read_memory_hints(Lookup const& info, MemoryHints before,
                                            std::vector<Complaint>& complaints);

/// "cudaStream_t" or "hipStream_t"; nothing: it is another one.
[[nodiscard]] std::optional<ProgramStream::Type> stream_type(std::string_view name) noexcept;

/// The bytes of a handle as MPIX_Info_set_hex writes them: two digits a byte, in the order of
/// memory; newer versions write n zeros, of two and more, as [n].
[[nodiscard]] std::optional<std::uintptr_t> parse_handle(std::string_view digits) noexcept;

}  // namespace sluice
