// Reductions among partners at distance 1, 2, 4 ... of all elements, or of half of them in each
// step. From small distances to large ones, what a rank has combined is always of ranks that follow
// each other, so the order of ranks can be kept.
#include "collective/combiner.hpp"

namespace sluice {
namespace {

bool is_scattered(CollectiveKind kind) noexcept {
    return kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::reduce_scatter_block;
}

/// A step of halving: of what counted before, one part is kept and the other one is the partner's.
struct Half {
    Taken taken;
    Stretch kept, given;
};

class Halving {
public:
    Halving(Combiner& combiner, Actors actors)
        : combiner_(combiner),
          actors_(actors),
          self_(combiner.part().self),
          actor_(actors.actor_for(self_)) {}

    void allreduce();
    void reduce();
    void reduce_scatter();

private:
    [[nodiscard]] bool is_paired() const noexcept { return actors_.is_paired(self_); }
    [[nodiscard]] bool acts() const noexcept { return actors_.acts(self_); }
    [[nodiscard]] Rank buddy() const noexcept { return self_ ^ 1; }

    /// `order`: the distances. `blocks`: one for each actor.
    void plan(std::vector<Rank> const& order, BlockMap const& blocks);
    [[nodiscard]] std::vector<Rank> distances() const;
    [[nodiscard]] std::vector<Taken> steps() const;
    [[nodiscard]] Stretch kept() const noexcept {
        return halves_.empty() ? combiner_.all() : halves_.back().kept;
    }
    void take_buddy(Accumulator& sum);
    [[nodiscard]] bool gathers(Rank distance) const noexcept;
    [[nodiscard]] Place home_of_gather();
    void gather(Accumulator& sum);

    Combiner& combiner_;
    Actors actors_;
    Rank self_, actor_;
    std::vector<Half> halves_;
};

std::vector<Rank> Halving::distances() const {
    std::vector<Rank> all;
    for (Rank distance = 1; distance < actors_.count(); distance *= 2) all.push_back(distance);
    return all;
}

void Halving::plan(std::vector<Rank> const& order, BlockMap const& blocks) {
    Rank begin = 0, end = actors_.count();
    auto const stretch = [&](Rank from, Rank to) {
        return Stretch{blocks.at(from), blocks.at(to)};
    };
    for (Rank const distance : order) {
        bool const is_upper = (actor_ & distance) != 0;
        Rank const middle = begin + (end - begin) / 2;
        Stretch const lower_half = stretch(begin, middle), upper_half = stretch(middle, end);
        halves_.push_back({{actors_.rank_of(actor_ ^ distance), is_upper},
                           is_upper ? upper_half : lower_half,
                           is_upper ? lower_half : upper_half});
        (is_upper ? begin : end) = middle;
    }
}

std::vector<Taken> Halving::steps() const {
    std::vector<Taken> all;
    if (is_paired()) all.push_back({buddy(), buddy() < self_});
    for (Half const& half : halves_) all.push_back(half.taken);
    return all;
}

void Halving::take_buddy(Accumulator& sum) {
    if (is_paired()) sum.take({buddy(), buddy() < self_}, combiner_.all());
}

void Halving::allreduce() {
    if (!acts()) {
        combiner_.send(buddy(), combiner_.own().base, combiner_.all());
        combiner_.recv(buddy(), in_output, combiner_.all());
        return;
    }
    plan(distances(), combiner_.divided(actors_.count()));
    Accumulator sum(combiner_, steps(), in_output, combiner_.order());
    take_buddy(sum);
    for (Half const& half : halves_) {
        sum.send(half.taken.from, half.given);
        sum.take(half.taken, half.kept);
    }
    sum.settle(kept());
    for (auto half = halves_.rbegin(); half != halves_.rend(); ++half) {
        combiner_.send(half->taken.from, in_output, half->kept);
        combiner_.recv(half->taken.from, in_output, half->given);
    }
    if (is_paired()) combiner_.send(buddy(), in_output, combiner_.all());
}

void Halving::reduce() {
    if (!acts()) {
        combiner_.send(buddy(), combiner_.own().base, combiner_.all());
        return;
    }
    plan(distances(), combiner_.divided(actors_.count()));
    Accumulator sum(combiner_, steps(), home_of_gather(), combiner_.order());
    take_buddy(sum);
    for (Half const& half : halves_) {
        sum.send(half.taken.from, half.given);
        sum.take(half.taken, half.kept);
    }
    gather(sum);
}

/// Whether, of partners at this distance, this one gets the other's part on the way back.
bool Halving::gathers(Rank distance) const noexcept {
    Rank const goal = actors_.actor_for(combiner_.part().call.root);
    return (actor_ & distance) == (goal & distance);
}

/// Only who gathers needs room for more than it keeps.
Place Halving::home_of_gather() {
    if (combiner_.part().is_root()) return in_output;
    return gathers(actors_.count() / 2) ? combiner_.scratch(combiner_.all()) : Place{};
}

void Halving::gather(Accumulator& sum) {
    Rank distance = actors_.count();
    for (auto half = halves_.rbegin(); half != halves_.rend(); ++half) {
        distance /= 2;
        if (!gathers(distance)) return sum.send(half->taken.from, half->kept);
        sum.settle(half->kept);
        combiner_.recv(half->taken.from, sum.base(), half->given);
    }
}

/// From large distances to small ones: so an actor keeps the blocks of those for whom it acts.
void Halving::reduce_scatter() {
    Stretch const own = combiner_.block(self_);
    Place const result = in_output + -own.begin;
    if (!acts()) {
        combiner_.send(buddy(), combiner_.own().base, combiner_.all());
        return combiner_.recv(buddy(), result, own);
    }
    std::vector<Bytes> sizes;
    for (Rank actor = 0; actor < actors_.count(); ++actor) {
        sizes.push_back(combiner_.block(actors_.begin(actor), actors_.begin(actor + 1)).bytes());
    }
    auto order = distances();
    std::reverse(order.begin(), order.end());
    plan(order, BlockMap(sizes));
    Accumulator sum(combiner_, steps(), {}, combiner_.order());
    take_buddy(sum);
    bool const into_output = !is_paired() && !combiner_.part().in_place();
    for (Half const& half : halves_) {
        sum.send(half.taken.from, half.given);
        if (into_output && &half == &halves_.back()) {
            return sum.take_to(result, half.taken, half.kept);
        }
        sum.take(half.taken, half.kept);
    }
    if (is_paired()) sum.send(buddy(), combiner_.block(buddy()));
    combiner_.copy(sum.base(), result, own);
}

}  // namespace

void add_halving(Combiner& combiner) {
    Part const& part = combiner.part();
    if (is_scattered(part.call.kind)) {
        return Halving(combiner, Actors(part.ranks)).reduce_scatter();
    }
    if (part.call.kind == CollectiveKind::allreduce) {
        return Halving(combiner, Actors(part.ranks)).allreduce();
    }
    Halving(combiner, Actors(part.ranks, part.call.root)).reduce();
}

/// All elements in each step. All ranks combine them in the order of ranks, also where any order is
/// allowed: then all have the same bits, whatever the operation does to the last of them.
void add_doubling(Combiner& combiner) {
    Part const& part = combiner.part();
    Actors const actors(part.ranks);
    Rank const self = part.self, buddy = self ^ 1, actor = actors.actor_for(self);
    bool const scattered = is_scattered(part.call.kind);
    Stretch const all = combiner.all(), own = scattered ? combiner.block(self) : all;
    Place const result = in_output + -own.begin;
    if (!actors.acts(self)) {
        combiner.send(buddy, combiner.own().base, all);
        return combiner.recv(buddy, result, own);
    }
    std::vector<Taken> steps;
    bool const paired = actors.is_paired(self);
    if (paired) steps.push_back({buddy, buddy < self});
    for (Rank distance = 1; distance < actors.count(); distance *= 2) {
        steps.push_back({actors.rank_of(actor ^ distance), (actor & distance) != 0});
    }
    Accumulator sum(combiner, steps, scattered ? Place{} : in_output, Order::of_ranks);
    for (Taken const& step : steps) {
        if (step.from != buddy || !paired) sum.send(step.from, all);
        sum.take(step, all);
    }
    combiner.copy(sum.base(), result, own);
    if (paired) combiner.send(buddy, sum.base(), scattered ? combiner.block(buddy) : all);
}

}  // namespace sluice
