// How arguments become streams of blocks. See collective_arguments.hpp.
#include "mpi/collective/collective_arguments.hpp"

#include "mpi/collective/own_reduction.hpp"
#include "mpi/collective/staged_stream.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/named_types.hpp"

#include <numeric>
#include <optional>

namespace sluice {
namespace {

/// One datatype as memory.
struct TypeItems {
    Bytes size = 0;
    Offset extent = 0;
    Offset origin = 0;                     ///< Of a dense one: where its first byte lies.
    std::shared_ptr<Layout const> layout;  ///< Null: dense.
};

Bytes sum(std::vector<Bytes> const& all) noexcept {
    return std::accumulate(all.begin(), all.end(), Bytes{0});
}

bool has_root(CollectiveKind kind) noexcept {
    switch (kind) {
    case CollectiveKind::bcast:
    case CollectiveKind::gather:
    case CollectiveKind::gatherv:
    case CollectiveKind::scatter:
    case CollectiveKind::scatterv:
    case CollectiveKind::reduce:
        return true;
    default:
        return false;
    }
}

class BlockCapture {
public:
    BlockCapture(CollectiveArguments const& arguments, Communicator const& communicator,
                 MPI_Comm own, Rank self, Rank ranks, CollectiveCall& call,
                 CollectiveBuffers& buffers)
        : a_(arguments),
          communicator_(communicator),
          own_(own),
          self_(self),
          ranks_(ranks),
          call_(call),
          input_(buffers.input),
          output_(buffers.output),
          buffers_(buffers) {}

    Captured run() {
        call_.kind = a_.kind;
        if (has_root(a_.kind)) call_.root = a_.root;
        if (call_.root < 0 || call_.root >= ranks_) {
            fail(MPI_ERR_ROOT);
        } else {
            blocks();
            result_.is_aliased = ok() && input_.shares_memory_with(output_);
        }
        return result_;
    }

private:
    [[nodiscard]] bool ok() const noexcept { return result_.error == MPI_SUCCESS; }
    void fail(int error) {
        if (ok()) result_.error = error;
    }
    [[nodiscard]] bool is_root() const noexcept { return self_ == call_.root; }
    [[nodiscard]] bool sent_in_place() {
        call_.in_place = a_.send.memory == MPI_IN_PLACE;
        return call_.in_place;
    }

    void blocks() {
        switch (a_.kind) {
        case CollectiveKind::barrier:
            break;
        case CollectiveKind::bcast:
            call_.block = take(a_.receive, 1, output_);
            break;
        case CollectiveKind::gather:
        case CollectiveKind::gatherv:
            gather();
            break;
        case CollectiveKind::scatter:
        case CollectiveKind::scatterv:
            scatter();
            break;
        case CollectiveKind::allgather:
        case CollectiveKind::allgatherv:
            take_all(a_.receive, output_, call_.outputs);
            if (!sent_in_place())
                own_block(a_.send, input_, call_.outputs);
            else if (!call_.outputs.empty())
                call_.block = call_.outputs[at(self_)];
            break;
        case CollectiveKind::alltoall:
        case CollectiveKind::alltoallv:
            all_to_all();
            break;
        case CollectiveKind::neighbor_allgather:
        case CollectiveKind::neighbor_allgatherv:
        case CollectiveKind::neighbor_alltoall:
        case CollectiveKind::neighbor_alltoallv:
            neighbours();
            break;
        default:
            reduction();
        }
    }

    void gather() {
        if (!is_root()) {
            call_.block = take(a_.send, 1, input_);
            return;
        }
        take_all(a_.receive, output_, call_.outputs);
        if (!sent_in_place())
            own_block(a_.send, input_, call_.outputs);
        else if (!call_.outputs.empty())
            call_.block = call_.outputs[at(self_)];
    }

    void scatter() {
        if (!is_root()) {
            call_.block = take(a_.receive, 1, output_);
            return;
        }
        take_all(a_.send, input_, call_.inputs);
        call_.in_place = a_.receive.memory == MPI_IN_PLACE;
        if (!call_.in_place)
            own_block(a_.receive, output_, call_.inputs);
        else if (!call_.inputs.empty())
            call_.block = call_.inputs[at(self_)];
    }

    void all_to_all() {
        take_all(a_.receive, output_, call_.outputs);
        if (sent_in_place()) return;
        Bytes const received = call_.block;
        take_all(a_.send, input_, call_.inputs);
        if (call_.block != received) fail(MPI_ERR_TRUNCATE);
        if (!call_.inputs.empty() && call_.inputs[at(self_)] != call_.outputs[at(self_)]) {
            fail(MPI_ERR_TRUNCATE);
        }
    }

    void reduction() {
        TypeItems const items = items_of(a_.send.type);
        if (!ok() || !combine()) return;
        call_.element = std::max<Bytes>(items.size, 1);
        bool const in_place = (a_.kind != CollectiveKind::reduce || is_root()) && sent_in_place();
        Bytes const all = reduced_bytes(items);
        bool const gets_part = a_.kind == CollectiveKind::reduce_scatter ||
                               a_.kind == CollectiveKind::reduce_scatter_block;
        Bytes part = all;
        if (a_.kind == CollectiveKind::reduce_scatter && ok()) part = call_.outputs[at(self_)];
        if (a_.kind == CollectiveKind::reduce_scatter_block) part = all / ranks_;
        if (a_.kind != CollectiveKind::reduce_scatter) call_.block = gets_part ? part : all;
        if (!in_place) add(input_, a_.send.memory, 0, all, items);
        if (a_.kind == CollectiveKind::reduce && !is_root()) return;
        // The first rank gets nothing of an exscan, so its buffer may be any.
        if (a_.kind == CollectiveKind::exscan && self_ == 0 && !a_.receive.memory) unused_ = true;
        add(output_, a_.receive.memory, 0, in_place ? all : part, items);
    }

    /// Of the send buffer; for parts of several sizes it notes them.
    Bytes reduced_bytes(TypeItems const& items) {
        if (a_.kind == CollectiveKind::reduce_scatter) {
            if (!a_.receive.counts.given()) fail(MPI_ERR_ARG);
            for (Rank rank = 0; ok() && rank < ranks_; ++rank) {
                call_.outputs.push_back(counted(a_.receive.counts[at(rank)]) * items.size);
            }
            return sum(call_.outputs);
        }
        bool const blocks = a_.kind == CollectiveKind::reduce_scatter_block;
        return counted(a_.send.count) * items.size * (blocks ? ranks_ : 1);
    }

    /// Who combines elements; false where nobody here can.
    bool combine() {
        MPI_Datatype const type = a_.send.type;
        if (a_.op == MPI_OP_NULL) return fail(MPI_ERR_OP), false;
        auto const op = predefined(a_.op);
        NamedType const* const named = named_type(type);
        if (op && named && named->combines) {
            bool const bits = *op == ReductionOp::bit_and || *op == ReductionOp::bit_or ||
                              *op == ReductionOp::bit_xor;
            if (bits || !named->bits_only)
                buffers_.reduction = native_reduction(*op, named->element);
            if (buffers_.reduction) return true;
        }
        if (op) {  // The MPI serves it, or tells the program what is wrong, on all ranks alike.
            result_.is_left_to_mpi = true;
            return false;
        }
        int commutes = 0;
        PMPI_Op_commutative(a_.op, &commutes);
        call_.commutative = commutes != 0;
        buffers_.own = make_reduction(a_.op, type);
        buffers_.reduction = buffers_.own.get();
        return true;
    }

    void neighbours() {
        Neighbours const* const all = communicator_.neighbours();
        if (!all) return fail(MPI_ERR_TOPOLOGY);
        if (a_.send.memory == MPI_IN_PLACE || a_.receive.memory == MPI_IN_PLACE) {
            return fail(MPI_ERR_BUFFER);
        }
        bool const gathers = a_.kind == CollectiveKind::neighbor_allgather ||
                             a_.kind == CollectiveKind::neighbor_allgatherv;
        bool const regular = a_.kind == CollectiveKind::neighbor_allgather ||
                             a_.kind == CollectiveKind::neighbor_alltoall;
        std::vector<Bytes> sizes;
        for (auto const& [rank, place] : all->sources) {
            call_.sources.push_back(rank);
            call_.outputs.push_back(take_block(a_.receive, at(place), output_));
        }
        for (auto const& [rank, place] : all->destinations) {
            call_.destinations.push_back(rank);
            if (!gathers) call_.inputs.push_back(take_block(a_.send, at(place), input_));
        }
        if (gathers) call_.block = take(a_.send, 1, input_);
        if (!regular) return;
        // Of all blocks, in and out, alike on all ranks; where there are none nobody looks.
        if (!call_.outputs.empty()) sizes.push_back(call_.outputs.front());
        if (!call_.inputs.empty()) sizes.push_back(call_.inputs.front());
        if (gathers) sizes.push_back(call_.block);
        for (Bytes const size : sizes) {
            if (size != sizes.front()) fail(MPI_ERR_TRUNCATE);
        }
        if (!sizes.empty()) call_.block = sizes.front();
        call_.inputs.clear();
        call_.outputs.clear();
    }

    /// A block for each rank; of irregular kinds `sizes`, of others `block` is set.
    void take_all(BufferArguments const& buffer, Blocks& into, std::vector<Bytes>& sizes) {
        if (!buffer.counts.given()) {
            call_.block = take(buffer, ranks_, into);
            return;
        }
        sizes.reserve(at(ranks_));
        for (Rank rank = 0; rank < ranks_; ++rank) {
            sizes.push_back(take_block(buffer, at(rank), into));
        }
    }

    /// The own block, which another buffer has room for, or brings.
    void own_block(BufferArguments const& buffer, Blocks& into, std::vector<Bytes> const& sizes) {
        Bytes const expected = sizes.empty() ? call_.block : sizes[at(self_)];
        call_.block = take(buffer, 1, into);
        if (call_.block != expected) fail(MPI_ERR_TRUNCATE);
    }

    /// Blocks of one size, one behind the other. Returns the size of one.
    Bytes take(BufferArguments const& buffer, std::int64_t blocks, Blocks& into) {
        TypeItems const items = items_of(buffer.type);
        Bytes const bytes = counted(buffer.count) * items.size;
        add(into, buffer.memory, 0, bytes * blocks, items);
        return bytes;
    }

    /// The block at a place of the buffer. Returns its size.
    Bytes take_block(BufferArguments const& buffer, std::size_t place, Blocks& into) {
        MPI_Datatype const type = buffer.types ? buffer.types[place] : buffer.type;
        if (type != last_type_ || !last_) {
            last_ = items_of(type);
            last_type_ = type;
        }
        bool const listed = buffer.counts.given();
        std::int64_t const count = counted(listed ? buffer.counts[place] : buffer.count);
        Offset const shift = listed ? buffer.places[place] : count * static_cast<Offset>(place);
        add(into, buffer.memory, buffer.types ? shift : shift * last_->extent, count * last_->size,
            *last_);
        return count * last_->size;
    }

    std::int64_t counted(std::int64_t count) {
        if (count < 0) fail(MPI_ERR_COUNT);
        return std::max<std::int64_t>(count, 0);
    }

    void add(Blocks& into, void* memory, Offset shift, Bytes bytes, TypeItems const& items) {
        if (!ok() || bytes == 0) return;
        if (memory == MPI_IN_PLACE) return fail(MPI_ERR_BUFFER);
        // MPI_BOTTOM may be null as well: with addresses in the datatype.
        if (!memory && !items.layout && items.origin == 0 && shift == 0 && !unused_) {
            return fail(MPI_ERR_BUFFER);
        }
        // NOLINTNEXTLINE(clang-analyzer-core.NullPointerArithm): offsets from null are addresses.
        auto* const base = static_cast<std::byte*>(memory == MPI_BOTTOM ? nullptr : memory) + shift;
        into.add(base + items.origin, bytes, items.layout);
    }

    TypeItems items_of(MPI_Datatype type) {
        if (type == MPI_DATATYPE_NULL) return fail(MPI_ERR_TYPE), TypeItems{};
        NamedType const* const named = named_type(type);
        if (named && named->size == named->extent) return {named->size, named->extent, 0, nullptr};
        bool const usable = named || check_type(type, own_) == Status::ok;
        auto layout = usable ? flatten(type) : nullptr;
        if (!layout) return fail(MPI_ERR_TYPE), TypeItems{};
        MPI_Aint lower = 0, extent = 0;
        PMPI_Type_get_extent(type, &lower, &extent);
        // All layouts without gaps may be one, which knows nothing of items.
        if (layout->is_contiguous()) return {extent, extent, layout->offset_at(0), nullptr};
        TypeItems items{layout->tile_bytes(), extent, 0, nullptr};
        items.layout = std::move(layout);
        return items;
    }

    static std::size_t at(std::int64_t i) noexcept { return static_cast<std::size_t>(i); }

    CollectiveArguments const& a_;
    Communicator const& communicator_;
    MPI_Comm own_;
    Rank const self_, ranks_;
    CollectiveCall& call_;
    Blocks &input_, &output_;
    CollectiveBuffers& buffers_;
    Captured result_;
    bool unused_ = false;  ///< The receive buffer.
    MPI_Datatype last_type_ = MPI_DATATYPE_NULL;
    std::optional<TypeItems> last_;
};

}  // namespace

Captured capture(CollectiveArguments const& arguments, Communicator const& communicator,
                 MPI_Comm own, Rank self, Rank ranks, CollectiveCall& call,
                 CollectiveBuffers& buffers) {
    Captured captured =
        BlockCapture(arguments, communicator, own, self, ranks, call, buffers).run();
    // The first rank gets nothing of an exscan, so its buffer may be any.
    bool const gets_nothing = call.kind == CollectiveKind::exscan && self == 0 && !call.in_place;
    captured.input_on_device = may_lie_on_device(arguments.send.memory, buffers.input);
    captured.output_on_device =
        !gets_nothing && may_lie_on_device(arguments.receive.memory, buffers.output);
    return captured;
}

}  // namespace sluice
