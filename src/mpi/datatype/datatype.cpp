// The attribute of datatypes, and the cache of layouts behind it. See datatype.hpp.
#include "mpi/datatype/datatype.hpp"

#include "base/flatten.hpp"
#include "base/layout_cache.hpp"
#include "base/type_tree_bounds.hpp"
#include "system/environment.hpp"

#include <array>
#include <unordered_map>
#include <unordered_set>

namespace sluice {
namespace {

constexpr std::size_t costly_bytes = 64 * 1024;  ///< Of a type tree: some thousand pieces, 50 us.

/// What is kept of one datatype, of what was asked for.
struct Known {
    std::array<std::shared_ptr<Shape>, 2> shapes;  ///< By representation.
    std::shared_ptr<External32 const> external32;
    std::int64_t number = -1;  ///< See kept_number().
};

/// Layouts by type tree. Locked for a look-up only, not while anything is flattened.
struct Cache {
    std::mutex mutex;
    LayoutCache layouts{settings().cache_bytes};
};
Cache& cache() {
    static auto* const only = new Cache;
    return *only;
}

/// The attribute of one datatype. MPI deletes it with the datatype.
struct TypeAttribute {
    Known known;
};

/// Attributes that exist. A lock of its own, also of what they hold, which nothing of the MPI is
/// called under: the MPI calls the functions below, and may hold locks meanwhile.
struct TypeAttributes {
    std::mutex mutex;
    std::unordered_set<TypeAttribute*> all;
};
TypeAttributes& type_attributes() {
    static auto* const only = new TypeAttributes;
    return *only;
}

TypeAttribute* make_attribute(Known known) {
    auto* const made = new TypeAttribute{std::move(known)};
    std::lock_guard const lock(type_attributes().mutex);
    type_attributes().all.insert(made);
    return made;
}

int copy_attribute(MPI_Datatype, int, void*, void* from, void* to, int* copied) {
    Known known;
    {
        std::lock_guard const lock(type_attributes().mutex);
        known = static_cast<TypeAttribute*>(from)->known;
    }
    *static_cast<void**>(to) = make_attribute(std::move(known));
    *copied = 1;
    return MPI_SUCCESS;
}

int delete_attribute(MPI_Datatype, int, void* value, void*) {
    auto* const attribute = static_cast<TypeAttribute*>(value);
    {
        std::lock_guard const lock(type_attributes().mutex);
        type_attributes().all.erase(attribute);
    }
    delete attribute;
    return MPI_SUCCESS;
}

/// Another thread may duplicate the datatype.
template <class T> void keep(std::shared_ptr<T>& place, std::shared_ptr<T> made) {
    std::lock_guard const lock(type_attributes().mutex);
    place = std::move(made);
}

/// Where it is kept: in attributes, but for named ones, which are never freed.
struct Kept {
    std::mutex mutex;  ///< From the look-up of an attribute to the end of its use.
    int keyval = MPI_KEYVAL_INVALID;
    std::unordered_map<MPI_Datatype, Known> named;
};
Kept& kept() {
    static auto* const only = new Kept;
    return *only;
}

TypeAttribute* attribute_of(MPI_Datatype type, int keyval) {
    void* value = nullptr;
    int found = 0;
    PMPI_Type_get_attr(type, keyval, static_cast<void*>(&value), &found);
    return found ? static_cast<TypeAttribute*>(value) : nullptr;
}

/// What is kept of a datatype: nothing in an entry that is new. Under the lock of Kept.
Known& known_of(MPI_Datatype type) {
    Kept& all = kept();
    if (auto const found = all.named.find(type); found != all.named.end()) return found->second;
    if (all.keyval == MPI_KEYVAL_INVALID) {
        PMPI_Type_create_keyval(copy_attribute, delete_attribute, &all.keyval, nullptr);
    } else if (TypeAttribute* const found = attribute_of(type, all.keyval)) {
        return found->known;
    }
    if (is_predefined(type)) return all.named[type];
    TypeAttribute* const made = make_attribute({});
    PMPI_Type_set_attr(type, all.keyval, made);
    return made->known;
}

}  // namespace

std::shared_ptr<Layout const> Shape::layout() {
    std::lock_guard const lock(mutex_);
    if (layout_) return layout_;
    {
        std::lock_guard const looking(cache().mutex);
        layout_ = cache().layouts.find(*type_tree_);
    }
    if (!layout_) {
        layout_ = sluice::flatten(*type_tree_);
        std::lock_guard const adding(cache().mutex);
        layout_ = cache().layouts.add(type_tree_, layout_);
    }
    type_tree_.reset();
    ready_.store(true, std::memory_order_release);
    return layout_;
}

bool Shape::is_costly() const noexcept {
    return !ready_.load(std::memory_order_acquire) && type_tree_bytes_ >= costly_bytes;
}

std::shared_ptr<Shape> shape_of(MPI_Datatype type, Representation representation) {
    std::lock_guard const lock(kept().mutex);
    auto& shape = known_of(type).shapes[static_cast<std::size_t>(representation)];
    if (shape) return shape;
    auto type_tree = capture(type, representation);
    if (type_tree && is_in_range(*type_tree))
        keep(shape, std::make_shared<Shape>(std::move(type_tree)));
    return shape;
}

std::shared_ptr<Layout const> flatten(MPI_Datatype type, Representation representation) {
    auto const shape = shape_of(type, representation);
    return shape ? shape->layout() : nullptr;
}

std::shared_ptr<External32 const> external32_of(MPI_Datatype type) {
    std::lock_guard const lock(kept().mutex);
    auto& external32 = known_of(type).external32;
    if (external32) return external32;
    auto type_tree = capture(type, Representation::native);
    if (!type_tree || !is_in_range(*type_tree)) return nullptr;
    auto made = std::make_shared<External32 const>(std::move(type_tree));
    if (made->is_known()) keep(external32, std::move(made));
    return external32;
}

std::int64_t kept_number(MPI_Datatype type, std::function<std::int64_t()> const& make) {
    std::lock_guard const lock(kept().mutex);
    auto& number = known_of(type).number;
    if (number < 0) number = make();
    return number;
}

std::optional<Bytes> file_bytes_of(MPI_Datatype type, Representation representation) {
    if (representation == Representation::native) return size_of(type);
    auto const external32 = external32_of(type);
    return external32 ? std::optional(external32->bytes()) : std::nullopt;
}

std::optional<Offset> file_extent_of(MPI_Datatype type, Representation representation) {
    auto const bytes = file_bytes_of(type, representation);
    auto const layout = bytes ? flatten(type, representation) : nullptr;
    if (!layout) return std::nullopt;
    return layout->is_contiguous() ? *bytes : layout->tile_extent();  // One layout for all bytes.
}

bool is_alike_in_mpi(MPI_Datatype type, Representation representation) {
    if (representation == Representation::native) return true;
    auto const external32 = external32_of(type);
    return external32 && external32->is_plain();
}

MPI_Datatype contiguous_bytes(Bytes bytes) {
    constexpr Bytes block = 1 << 30;
    int const whole = static_cast<int>(bytes / block), rest = static_cast<int>(bytes % block);
    MPI_Datatype made = MPI_DATATYPE_NULL;
    if (whole == 0) {
        PMPI_Type_contiguous(rest, MPI_BYTE, &made);
    } else {
        MPI_Datatype blocks = MPI_DATATYPE_NULL;
        PMPI_Type_contiguous(static_cast<int>(block), MPI_BYTE, &blocks);
        int const counts[] = {whole, rest};
        MPI_Aint const displacements[] = {0, bytes - rest};
        MPI_Datatype const types[] = {blocks, MPI_BYTE};
        PMPI_Type_create_struct(2, counts, displacements, types, &made);
        PMPI_Type_free(&blocks);
    }
    PMPI_Type_commit(&made);
    return made;
}

Status check_type(MPI_Datatype type, MPI_Comm own) {
    if (type == MPI_DATATYPE_NULL) return Status::type;
    if (type == MPI_BYTE || type == MPI_CHAR || type == MPI_INT || type == MPI_DOUBLE ||
        type == MPI_FLOAT) {
        return Status::ok;
    }
    // No call asks whether a type is committed, but a send to nobody refuses others, and reads no
    // memory. (MPICH does not look at the type when the count is zero.)
    char nothing = 0;
    int const code = PMPI_Send(&nothing, 1, type, MPI_PROC_NULL, 0, own);
    return code == MPI_SUCCESS ? Status::ok : Status::type;
}

void forget_types() {
    {
        std::lock_guard const lock(kept().mutex);
        kept().named.clear();
        if (kept().keyval != MPI_KEYVAL_INVALID) PMPI_Type_free_keyval(&kept().keyval);
    }
    {
        // Datatypes that the program did not free keep theirs, but nothing in them.
        std::lock_guard const lock(type_attributes().mutex);
        for (TypeAttribute* const attribute : type_attributes().all) attribute->known = {};
    }
    std::lock_guard const lock(cache().mutex);
    cache().layouts.clear();
}

}  // namespace sluice
