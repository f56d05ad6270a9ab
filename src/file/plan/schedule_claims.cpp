// Claims go over the board of a node, and between nodes by messages. See schedule_claims.hpp.
#include "file/plan/schedule_claims.hpp"

#include "file/plan/gate.hpp"

#include <utility>

namespace sluice {
namespace {

/// The ops of one rank in an exchange of claims share these.
class ClaimsBuilder {
public:
    ClaimsBuilder(Topology const& topology, Rank self, Plan const& plan, std::int64_t operation)
        : topology_(topology),
          self_(self),
          node_(topology.node_of(self)),
          plan_(plan),
          base_{.source = Memory::claims,
                .target = Memory::claims,
                .channel = Channel::claims,
                .round = operation} {}

    Schedule build() {
        Op op = base_;
        op.kind = OpKind::copy, op.source = Memory::user;
        posted_ = schedule_.add(op, {});
        op = base_;
        op.kind = OpKind::notify, op.counter = CounterKind::claimed, op.value = 1;
        posted_ = schedule_.add(op, {posted_});
        for (std::int32_t const a :
             send_order(plan_.metadata, topology_, self_, plan_.aggregator_count())) {
            Rank const aggregator = sluice::aggregator(topology_, plan_, a);
            bool const carries = local_aggregator(topology_, plan_, node_, a) == self_;
            if (carries) await_locals();
            if (aggregator == self_) {
                collect(a);
            } else if (topology_.node_of(aggregator) != node_ && (one_layer() || carries)) {
                send(a, aggregator);
            }
        }
        return std::move(schedule_);
    }

private:
    bool one_layer() const noexcept { return plan_.metadata.layers == Layers::one; }

    void await_locals() {
        if (std::exchange(awaited_, true)) return;
        Op op = base_;
        op.kind = OpKind::await, op.counter = CounterKind::claimed;
        op.value = topology_.local_count(node_);
        locals_ = schedule_.add(op, {posted_});
    }
    void send(std::int32_t a, Rank aggregator) {
        Op op = base_;
        op.aggregator = a, op.peer = aggregator;
        op.kind = OpKind::copy, op.target = Memory::message;
        auto const packed = one_layer() ? schedule_.add(op, {}) : schedule_.add(op, {locals_});
        op.kind = OpKind::send, op.source = Memory::message, op.target = Memory::none;
        op.synchronous = plan_.metadata.synchronous;
        schedule_.add(op, {packed});
    }
    void collect(std::int32_t a) {
        Op op = base_;
        op.aggregator = a;
        Gate collected(schedule_, plan_.throttle, CounterKind::collected, op);
        std::int64_t n = 0;
        for (Rank const sender : senders(a)) {
            op.kind = OpKind::recv, op.source = Memory::none, op.target = Memory::message;
            op.peer = sender;
            op.value = claims_in_a_message(sender) * std::int64_t{encoded_claim_bytes_max};
            auto const came = schedule_.add(op, collected.pass(n++, {}));
            op.kind = OpKind::copy, op.source = Memory::message, op.target = Memory::claims;
            op.value = 0;
            collected.count(schedule_.add(op, {came}));
        }
    }
    std::int64_t claims_in_a_message(Rank sender) const {
        if (one_layer() || !plan_.one_layer()) return 1;
        return topology_.local_count(topology_.node_of(sender));
    }
    std::vector<Rank> senders(std::int32_t a) const {
        std::vector<Rank> all;
        for (Node node = 0; node < topology_.node_count(); ++node) {
            if (node == node_ || plan_.is_grouped()) continue;
            if (!one_layer()) all.push_back(local_aggregator(topology_, plan_, node, a));
            for (Rank l = 0; one_layer() && l < topology_.local_count(node); ++l) {
                all.push_back(topology_.rank_at(node, l));
            }
        }
        sort_by_delivery(all, plan_.metadata, topology_, a, plan_.aggregator_count());
        return all;
    }

    Topology const& topology_;
    Rank self_;
    Node node_;
    Plan const& plan_;
    Op base_;
    std::uint32_t posted_ = 0;
    bool awaited_ = false;
    std::uint32_t locals_ = 0;  ///< All claims of the node are on the board.
    Schedule schedule_;
};

}  // namespace

Schedule make_claims_exchange(Topology const& topology, Rank self, Plan const& plan,
                              std::int64_t operation) {
    return ClaimsBuilder(topology, self, plan, operation).build();
}

}  // namespace sluice
