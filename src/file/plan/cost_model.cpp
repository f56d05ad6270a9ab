// How one candidate is priced, independent or two-phase. docs/model.md says what each term means.
// See cost_model.hpp.
#include "file/plan/cost_model.hpp"

#include "base/page_cache.hpp"
#include "file/plan/decision.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

/// A request that begins as many times its own length behind the last one, or less, costs no seek:
/// devices have tracks and blocks, and systems read ahead.
constexpr double near_lengths = 8;
constexpr double weight_shares = Weights::share_count;
constexpr double empty_round = 1.0 / 3;  ///< Of a round's cost, where nobody wants anything.
constexpr double messages_at_once = 16;
constexpr double storage_threads = 2;  ///< They serve what nobody waits for.

/// The same, without what no workload can be.
Workload sound(Workload const& given) noexcept {
    Workload w = given;
    w.ranks = std::max(1.0, w.ranks);
    w.nodes = std::clamp(w.nodes, 1.0, w.ranks);
    w.bytes = std::max(0.0, w.bytes);
    w.pieces = std::max(1.0, w.pieces);
    w.bytes_most = std::clamp(w.bytes_most, w.bytes / w.ranks, w.bytes);
    w.pieces_most = std::clamp(w.pieces_most, std::max(1.0, w.pieces / w.ranks), w.pieces);
    w.span = std::max(1.0, w.span);
    w.cores_a_node = std::max(1.0, w.cores_a_node);
    return w;
}

/// A collective call until something is moved, and the agreement after it.
double call_seconds(Workload const& w, MachineProfile const& m) noexcept {
    return m.operation + (w.nodes > 1 ? m.operation_nodes * std::log2(w.nodes) : 0);
}

/// Ranks and what serves the storage were asleep, or did something else, when the call came.
double pause_seconds(Workload const& w, MachineProfile const& m) noexcept {
    return m.after_pause * std::max(1.0, std::ceil(w.ranks / w.nodes) / w.cores_a_node);
}

// ---- Independent ----------------------------------------------------------------------------

/// From the first to the last byte of the rank with the most.
double rank_span(Workload const& w) noexcept {
    double const own = w.interleaved ? w.span : w.span * w.bytes_most / w.bytes;
    return std::max(w.bytes_most, own);
}

double mean_gap(Workload const& w) noexcept {
    return (rank_span(w) - w.bytes_most) / std::max(1.0, w.pieces_most - 1);
}

/// Of requests with such a gap before them on average, the part that is far from the last one: as
/// many as where requests lie by chance. Those without a gap follow each other.
double far_part(double gap, double length) noexcept {
    return gap > 0 ? std::exp(-near_lengths * length / gap) : 0;
}

bool is_far(double distance, double length) noexcept { return distance > near_lengths * length; }

double seek_seconds(RequestCosts const& sequential, RequestCosts const& random, double length,
                    double clients) noexcept {
    return std::max(0.0, random.seconds(length, clients) - sequential.seconds(length, clients));
}

/// Until the first requests of clients have found their places in the span: the last request was
/// at the other end of it, and clients share it. That is known, not a matter of chance.
double finding_seconds(RequestCosts const& sequential, RequestCosts const& random, double length,
                       double clients, double span) noexcept {
    double const seeks =
        (is_far(span, length) ? 1 : 0) + (is_far(span / clients, length) ? clients - 1 : 0);
    return seek_seconds(sequential, random, length, 1) * seeks;
}

/// Pieces of ranks that interleave are asked for at about the same time, so that the gap before a
/// piece is that which nobody wants.
double gap_before_piece(Workload const& w) noexcept {
    double const unwanted = std::max(0.0, w.span - w.bytes) / w.pieces;
    return w.interleaved ? std::min(mean_gap(w), unwanted) : mean_gap(w);
}

Estimate independent(Candidate const& c, Workload const& w, MachineProfile const& m) noexcept {
    Estimate e;
    e.planning = call_seconds(w, m) + pause_seconds(w, m) + w.pieces_most * m.plan_piece;
    if (w.bytes > 0) {
        double const clients = w.bytes / w.bytes_most;
        auto const &sequential = m.sequential[index_of(w.direction)],
                   &random = m.random[index_of(w.direction)];
        if (w.pieces_most <= 1) {
            e.storage = sequential.seconds(w.bytes_most, clients) +
                        finding_seconds(sequential, random, w.bytes_most, clients, w.span);
        } else if (c.sieve_bytes > 0 && mean_gap(w) <= static_cast<double>(c.sieve_bytes)) {
            // A range of memory for each piece, and one for each gap.
            double const requests = std::ceil(2 * w.pieces_most / ranges_of_a_request);
            e.storage = requests * sequential.seconds(rank_span(w) / requests, clients);
            e.copies = w.bytes_most * m.copy_byte + w.pieces_most * m.copy_piece;
        } else {
            double const piece = w.bytes_most / w.pieces_most;
            double const far = far_part(gap_before_piece(w), piece);
            e.storage = w.pieces_most * ((1 - far) * sequential.seconds(piece, clients) +
                                         far * random.seconds(piece, clients)) +
                        (1 - far) * finding_seconds(sequential, random, piece, 1, w.span);
        }
    }
    e.total = e.planning + e.copies + e.storage;
    return e;
}

// ---- Two-phase ------------------------------------------------------------------------------

/// What the slowest aggregator has to do.
struct Share {
    double aggregators = 1;
    double on_node = 1;        ///< Aggregators of the node with the most.
    double windows = 1;        ///< With wanted bytes.
    double empty_windows = 0;  ///< Without.
    double bytes = 0;          ///< Wanted in one window; what two ranks want counts twice.
    double pieces = 0;         ///< Of all ranks, in one window.
    double requests = 1;       ///< To the storage for one window.
    double random = 0;         ///< Of these, far from the one before.
    double request_bytes = 0;
    bool grouped = false;
};

/// From the first to the last byte that aggregators share: of all, or of one node.
double shared_span(Workload const& w, bool grouped) noexcept {
    bool const apart = w.stretches > 0 && w.stretches < 1.5 * w.nodes;
    return grouped && apart ? std::min(w.span, w.bytes / w.nodes) : w.span;
}

/// Stretches of the file that aggregators ask the storage for: pieces of this density that lie
/// anywhere touch each other that often.
double merged_stretches(Workload const& w, bool grouped) noexcept {
    if (w.covered || w.bytes >= w.span) return grouped ? w.stretches : 0;
    double const merged = w.pieces * (1 - w.bytes / w.span);
    if (w.stretches <= 0) return merged;
    return grouped ? w.stretches : std::min(merged, w.stretches);
}

/// How much more than an equal share the slowest has.
double excess(Domains domains, double aggregators, Weights const* weights) noexcept {
    if (domains == Domains::balanced) return 1 + aggregators / weight_shares / 2;
    if (domains != Domains::even || weights == nullptr) return 1;
    return fullest_part(*weights, aggregators);
}

void set_requests(Share& s, Workload const& w, double stretches, double gap_bytes) noexcept {
    double const stored = s.bytes / std::max(1.0, w.bytes / w.span);
    s.request_bytes = stored;
    if (stretches <= 0) return;
    double const spans = s.grouped ? w.nodes * shared_span(w, true) : w.span;
    double const gap = std::max(0.0, spans - w.bytes) / stretches;
    double const here = stretches / w.pieces * s.pieces;
    if (w.direction == Direction::read && gap <= gap_bytes) {
        s.request_bytes = stored + here * gap;
        return;
    }
    s.requests = std::max(1.0, here);
    s.request_bytes = stored / s.requests;
    s.random = here * far_part(gap, s.request_bytes);
}

Share share_of(Candidate const& c, Workload const& w) noexcept {
    Share s;
    s.grouped = c.domains == Domains::groups;
    s.aggregators = std::clamp<double>(c.aggregators, s.grouped ? w.nodes : 1, w.ranks);
    s.on_node = std::ceil(s.aggregators / w.nodes);
    double const sharing = s.grouped ? s.on_node : s.aggregators;
    double const window = std::max(4096.0, static_cast<double>(c.window_bytes));
    double const rounds = std::ceil(shared_span(w, s.grouped) / sharing / window);
    double const slow = excess(c.domains, s.aggregators, w.weights);
    double const bytes = std::min(w.bytes, w.bytes / s.aggregators * slow);
    double const pieces = std::max(1.0, w.pieces * bytes / w.bytes);
    double const apart = w.stretches > 0 ? std::min(pieces, w.stretches) : pieces;
    s.windows = std::max(1.0, std::min(rounds, std::ceil(apart + bytes / window)));
    s.empty_windows = std::max(0.0, rounds - s.windows);
    s.bytes = bytes / s.windows;
    s.pieces = pieces / s.windows;
    set_requests(s, w, merged_stretches(w, s.grouped), static_cast<double>(c.sieve_bytes));
    return s;
}

/// Seconds of what happens for one window of each aggregator at the same time.
struct PerRound {
    double copies = 0;     ///< Of all ranks of a node, side by side on its cores.
    double own = 0;        ///< Of the aggregator's own rank.
    double packing = 0;    ///< At the sender of a message.
    double link = 0;       ///< Bytes on the network of the busiest node.
    double receiving = 0;  ///< By the aggregator.
};

void set_copies(PerRound& r, Share const& s, Workload const& w, MachineProfile const& m) noexcept {
    double const piece = m.copy_piece * (w.covered && w.nodes <= 1 ? 1 : 2);  // Marked, too.
    auto const seconds = [&](double bytes, double pieces) {
        return bytes * m.copy_byte + pieces * piece;
    };
    double const locals = std::ceil(w.ranks / w.nodes), each = s.aggregators / w.nodes;
    double const in_window = std::max(1.0, s.bytes / std::max(1.0, w.bytes_most));
    double const active =
        w.interleaved ? locals : std::min(locals, std::max(1.0, each) * in_window);
    double const side_by_side = std::min(active, w.cores_a_node);
    double const slowest = seconds(w.bytes_most, w.pieces_most) / s.windows;
    r.own = seconds(w.bytes, w.pieces) / w.ranks / s.windows;
    r.copies = std::max(slowest, seconds(each * s.bytes, each * (s.pieces + 1)) / side_by_side);
    // Readers wait for the bytes, and aggregators for those who want them; all for a core.
    double const waits = w.direction == Direction::read ? 2 : 1;
    r.copies += w.ranks > 1 ? waits * std::max(1.0, locals / w.cores_a_node) * m.wake : 0;
}

/// Ranks with bytes in one window, of all nodes.
double ranks_in_window(Share const& s, Workload const& w, Candidate const& c) noexcept {
    double const blocks = std::max(1.0, w.span / w.counted_bytes);
    double const counted = w.touched > 0 ? std::max(1.0, w.touched / blocks) : w.ranks;
    double const scaled = counted * static_cast<double>(c.window_bytes) / w.counted_bytes;
    double const few = std::min(counted, std::max(scaled, s.pieces));
    return std::clamp(scaled > counted ? scaled : few, 1.0, w.ranks);
}

void set_messages(PerRound& r, Share const& s, Candidate const& c, Workload const& w,
                  MachineProfile const& m) noexcept {
    if (w.nodes <= 1 || s.grouped) return;
    double const away = (w.nodes - 1) / w.nodes, bytes = s.bytes * away;
    double const ranks = ranks_in_window(s, w, c) * away;
    // Ranks that share a window are often neighbours, and so on one node, but not always.
    double const nodes =
        std::clamp(ranks / std::sqrt(w.ranks / w.nodes), std::min(1.0, ranks), w.nodes - 1);
    bool const gathered = c.layers != Layers::one;
    double const messages = gathered ? nodes : ranks;
    double const turns = w.direction == Direction::read ? 2 : 1;  // What is wanted, and it.
    double const queue = std::min(messages, messages_at_once) * m.queue;
    if (gathered) r.packing = bytes / std::max(1.0, nodes) * m.copy_byte + m.wake;
    r.link = bytes * s.on_node * m.between.byte;
    r.receiving = turns * messages * (m.between.start + queue) + bytes * m.copy_byte +
                  s.pieces * away * m.copy_piece;
}

double storage_seconds(Share const& s, Workload const& w, MachineProfile const& m,
                       double clients) noexcept {
    double const random = std::min(s.random, s.requests), sequential = s.requests - random;
    double seconds = 0;
    if (sequential > 0)
        seconds +=
            sequential * m.sequential[index_of(w.direction)].seconds(s.request_bytes, clients);
    if (random > 0)
        seconds += random * m.random[index_of(w.direction)].seconds(s.request_bytes, clients);
    return seconds;
}

/// Threads that serve an aggregator's windows in turn leave out the other's each time.
double turns_seconds(Candidate const& c, Share const& s, Workload const& w, MachineProfile const& m,
                     double threads) noexcept {
    if (threads <= 1 || !is_far(static_cast<double>(c.window_bytes), s.request_bytes)) return 0;
    return seek_seconds(m.sequential[index_of(w.direction)], m.random[index_of(w.direction)],
                        s.request_bytes, s.aggregators * threads);
}

double planning_seconds(Candidate const& c, Share const& s, Workload const& w,
                        MachineProfile const& m) noexcept {
    double seconds = call_seconds(w, m) + pause_seconds(w, m) + w.pieces_most * m.plan_piece +
                     s.empty_windows * m.round * empty_round;
    if (w.repeats) return seconds;
    seconds += m.exchange;
    if (w.nodes > 1 && !s.grouped) seconds += (w.nodes - 1) * m.between.start;
    if (c.domains == Domains::balanced) seconds += call_seconds(w, m);  // One more reduction.
    return seconds;
}

Estimate two_phase(Candidate const& c, Workload const& w, MachineProfile const& m) noexcept {
    Share const s = share_of(c, w);
    PerRound r;
    set_copies(r, s, w, m);
    set_messages(r, s, c, w, m);
    double const messages = r.packing + r.link + r.receiving;
    double const threads = w.blocking ? 1 : std::min(storage_threads, s.windows);
    double const near_part = 1 - std::min(1.0, s.random / s.requests);
    double const finding = near_part * finding_seconds(m.sequential[index_of(w.direction)],
                                                       m.random[index_of(w.direction)],
                                                       s.request_bytes, s.aggregators, w.span);
    double const first = storage_seconds(s, w, m, s.aggregators) + finding;
    double const full = (storage_seconds(s, w, m, s.aggregators * threads) +
                         near_part * turns_seconds(c, s, w, m, threads)) /
                        threads;
    double pace = std::max({r.copies + r.packing, r.link, r.own + r.receiving, full + m.round});
    double storage = full;
    if (w.blocking) {
        // A caller that waits serves the file itself, and does nothing else meanwhile; so not all
        // aggregators have a request under way at any time, and each of these is faster.
        double const between = m.round + r.own + r.link + r.receiving;
        double const clients = 1 + (s.aggregators - 1) * full / (full + between);
        double const eased = storage_seconds(s, w, m, clients);
        if (eased + between > full + m.round) storage = eased;  // Else the storage is the limit.
        pace = std::max(pace, eased + between);
    }
    Estimate e;
    e.planning = planning_seconds(c, s, w, m);
    e.messages = s.windows * messages;
    e.copies = s.windows * (r.copies + m.round);
    e.storage = first + (s.windows - 1) * storage;
    e.total = e.planning + r.copies + messages + m.round + first + (s.windows - 1) * pace;
    return e;
}

}  // namespace

Workload workload_of(Summary const& all, Topology const& topology, std::int32_t cores_a_node,
                     FingerprintKey const* key) noexcept {
    Workload w;
    w.direction = all.operation == 1 ? Direction::write : Direction::read;
    w.ranks = topology.rank_count();
    w.nodes = topology.node_count();
    w.bytes = static_cast<double>(all.bytes);
    w.pieces = static_cast<double>(all.pieces);
    w.bytes_most = static_cast<double>(all.bytes_most);
    w.pieces_most = static_cast<double>(all.pieces_most);
    w.span = static_cast<double>(all.span.bytes());
    w.touched = static_cast<double>(all.touched);
    w.counted_bytes = static_cast<double>(wished_window_bytes(all.hints, {}));
    w.stretches = all.unsketched == 0 ? static_cast<double>(all.stretches) : 0;
    w.covered = w.nodes <= 1 && is_covered(all, key);
    w.interleaved = all.interleaved != 0;
    w.cores_a_node = cores_a_node;
    w.blocking = all.waiting != 0;
    w.repeats = all.plan_lookup.is_one();
    return w;
}

Estimate price(Candidate const& candidate, Workload const& work,
               MachineProfile const& machine) noexcept {
    Workload const w = sound(work);
    bool const exchanges = candidate.strategy == Strategy::two_phase && w.bytes > 0;
    return exchanges ? two_phase(candidate, w, machine) : independent(candidate, w, machine);
}

}  // namespace sluice
