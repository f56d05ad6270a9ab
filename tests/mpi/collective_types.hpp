// Random datatypes of one kind of element, and memory for them with guards all around.
#pragma once
#include "random_source.hpp"

#include <mpi.h>
#include <string>

namespace collective_test {

using random_test::Random;

/// A datatype that the test made, or one of MPI's own.
struct Type {
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    int elements = 1;  ///< In one item.
    std::string name;
    bool owned = false;

    [[nodiscard]] MPI_Aint extent() const {
        MPI_Aint lower = 0, extent = 0;
        MPI_Type_get_extent(handle, &lower, &extent);
        return extent;
    }
};

/// Bytes that `count` items touch, from the address that is passed on.
struct Touched {
    MPI_Aint begin = 0, end = 0;
};

inline Touched touched(Type const& type, int count) {
    if (count == 0) return {};
    MPI_Aint first = 0, length = 0;
    MPI_Type_get_true_extent(type.handle, &first, &length);
    return {first, first + length + (count - 1) * type.extent()};
}

inline Type committed(MPI_Datatype handle, int elements, std::string name) {
    MPI_Type_commit(&handle);
    return {handle, elements, std::move(name), true};
}

/// An int and a double, with a gap between and one behind.
inline Type structure() {
    int const lengths[] = {1, 1};
    MPI_Aint const places[] = {0, 8};
    MPI_Datatype const types[] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype inner = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    MPI_Type_create_struct(2, lengths, places, types, &inner);
    MPI_Type_create_resized(inner, 0, 24, &type);
    MPI_Type_free(&inner);
    return committed(type, 1, "struct{int,double}");
}

inline Type any_element(Random& random) {
    switch (random.below(6)) {
    case 0:
        return {MPI_CHAR, 1, "char", false};
    case 1:
        return {MPI_SHORT, 1, "short", false};
    case 2:
        return {MPI_INT, 1, "int", false};
    case 3:
        return {MPI_DOUBLE, 1, "double", false};
    case 4:
        return {MPI_C_DOUBLE_COMPLEX, 1, "complex", false};
    default:
        return structure();
    }
}

/// Places of k pieces, not in order, some of them before the address that is passed on.
inline MPI_Datatype scattered(Random& random, MPI_Datatype of, int k) {
    std::vector<int> places = random.order_of(2 * k);
    places.resize(static_cast<std::size_t>(k));
    for (int& place : places) place -= k;
    MPI_Datatype inner = MPI_DATATYPE_NULL, type = MPI_DATATYPE_NULL;
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_get_extent(of, &lower, &extent);
    MPI_Type_create_indexed_block(k, 1, places.data(), of, &inner);
    MPI_Type_create_resized(inner, -k * extent, 2 * k * extent, &type);
    MPI_Type_free(&inner);
    return type;
}

/// Items of `k` elements each. Items that follow each other do not overlap.
inline Type any_type(Random& random, Type const& of, int k) {
    MPI_Datatype made = MPI_DATATYPE_NULL, inner = MPI_DATATYPE_NULL;
    MPI_Aint const extent = of.extent();
    std::string const suffix = std::to_string(k) + " of " + of.name;
    switch (random.below(8)) {
    case 0:
        MPI_Type_contiguous(k, of.handle, &made);
        return committed(made, k, "contiguous " + suffix);
    case 1:
        MPI_Type_vector(k, 1, 2, of.handle, &made);
        return committed(made, k, "vector " + suffix);
    case 2:
        return committed(scattered(random, of.handle, k), k, "indexed " + suffix);
    case 3:
        MPI_Type_contiguous(k, of.handle, &inner);
        MPI_Type_create_resized(inner, -extent, (k + 2) * extent, &made);
        MPI_Type_free(&inner);
        return committed(made, k, "resized, negative lower bound, " + suffix);
    case 4:
        MPI_Type_create_hvector(k, 1, -2 * extent, of.handle, &made);
        return committed(made, k, "hvector backwards " + suffix);
    case 5: {
        int const lengths[] = {1, k - 1};
        MPI_Aint const places[] = {0, 3 * extent};
        MPI_Datatype const types[] = {of.handle, of.handle};
        MPI_Type_create_struct(2, lengths, places, types, &made);
        return committed(made, k, "struct with a hole " + suffix);
    }
    case 6:
        MPI_Type_vector(k, 1, 3, of.handle, &inner);
        MPI_Type_dup(inner, &made);
        MPI_Type_free(&inner);
        return committed(made, k, "dup of vector " + suffix);
    default:
        return {of.handle, 1, of.name, false};
    }
}

inline void release(std::vector<Type>& types) {
    for (Type& type : types) {
        if (type.owned) MPI_Type_free(&type.handle);
    }
    types.clear();
}

/// A buffer of a call, with guards before and behind it.
class Memory {
public:
    /// Never null: some MPIs refuse that even where nothing is sent.
    Memory() { cover(0, 1); }
    void cover(MPI_Aint begin, MPI_Aint end) {
        if (begin == end) return;
        begin_ = bytes_.empty() ? begin : std::min(begin_, begin);
        end_ = bytes_.empty() ? end : std::max(end_, end);
        // Elements lie where the machine wants them, so the base is a multiple of 16.
        origin_ = (guard - begin_ + 15) / 16 * 16;
        bytes_.resize(static_cast<std::size_t>(origin_ + end_ + guard));
    }
    void fill(Random& random) {
        for (auto& byte : bytes_) byte = static_cast<unsigned char>(random.next());
    }
    [[nodiscard]] unsigned char* base() { return bytes_.data() + origin_; }
    [[nodiscard]] model::Bytes const& bytes() const { return bytes_; }
    [[nodiscard]] MPI_Aint origin() const { return origin_; }

    static constexpr MPI_Aint guard = 64;  ///< Bytes behind what a call may touch.

private:
    model::Bytes bytes_;
    MPI_Aint begin_ = 0, end_ = 0, origin_ = 0;
};

}  // namespace collective_test
