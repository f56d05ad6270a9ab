// What a rank brings to a data access, captured from the arguments of an MPI function as they are
// at the call. Users: access.cpp, interpose_shared.cpp.
#pragma once
#include "gpu/stream_point.hpp"
#include "mpi/file/conversion_buffer.hpp"
#include "mpi/file/file.hpp"

namespace sluice {

/// What says where an access begins.
enum class From : std::uint8_t {
    pointer,         ///< The individual file pointer.
    offset,          ///< An argument: the explicit offset.
    shared_pointer,  ///< Of this call alone.
    shared_in_order  ///< The shared pointer, for all ranks in their order.
};

/// The arguments of a data-access function, whatever its name.
struct AccessArguments {
    MPI_File handle;
    Direction direction;
    From from;
    MPI_Offset offset;  ///< In etypes; only with an explicit offset.
    void* buffer;
    MPI_Count count;
    MPI_Datatype type;
    char const* function = nullptr;  ///< Its name, where all ranks call it; for people.
};

/// Where the bytes of a call lie, as far as the processor does not reach them; the datatype must be
/// right. A buffer is one allocation; of MPI_BOTTOM the datatype has addresses, which may lie in
/// several memories. Local.
[[nodiscard]] UserMemory memory_of(AccessArguments const& arguments);

/// Bad arguments of a call with this view. Local.
[[nodiscard]] Status check(File const& file, FileView const& view,
                           AccessArguments const& arguments);

/// Whether an image of the memory goes to the file, and not the memory itself.
[[nodiscard]] bool needs_conversion(FileView const& view) noexcept;

struct CallForm {
    bool may_block;  ///< The caller waits, or its part is done when it returns.
    bool waits;      ///< For the file's stream.
};

/// The call; bad arguments, and what else this rank meets, are logged and in its status. Local, but
/// with the shared pointer in the order of the ranks. `conversion_buffer`: made where it is needed.
[[nodiscard]] Call capture_call(File const& file, FileView const& view, AccessArguments const& a,
                                CallForm form,
                                std::unique_ptr<ConversionBuffer>& conversion_buffer);

/// Before a call that touches the program's memory itself, or waits for who does: until the file's
/// stream has done what it was given. Blocks.
[[nodiscard]] Error wait_for_stream(File const& file);

/// What a call that does not wait comes after; null: nothing is ahead of it. An error is logged and
/// in the call's status. Local.
[[nodiscard]] std::shared_ptr<StreamPoint> point_before(File const& file, Call& call);

}  // namespace sluice
