// A Reduction combines the bytes of elements, as MPI_Reduce and its relatives do.
#pragma once
#include "base/extent.hpp"

#include <cstddef>
#include <memory>

namespace sluice {

/// Works on packed elements: in the order of the datatype, without gaps.
class Reduction {
public:
    Reduction() = default;
    virtual ~Reduction() = default;
    Reduction(Reduction const&) = delete;
    Reduction& operator=(Reduction const&) = delete;

    /// right[i] = left[i] op right[i], as MPI_Reduce_local. `bytes` is a multiple of an element's.
    /// May be called by any thread, but where calls_mpi().
    virtual void apply(std::byte const* left, std::byte* right, Bytes bytes) const = 0;
    /// Only a thread that may call MPI can apply it: a user's function, maybe.
    [[nodiscard]] virtual bool calls_mpi() const noexcept { return false; }
};

/// MPI's predefined operations.
enum class ReductionOp : std::uint8_t {
    sum,
    prod,
    min,
    max,
    logical_and,
    logical_or,
    logical_xor,
    bit_and,
    bit_or,
    bit_xor,
    min_place,
    max_place,  ///< MPI_MINLOC, MPI_MAXLOC, on pairs.
    replace,
    no_op,
};

/// What the elements are. Pairs are of MPI's types: value, then an int (two alike for pair_int).
enum class ElementType : std::uint8_t {
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    float32,
    float64,
    float80,  ///< float80: long double.
    complex32,
    complex64,
    complex80,
    boolean,    ///< C's _Bool and C++'s bool.
    logical32,  ///< Fortran's LOGICAL of 4 bytes: true is any number but 0.
    pair_float,
    pair_double,
    pair_long,
    pair_int,
    pair_short,
    pair_long_double,
};

/// Packed bytes of one element (of pairs: without the padding of the C structure).
[[nodiscard]] Bytes element_bytes(ElementType type) noexcept;

/// Null where MPI does not define the operation on such elements. Lives as long as the program.
[[nodiscard]] Reduction const* native_reduction(ReductionOp op, ElementType type);

}  // namespace sluice
