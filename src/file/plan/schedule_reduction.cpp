// A reduction goes over the board of each node, and between nodes along a tree of leaders. See
// schedule_reduction.hpp.
#include "file/plan/schedule_reduction.hpp"

namespace sluice {
namespace {

/// The ops of one rank in a reduction, each of which waits for the one before it.
class ReductionBuilder {
public:
    ReductionBuilder(Topology const& topology, Rank self, Channel channel, std::int64_t operation)
        : topology_(topology),
          self_(self),
          node_(topology.node_of(self)),
          channel_(channel),
          operation_(operation) {}

    Schedule build() {
        add(Op::copy(Memory::record, Memory::board));
        add(Op::notify(counter(CounterKind::arrived), 1));
        bool const alone = topology_.node_count() == 1;
        if (alone || self_ == topology_.leader(node_)) {
            add(Op::await(counter(CounterKind::arrived), topology_.local_count(node_)));
            add(Op::merge(Memory::board, Memory::record));
            if (!alone) go_between_nodes();
        } else {
            add(Op::await(counter(CounterKind::announced), 1));
            add(Op::copy(Memory::announcement, Memory::record));
        }
        return std::move(schedule_);
    }

private:
    void add(Op op) {
        op.channel = channel_, op.operation = operation_;
        last_ = schedule_.ops.empty() ? schedule_.add(op, {}) : schedule_.add(op, {last_});
    }
    CounterRef counter(CounterKind kind) const {
        return {.kind = kind, .channel = channel_, .operation = operation_};
    }
    void send(Node to) { add(Op::send(Memory::record, topology_.leader(to), channel_)); }
    void recv(Node from, Memory into) { add(Op::recv(into, topology_.leader(from), channel_)); }

    void go_between_nodes() {
        pass_tree();
        add(Op::copy(Memory::record, Memory::announcement));
        add(Op::notify(counter(CounterKind::announced), 1));
    }
    /// The way up and down a binomial tree of node leaders.
    void pass_tree() {
        std::vector<Node> children;
        for (Node step = 1; step < topology_.node_count(); step *= 2) {
            if (node_ & step) {
                send(node_ - step);
                recv(node_ - step, Memory::record);
                break;
            }
            if (node_ + step >= topology_.node_count()) continue;
            children.push_back(node_ + step);
            recv(children.back(), Memory::message);
            add(Op::merge(Memory::message, Memory::record));
        }
        for (auto child = children.rbegin(); child != children.rend(); ++child) send(*child);
    }

    Topology const& topology_;
    Rank self_;
    Node node_;
    Channel channel_;
    std::int64_t operation_;
    std::uint32_t last_ = 0;
    Schedule schedule_;
};

}  // namespace

Schedule make_reduction(Topology const& topology, Rank self, Channel channel,
                        std::int64_t operation) {
    return ReductionBuilder(topology, self, channel, operation).build();
}

}  // namespace sluice
