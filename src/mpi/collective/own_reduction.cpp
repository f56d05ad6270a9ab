// How the MPI is made to reduce, and which handles are held for it. See own_reduction.hpp.
#include "mpi/collective/own_reduction.hpp"

#include "collective/blocks.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/named_types.hpp"
#include "mpi/pmpi.hpp"

#include <algorithm>
#include <climits>
#include <unordered_map>
#include <utility>

namespace sluice {
namespace {

/// Handles that reductions hold. A user's function must see the program's datatype itself, and
/// operations cannot be duplicated; so what the program frees meanwhile is freed afterwards, by the
/// next call that may: the last one to let go may be the helper.
template <class Handle> class Needed {
public:
    void hold(Handle handle) {
        std::lock_guard const lock(mutex_);
        ++all_[handle].users;
        ++count_;
    }
    void let_go(Handle handle) {
        std::lock_guard const lock(mutex_);
        auto const found = all_.find(handle);
        --count_;
        if (--found->second.users > 0) return;
        if (found->second.freed) left_.push_back(handle);
        all_.erase(found);
    }
    /// True when it is needed; then it is freed later.
    bool free_later(Handle handle) {
        if (count_.load(std::memory_order_relaxed) == 0) return false;
        std::lock_guard const lock(mutex_);
        auto const found = all_.find(handle);
        if (found == all_.end()) return false;
        found->second.freed = true;
        return true;
    }
    std::vector<Handle> take_left() {
        std::lock_guard const lock(mutex_);
        return std::exchange(left_, {});
    }

private:
    struct Use {
        int users = 0;
        bool freed = false;  ///< By the program.
    };
    std::mutex mutex_;
    std::unordered_map<Handle, Use> all_;
    std::vector<Handle> left_;
    std::atomic<int> count_{0};
};

Needed<MPI_Op>& needed_ops() {
    static auto* const only = new Needed<MPI_Op>;
    return *only;
}
Needed<MPI_Datatype>& needed_types() {
    static auto* const only = new Needed<MPI_Datatype>;
    return *only;
}

/// How the elements of a datatype lie in memory.
struct Elements {
    explicit Elements(MPI_Datatype type) : layout(flatten(type)) {
        MPI_Count lower = 0, size_in_mpi = 0;
        MPI_Count true_extent = 0, first = 0;
        PMPI_Type_size_x(type, &size_in_mpi);
        PMPI_Type_get_extent_x(type, &lower, &extent);
        PMPI_Type_get_true_extent_x(type, &first, &true_extent);
        size = size_in_mpi;
        begin = first;
        end = first + true_extent;
        packed = size == extent && (!layout || layout->is_contiguous()) && begin == 0;
    }
    /// Bytes from the first to the last of so many elements, and where the first element is.
    [[nodiscard]] Bytes span(Bytes count) const noexcept {
        return end - begin + std::abs(extent) * (count - 1);
    }
    [[nodiscard]] Offset origin(Bytes count) const noexcept {
        return -begin + (extent < 0 ? -extent * (count - 1) : 0);
    }

    std::shared_ptr<Layout const> layout;
    Bytes size = 0;
    MPI_Count extent = 0;
    Offset begin = 0, end = 0;  ///< Of the bytes of one element.
    bool packed = false;        ///< Elements in memory are what the reduction works on.
};

class OwnReduction final : public Reduction {
public:
    OwnReduction(MPI_Op op, MPI_Datatype type)
        : op_(op),
          type_(type),
          holds_op_(!predefined(op)),
          holds_type_(!named_type(type)),
          elements_(type) {
        if (holds_op_) needed_ops().hold(op_);
        if (holds_type_) needed_types().hold(type_);
    }
    ~OwnReduction() override {
        if (holds_op_) needed_ops().let_go(op_);
        if (holds_type_) needed_types().let_go(type_);
    }
    OwnReduction(OwnReduction const&) = delete;
    OwnReduction& operator=(OwnReduction const&) = delete;

    [[nodiscard]] bool calls_mpi() const noexcept override { return true; }

    void apply(std::byte const* left, std::byte* right, Bytes bytes) const override {
        if (elements_.size == 0) return;
        Bytes const most = elements_.packed ? INT_MAX : std::max<Bytes>(1, chunk / elements_.size);
        for (Bytes at = 0, count = 0; at < bytes; at += count * elements_.size) {
            count = std::min(most, (bytes - at) / elements_.size);
            if (elements_.packed)
                combine(left + at, right + at, count);
            else
                combine_unpacked(left + at, right + at, count);
        }
    }

private:
    static constexpr Bytes chunk = 64 * 1024;

    void combine(std::byte const* left, std::byte* right, Bytes count) const {
        PMPI_Reduce_local(left, right, static_cast<int>(count), type_, op_);
    }

    void combine_unpacked(std::byte const* left, std::byte* right, Bytes count) const {
        auto const span = static_cast<std::size_t>(elements_.span(count));
        auto const bytes = static_cast<std::size_t>(count * elements_.size);
        std::vector<std::byte> first(span), second(span);
        Blocks const left_memory = blocks(first, count);
        Blocks const memory = blocks(second, count);
        left_memory.unpack(0, {left, bytes});
        memory.unpack(0, {right, bytes});
        Offset const origin = elements_.origin(count);
        combine(first.data() + origin, second.data() + origin, count);
        memory.pack(0, {right, bytes});
    }
    [[nodiscard]] Blocks blocks(std::vector<std::byte>& memory, Bytes count) const {
        Blocks all;
        all.add(memory.data() + elements_.origin(count), count * elements_.size, elements_.layout);
        return all;
    }

    MPI_Op op_;
    MPI_Datatype type_;
    bool holds_op_, holds_type_;
    Elements elements_;
};

}  // namespace

std::optional<ReductionOp> predefined(MPI_Op op) noexcept {
    static struct {
        MPI_Op op;
        ReductionOp what;
    } const table[] = {
        {MPI_SUM, ReductionOp::sum},          {MPI_MAX, ReductionOp::max},
        {MPI_MIN, ReductionOp::min},          {MPI_PROD, ReductionOp::prod},
        {MPI_LAND, ReductionOp::logical_and}, {MPI_BAND, ReductionOp::bit_and},
        {MPI_LOR, ReductionOp::logical_or},   {MPI_BOR, ReductionOp::bit_or},
        {MPI_LXOR, ReductionOp::logical_xor}, {MPI_BXOR, ReductionOp::bit_xor},
        {MPI_MINLOC, ReductionOp::min_place}, {MPI_MAXLOC, ReductionOp::max_place},
        {MPI_REPLACE, ReductionOp::replace},  {MPI_NO_OP, ReductionOp::no_op},
    };
    for (auto const& entry : table) {
        if (entry.op == op) return entry.what;
    }
    return std::nullopt;
}

std::shared_ptr<Reduction const> make_reduction(MPI_Op op, MPI_Datatype type) {
    free_what_was_needed();
    return std::make_shared<OwnReduction>(op, type);
}

int free_op(MPI_Op* op) {
    if (!needed_ops().free_later(*op)) return SLUICE_PMPI(MPI_Op_free)(op);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

int free_type(MPI_Datatype* type) {
    if (!needed_types().free_later(*type)) return SLUICE_PMPI(MPI_Type_free)(type);
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

void free_what_was_needed() {
    for (MPI_Op op : needed_ops().take_left()) SLUICE_PMPI(MPI_Op_free)(&op);
    for (MPI_Datatype type : needed_types().take_left()) SLUICE_PMPI(MPI_Type_free)(&type);
}

}  // namespace sluice
