// The steps of each rank. See romio.hpp.
#include "study/romio/romio.hpp"

#include "simulate/index.hpp"

#include <algorithm>
#include <bit>

namespace sluice::simulated {
namespace {

constexpr Bytes count_bytes = 4, offset_bytes = 8;

/// What a rank has in one stripe.
struct Share {  // Small: 16,384 ranks have 236 million of them in 225 rounds of 64 aggregators.
    std::int32_t stripe, bytes, pieces;
};

/// The parts of a request by stripe, ascending: views are.
std::vector<Share> shares_of(Request const& request, Bytes stripe_bytes) {
    std::vector<Share> shares;
    Cursor cursor(*request.view.filetype, request.position);
    for (Bytes left = request.bytes; left > 0;) {
        Offset const offset = request.view.displacement + cursor.offset();
        std::int64_t const stripe = offset / stripe_bytes;
        Bytes const length =
            std::min({left, cursor.piece_left(), (stripe + 1) * stripe_bytes - offset});
        if (shares.empty() || shares.back().stripe != stripe)
            shares.push_back({static_cast<std::int32_t>(stripe), 0, 0});
        shares.back().bytes += static_cast<std::int32_t>(length);
        ++shares.back().pieces;
        cursor.advance_in_piece(length);
        left -= length;
    }
    return shares;
}

/// Steps of Bruck's algorithm, by which MPICH exchanges items as short as these.
std::int32_t bruck_steps(Rank ranks) noexcept {
    return static_cast<std::int32_t>(std::bit_width(static_cast<std::uint32_t>(ranks - 1)));
}

class Romio final : public WaitallProgram {
public:
    explicit Romio(RomioCall const& call)
        : call_(call),
          ranks_(call.machine.ranks()),
          aggregators_(std::min(call.aggregators, ranks_)),
          states_(index(ranks_)) {
        for (Rank r = 0; r < ranks_; ++r) {
            states_[index(r)].shares = shares_of(call.request(r), call.stripe_bytes);
            for (Share const& share : states_[index(r)].shares)
                stripes_ = std::max(stripes_, std::int64_t{share.stripe} + 1);
        }
        senders_.resize(index(stripes_));
        for (Rank r = 0; r < ranks_; ++r)
            for (Share const& share : states_[index(r)].shares)
                senders_[index(share.stripe)].push_back({r, share.bytes, share.pieces});
        rounds_ = (stripes_ + aggregators_ - 1) / aggregators_;
    }

    bool next(Rank rank, WaitallStep& step) override {
        State& state = states_[index(rank)];
        std::int32_t const in_exchange = bruck_steps(ranks_);
        // A stage: the steps of an exchange of counts, and what follows it.
        std::int64_t const stage = state.steps / (in_exchange + 1);
        auto const at = static_cast<std::int32_t>(state.steps % (in_exchange + 1));
        if (stage > rounds_) return false;
        ++state.steps;
        if (at < in_exchange)
            exchange_counts(rank, at, stage == 0, step);
        else if (stage == 0)
            send_requests(rank, step);
        else
            send_data(rank, stage - 1, step);
        return true;
    }

    [[nodiscard]] Bytes longest_message() const override {
        Bytes longest = std::max(call_.stripe_bytes, count_bytes * ranks_);
        for (State const& state : states_) {
            std::int64_t pieces = 0;
            for (Share const& share : state.shares) pieces += share.pieces;
            longest = std::max(longest, pieces * offset_bytes);
        }
        return longest;
    }

    [[nodiscard]] std::int64_t rounds() const noexcept { return rounds_; }
    [[nodiscard]] std::int64_t requests() const noexcept {
        std::int64_t all = 0;
        for (auto const& senders : senders_)
            for (Sender const& sender : senders) all += sender.pieces;
        return all;
    }
    [[nodiscard]] double senders() const noexcept {
        double all = 0;
        for (auto const& senders : senders_) all += static_cast<double>(senders.size());
        return stripes_ == 0 ? 0 : all / static_cast<double>(stripes_);
    }

private:
    struct Sender {
        Rank rank;
        std::int32_t bytes, pieces;
    };
    struct State {
        std::vector<Share> shares;
        std::int64_t steps = 0;  ///< Begun.
        std::size_t sent = 0;    ///< Shares before it belong to earlier rounds.
    };

    [[nodiscard]] Rank rank_of(std::int64_t aggregator) const noexcept {
        return static_cast<Rank>(aggregator * ranks_ / aggregators_);
    }
    /// The aggregator that a rank is, or -1.
    [[nodiscard]] std::int64_t aggregator_of(Rank rank) const noexcept {
        std::int64_t const a = (std::int64_t{rank} * aggregators_ + ranks_ - 1) / ranks_;
        return a < aggregators_ && rank_of(a) == rank ? a : -1;
    }

    /// Rank r sends to r + 2^k all items whose number has the bit k.
    void exchange_counts(Rank rank, std::int32_t k, bool of_requests, WaitallStep& step) const {
        Rank const distance = Rank{1} << k;
        std::int64_t const period = std::int64_t{2} << k, rest = ranks_ % period;
        std::int64_t const items =
            ranks_ / period * distance + std::max<std::int64_t>(0, rest - distance);
        Bytes const bytes = items * count_bytes;
        step.part = static_cast<std::size_t>(of_requests ? RomioPart::metadata : RomioPart::counts);
        step.copied = 2 * bytes;
        step.receives.push_back({(rank - distance + ranks_) % ranks_, bytes});
        step.sends.push_back({(rank + distance) % ranks_, bytes});
    }

    /// Offsets and lengths, a message of each, to every aggregator that the rank has requests for.
    void send_requests(Rank rank, WaitallStep& step) {
        step.part = static_cast<std::size_t>(RomioPart::metadata);
        std::vector<std::int64_t> pieces(index(aggregators_));
        for (Share const& share : states_[index(rank)].shares) {
            pieces[index(share.stripe % aggregators_)] += share.pieces;
            step.pieces += share.pieces;
        }
        for (std::int64_t a = 0; a < aggregators_; ++a) {
            Rank const to = rank_of(a);
            if (pieces[index(a)] == 0 || to == rank) continue;
            step.sends.insert(step.sends.end(), 2, {to, pieces[index(a)] * offset_bytes});
        }
        std::int64_t const own = aggregator_of(rank);
        if (own < 0) return;
        std::vector<std::int64_t> asked(index(ranks_));
        for (std::int64_t stripe = own; stripe < stripes_; stripe += aggregators_)
            for (Sender const& sender : senders_[index(stripe)])
                asked[index(sender.rank)] += sender.pieces;
        for (Rank r = 0; r < ranks_; ++r)
            if (r != rank && asked[index(r)] > 0)
                step.receives.insert(step.receives.end(), 2, {r, asked[index(r)] * offset_bytes});
    }

    void send_data(Rank rank, std::int64_t round, WaitallStep& step) {
        step.synchronous = call_.synchronous;
        step.part = static_cast<std::size_t>(RomioPart::data);
        State& state = states_[index(rank)];
        std::int64_t const end = (round + 1) * aggregators_;
        for (; state.sent < state.shares.size() && state.shares[state.sent].stripe < end;
             ++state.sent) {
            Share const& share = state.shares[state.sent];
            Rank const to = rank_of(share.stripe % aggregators_);
            step.copied += share.bytes, step.pieces += share.pieces;
            if (to != rank) step.sends.push_back({to, share.bytes});
        }
        std::int64_t const own = aggregator_of(rank), stripe = round * aggregators_ + own;
        if (own < 0 || stripe >= stripes_) return;
        step.part = static_cast<std::size_t>(RomioPart::storage);
        step.offset = stripe * call_.stripe_bytes;
        for (Sender const& sender : senders_[index(stripe)]) {
            step.pieces += sender.pieces, step.written += sender.bytes;
            if (sender.rank != rank) step.receives.push_back({sender.rank, sender.bytes});
        }
    }

    RomioCall const& call_;
    Rank ranks_;
    std::int32_t aggregators_;
    std::vector<State> states_;
    std::vector<std::vector<Sender>> senders_;  ///< By stripe, in the order of ranks.
    std::int64_t stripes_ = 0, rounds_ = 0;
};

}  // namespace

RomioOutcome run_romio(RomioCall const& call) {
    Romio romio(call);
    RomioOutcome outcome;
    static_cast<WaitallOutcome&>(outcome) = run_waitall(call.machine, romio, call.seed);
    outcome.rounds = romio.rounds();
    outcome.requests = romio.requests();
    outcome.senders = romio.senders();
    return outcome;
}

}  // namespace sluice::simulated
