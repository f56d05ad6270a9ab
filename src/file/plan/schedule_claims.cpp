// Claims go over the board of a node, and between nodes by messages. See schedule_claims.hpp.
#include "file/plan/schedule_claims.hpp"

#include "file/plan/gate.hpp"

#include <optional>
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
          claimed_{
              .kind = CounterKind::claimed, .channel = Channel::claims, .operation = operation} {}

    Schedule build() {
        posted_ = add(Op::copy(Memory::user, Memory::claims), 0, {});
        posted_ = add(Op::notify(claimed_, 1), 0, {posted_});
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

    /// All ops here are of the exchange of claims, those of messages of one aggregator `a`.
    std::uint32_t add(Op op, std::int32_t a, std::vector<std::uint32_t> const& after) {
        op.channel = Channel::claims, op.aggregator = a, op.operation = claimed_.operation;
        return schedule_.add(op, after);
    }
    void await_locals() {
        if (std::exchange(awaited_, true)) return;
        locals_ = add(Op::await(claimed_, topology_.local_count(node_)), 0, {posted_});
    }
    void send(std::int32_t a, Rank aggregator) {
        std::vector<std::uint32_t> after;
        if (!one_layer()) after.push_back(locals_);
        auto const packed = add(Op::copy(Memory::claims, Memory::message, aggregator), a, after);
        bool const synchronous = plan_.metadata.synchronous;
        std::vector<std::uint32_t> ready{packed};
        if (sent_ && plan_.metadata.kernel == Kernel::pairwise) ready.push_back(*sent_);
        sent_ = add(Op::send(Memory::message, aggregator, Channel::claims, synchronous), a, ready);
    }
    void collect(std::int32_t a) {
        CounterRef counter = claimed_;
        counter.kind = CounterKind::collected, counter.aggregator = a;
        Gate collected(schedule_, plan_.metadata.throttle, counter);
        std::int64_t n = 0;
        for (Rank const sender : senders(a)) {
            Bytes const bytes = claims_in_a_message(sender) * Bytes{encoded_claim_bytes_max};
            auto const came = add(Op::recv(Memory::message, sender, Channel::claims, bytes), a,
                                  collected.pass(n++, {}));
            collected.count(add(Op::copy(Memory::message, Memory::claims, sender), a, {came}));
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
    CounterRef claimed_;  ///< Ranks of the node whose claims are on the board.
    std::uint32_t posted_ = 0;
    bool awaited_ = false;
    std::optional<std::uint32_t> sent_;  ///< The last message.
    std::uint32_t locals_ = 0;           ///< All claims of the node are on the board.
    Schedule schedule_;
};

}  // namespace

Schedule make_claims_exchange(Topology const& topology, Rank self, Plan const& plan,
                              std::int64_t operation) {
    return ClaimsBuilder(topology, self, plan, operation).build();
}

}  // namespace sluice
