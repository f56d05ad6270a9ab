// Data layouts, twice: as the list of bytes that they cover, worked out here one byte run at a
// time, and as the MPI datatype that should mean the same. The tests hand the datatype to MPI and
// compare what happened with the list, so the two must not be derived from each other.
#pragma once
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

namespace model {

/// A run of bytes.
struct Block {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
};
using Blocks = std::vector<Block>;

/// Adds a run in type map order; touching runs are joined, so that large layouts stay short.
inline void append(Blocks& blocks, std::int64_t offset, std::int64_t bytes) {
    if (bytes == 0) return;
    if (!blocks.empty() && blocks.back().offset + blocks.back().bytes == offset) {
        blocks.back().bytes += bytes;
    } else {
        blocks.push_back({offset, bytes});
    }
}

/// What an MPI datatype means, and how to make it. The handle that `make` returns is the caller's.
struct Layout {
    Blocks blocks;           ///< In type map order, not necessarily ascending.
    std::int64_t lower = 0;  ///< Lower bound, in bytes.
    std::int64_t upper = 0;  ///< Upper bound; the extent is upper - lower.
    std::function<MPI_Datatype()> make;

    std::int64_t extent() const { return upper - lower; }
    std::int64_t size() const {
        std::int64_t sum = 0;
        for (auto const& block : blocks) sum += block.bytes;
        return sum;
    }
};

/// A committed datatype, freed at the end of the scope. Checks the model against MPI's own view.
class Type {
public:
    explicit Type(Layout const& layout) : handle_(layout.make()) {
        MPI_Type_commit(&handle_);
        MPI_Aint lower = 0, extent = 0;
        int size = 0;
        MPI_Type_get_extent(handle_, &lower, &extent);
        MPI_Type_size(handle_, &size);
        if (extent != layout.extent() || size != layout.size() ||
            (size != 0 && lower != layout.lower)) {
            std::fprintf(stderr, "model: size %d, lower %lld, extent %lld in MPI; %lld %lld %lld\n",
                         size, static_cast<long long>(lower), static_cast<long long>(extent),
                         static_cast<long long>(layout.size()),
                         static_cast<long long>(layout.lower),
                         static_cast<long long>(layout.extent()));
            std::abort();
        }
    }
    ~Type() { free(); }
    Type(Type const&) = delete;
    Type& operator=(Type const&) = delete;
    MPI_Datatype get() const { return handle_; }
    /// A program may free a datatype as soon as the call that uses it has returned.
    void free() {
        if (handle_ != MPI_DATATYPE_NULL) MPI_Type_free(&handle_);
    }

private:
    MPI_Datatype handle_ = MPI_DATATYPE_NULL;
};

/// A predefined type; `make` returns a duplicate, so that every layout's handle can be freed.
inline Layout element(MPI_Datatype type) {
    int bytes = 0;
    MPI_Type_size(type, &bytes);
    return {{{0, bytes}}, 0, bytes, [type] {
                MPI_Datatype copy = MPI_DATATYPE_NULL;
                MPI_Type_dup(type, &copy);
                return copy;
            }};
}

/// Copies of one layout at the given byte displacements, in that order; the type is left to the
/// caller. No copies give an empty layout with extent zero.
inline Layout copies(Layout const& base, std::vector<std::int64_t> const& displacements) {
    Layout result;
    bool first = true;
    for (auto const at : displacements) {
        for (auto const& block : base.blocks) append(result.blocks, at + block.offset, block.bytes);
        result.lower = first ? at + base.lower : std::min(result.lower, at + base.lower);
        result.upper = first ? at + base.upper : std::max(result.upper, at + base.upper);
        first = false;
    }
    return result;
}

/// Makes a derived type from the base's and frees the base's again.
template <class Derive> std::function<MPI_Datatype()> derived(Layout const& base, Derive derive) {
    return [make_base = base.make, derive] {
        MPI_Datatype from = make_base();
        MPI_Datatype to = MPI_DATATYPE_NULL;
        derive(from, &to);
        MPI_Type_free(&from);
        return to;
    };
}

inline Layout contiguous(Layout const& base, int count) {
    std::vector<std::int64_t> at;
    for (int i = 0; i < count; ++i) at.push_back(i * base.extent());
    Layout result = copies(base, at);
    result.make = derived(base, [count](MPI_Datatype from, MPI_Datatype* to) {
        MPI_Type_contiguous(count, from, to);
    });
    return result;
}

/// `stride` counts extents of the base, as in MPI_Type_vector.
inline Layout vector(Layout const& base, int count, int length, int stride) {
    std::vector<std::int64_t> at;
    for (int i = 0; i < count; ++i) {
        for (int j = 0; j < length; ++j) {
            at.push_back((static_cast<std::int64_t>(i) * stride + j) * base.extent());
        }
    }
    Layout result = copies(base, at);
    result.make = derived(base, [=](MPI_Datatype from, MPI_Datatype* to) {
        MPI_Type_vector(count, length, stride, from, to);
    });
    return result;
}

inline Layout hvector(Layout const& base, int count, std::int64_t stride_bytes) {
    std::vector<std::int64_t> at;
    for (int i = 0; i < count; ++i) at.push_back(i * stride_bytes);
    Layout result = copies(base, at);
    result.make = derived(base, [=](MPI_Datatype from, MPI_Datatype* to) {
        MPI_Type_create_hvector(count, 1, static_cast<MPI_Aint>(stride_bytes), from, to);
    });
    return result;
}

/// Runs of bytes wherever the caller wants them, in the caller's order.
inline Layout runs(Blocks const& list) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> at;
    Layout result;
    bool first = true;
    for (auto const& block : list) {
        lengths.push_back(static_cast<int>(block.bytes));
        at.push_back(static_cast<MPI_Aint>(block.offset));
        append(result.blocks, block.offset, block.bytes);
        auto const end = block.offset + block.bytes;
        result.lower = first ? block.offset : std::min(result.lower, block.offset);
        result.upper = first ? end : std::max(result.upper, end);
        first = false;
    }
    result.make = [lengths, at] {
        MPI_Datatype to = MPI_DATATYPE_NULL;
        MPI_Type_create_hindexed(static_cast<int>(at.size()), lengths.data(), at.data(), MPI_BYTE,
                                 &to);
        return to;
    };
    return result;
}

inline Layout resized(Layout const& base, std::int64_t lower, std::int64_t extent) {
    Layout result = base;
    result.lower = lower;
    result.upper = lower + extent;
    result.make = derived(base, [=](MPI_Datatype from, MPI_Datatype* to) {
        MPI_Type_create_resized(from, static_cast<MPI_Aint>(lower), static_cast<MPI_Aint>(extent),
                                to);
    });
    return result;
}

inline Layout resized(Layout const& base, std::int64_t extent) { return resized(base, 0, extent); }

/// `lengths[i]` copies of the base in a row, the first of them at byte `places[i]`.
inline Layout listed(Layout const& base, std::vector<int> const& lengths,
                     std::vector<MPI_Aint> const& places) {
    std::vector<std::int64_t> at;
    for (std::size_t i = 0; i < places.size(); ++i) {
        for (int j = 0; j < lengths[i]; ++j) at.push_back(places[i] + j * base.extent());
    }
    return copies(base, at);
}

inline std::vector<MPI_Aint> in_bytes(Layout const& base, std::vector<int> const& places) {
    std::vector<MPI_Aint> result;
    for (int const place : places) result.push_back(static_cast<MPI_Aint>(place * base.extent()));
    return result;
}

inline Layout indexed(Layout const& base, std::vector<int> const& lengths,
                      std::vector<int> const& places) {
    Layout result = listed(base, lengths, in_bytes(base, places));
    result.make = derived(base, [=](MPI_Datatype from, MPI_Datatype* to) {
        MPI_Type_indexed(static_cast<int>(places.size()), lengths.data(), places.data(), from, to);
    });
    return result;
}

inline Layout hindexed(Layout const& base, std::vector<int> const& lengths,
                       std::vector<MPI_Aint> const& places) {
    Layout result = listed(base, lengths, places);
    result.make = derived(base, [=](MPI_Datatype from, MPI_Datatype* to) {
        MPI_Type_create_hindexed(static_cast<int>(places.size()), lengths.data(), places.data(),
                                 from, to);
    });
    return result;
}

inline Layout indexed_block(Layout const& base, int length, std::vector<int> const& places) {
    Layout result = listed(base, std::vector<int>(places.size(), length), in_bytes(base, places));
    result.make = derived(base, [=](MPI_Datatype from, MPI_Datatype* to) {
        MPI_Type_create_indexed_block(static_cast<int>(places.size()), length, places.data(), from,
                                      to);
    });
    return result;
}

inline Layout hindexed_block(Layout const& base, int length, std::vector<MPI_Aint> const& places) {
    Layout result = listed(base, std::vector<int>(places.size(), length), places);
    result.make = derived(base, [=](MPI_Datatype from, MPI_Datatype* to) {
        MPI_Type_create_hindexed_block(static_cast<int>(places.size()), length, places.data(), from,
                                       to);
    });
    return result;
}

struct Field {
    Layout layout;
    std::int64_t displacement = 0;
};

/// A struct, always resized: the padding that MPI adds to a bare one is the implementation's own.
inline Layout structure(std::vector<Field> const& fields, std::int64_t extent) {
    Layout result;
    result.upper = extent;
    for (auto const& field : fields) {
        for (auto const& block : field.layout.blocks) {
            append(result.blocks, field.displacement + block.offset, block.bytes);
        }
    }
    result.make = [fields, extent] {
        std::vector<int> const ones(fields.size(), 1);
        std::vector<MPI_Aint> at;
        std::vector<MPI_Datatype> types;
        for (auto const& field : fields) {
            at.push_back(static_cast<MPI_Aint>(field.displacement));
            types.push_back(field.layout.make());
        }
        MPI_Datatype bare = MPI_DATATYPE_NULL, to = MPI_DATATYPE_NULL;
        MPI_Type_create_struct(static_cast<int>(fields.size()), ones.data(), at.data(),
                               types.data(), &bare);
        MPI_Type_create_resized(bare, 0, static_cast<MPI_Aint>(extent), &to);
        MPI_Type_free(&bare);
        for (auto& type : types) MPI_Type_free(&type);
        return to;
    };
    return result;
}

/// The elements of an array for which `mine` says yes; `mine` gets the coordinates. The last
/// dimension runs fastest in C order, the first one in Fortran order.
template <class Mine>
Layout array_part(std::vector<int> const& sizes, Layout const& base, int order, Mine mine) {
    Layout result;
    std::int64_t total = 1;
    for (int const n : sizes) total *= n;
    std::vector<int> at(sizes.size(), 0);
    for (std::int64_t index = 0; index < total; ++index) {
        for (auto const& block : mine(at) ? base.blocks : Blocks{}) {
            append(result.blocks, index * base.extent() + block.offset, block.bytes);
        }
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            std::size_t const d = order == MPI_ORDER_C ? sizes.size() - 1 - i : i;
            if (++at[d] < sizes[d]) break;
            at[d] = 0;
        }
    }
    result.upper = total * base.extent();
    return result;
}

inline Layout subarray(std::vector<int> const& sizes, std::vector<int> const& part,
                       std::vector<int> const& starts, Layout const& base,
                       int order = MPI_ORDER_C) {
    Layout result = array_part(sizes, base, order, [&](std::vector<int> const& at) {
        for (std::size_t d = 0; d < at.size(); ++d) {
            if (at[d] < starts[d] || at[d] >= starts[d] + part[d]) return false;
        }
        return true;
    });
    result.make = derived(base, [=](MPI_Datatype from, MPI_Datatype* to) {
        MPI_Type_create_subarray(static_cast<int>(sizes.size()), sizes.data(), part.data(),
                                 starts.data(), order, from, to);
    });
    return result;
}

inline Layout subarray(std::vector<int> const& sizes, std::vector<int> const& part,
                       std::vector<int> const& starts, MPI_Datatype type) {
    return subarray(sizes, part, starts, element(type));
}

/// How one dimension of a distributed array is dealt out; chunk 0 means one block a process.
struct Deal {
    int size = 1;
    int processes = 1;
    int chunk = 0;
};

inline int owner_of(Deal const& deal, int index) {
    int const block = (deal.size + deal.processes - 1) / deal.processes;
    return deal.chunk == 0 ? index / block : index / deal.chunk % deal.processes;
}

/// MPI_Type_create_darray; the process grid is row-major in either order of the array.
inline Layout darray(std::vector<Deal> const& deals, int rank, int ranks, Layout const& base,
                     int order = MPI_ORDER_C) {
    std::vector<int> sizes, deal_kinds, chunks, grid;
    for (auto const& deal : deals) {
        sizes.push_back(deal.size);
        deal_kinds.push_back(deal.chunk == 0 ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC);
        chunks.push_back(deal.chunk == 0 ? MPI_DISTRIBUTE_DFLT_DARG : deal.chunk);
        grid.push_back(deal.processes);
    }
    Layout result = array_part(sizes, base, order, [&](std::vector<int> const& at) {
        int owner = 0;
        for (std::size_t d = 0; d < at.size(); ++d) {
            owner = owner * grid[d] + owner_of(deals[d], at[d]);
        }
        return owner == rank;
    });
    result.make = derived(base, [=](MPI_Datatype from, MPI_Datatype* to) {
        MPI_Type_create_darray(ranks, rank, static_cast<int>(sizes.size()), sizes.data(),
                               deal_kinds.data(), chunks.data(), grid.data(), order, from, to);
    });
    return result;
}

inline Layout darray(std::vector<Deal> const& deals, int rank, int ranks, MPI_Datatype type) {
    return darray(deals, rank, ranks, element(type));
}

}  // namespace model
