// CollectiveArguments hold the arguments of any collective function of MPI. capture() says what
// they mean as sizes and memory, for the interposed functions and for those of sluice.h alike.
#pragma once
#include "collective/operation.hpp"
#include "mpi/collective/communicator.hpp"

#include <cstring>

namespace sluice {

/// Counts or displacements: ints, or 64 bits each.
class Numbers {
public:
    Numbers() = default;
    explicit Numbers(int const* list) noexcept : small_(list) {}
    template <class Large> explicit Numbers(Large const* list) noexcept : large_(list) {
        static_assert(sizeof(Large) == sizeof(std::int64_t));
    }
    [[nodiscard]] bool given() const noexcept { return small_ || large_; }
    [[nodiscard]] std::int64_t operator[](std::size_t i) const noexcept {
        if (small_) return small_[i];
        std::int64_t value = 0;
        std::memcpy(&value, static_cast<char const*>(large_) + i * sizeof value, sizeof value);
        return value;
    }

private:
    int const* small_ = nullptr;
    void const* large_ = nullptr;
};

/// A send or a receive buffer. Blocks have one count, or one each, with displacements; one
/// datatype, or one each.
struct BufferArguments {
    void* memory = nullptr;
    std::int64_t count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    Numbers counts, places;
    MPI_Datatype const* types = nullptr;
};

struct CollectiveArguments {
    CollectiveKind kind = CollectiveKind::barrier;
    BufferArguments send, receive;  ///< A broadcast has the latter.
    MPI_Op op = MPI_OP_NULL;
    int root = 0;
    MPI_Comm communicator = MPI_COMM_NULL;
};

struct Captured {
    int error = MPI_SUCCESS;  ///< Class. No handler knows it yet.
    /// On all ranks: the MPI knows an operation or a datatype that this library does not.
    bool is_left_to_mpi = false;
    /// What is sent and what is received share memory: an error of this rank, all of whose sizes
    /// are known.
    bool is_aliased = false;
    bool input_on_device = false, output_on_device = false;  ///< Of this rank.
};

/// Local. Counts, displacements and datatypes are not needed afterwards; memory and, where the
/// reduction is not the library's, the operation are. `own`: any communicator of the library.
[[nodiscard]] Captured capture(CollectiveArguments const& arguments,
                               Communicator const& communicator, MPI_Comm own, Rank self,
                               Rank ranks, CollectiveCall& call, CollectiveBuffers& buffers);

}  // namespace sluice
