// Sections of the explanation, each from the numbers of the subject. See text.hpp.
#include "tools/explain/text.hpp"

#include "file/plan/delivery.hpp"
#include "file/plan/round_input.hpp"
#include "file/plan/schedule_claims.hpp"
#include "file/plan/schedule_reduction.hpp"
#include "file/plan/staging.hpp"
#include "tools/explain/prices.hpp"
#include "tools/explain/steps.hpp"
#include "tools/simulate/report.hpp"

#include <algorithm>
#include <cstdio>

namespace sluice::tools {
namespace {

std::string line(char const* text) { return std::string(text) + "\n"; }

template <class... Values> std::string line(char const* format, Values... values) {
    char text[1024];
    std::snprintf(text, sizeof text, format, values...);
    return std::string(text) + "\n";
}

/// A sentence or more: broken at words, further lines as deep as the first.
template <class... Values> std::string say(char const* format, Values... values) {
    constexpr std::size_t columns = 96;
    std::string rest = line(format, values...), text;
    std::string const indent(rest.find_first_not_of(' '), ' ');
    while (rest.size() > columns + 1) {
        auto const blank = rest.rfind(' ', columns);
        if (blank == std::string::npos || blank < indent.size()) break;
        text += rest.substr(0, blank) + "\n";
        rest = indent + rest.substr(blank + 1);
    }
    return text + rest;
}

std::string size(Bytes bytes) { return bytes_text(static_cast<double>(bytes)); }
std::string number(std::int64_t value) { return std::to_string(value); }
std::string counted(std::int64_t count, std::string const& what) {
    return number(count) + " " + what + (count == 1 ? "" : "s");
}
std::string sizes(Between all) {
    return all.least == all.most ? size(all.least) : size(all.least) + " to " + size(all.most);
}
std::string pieces_text(Between all) {
    if (all.least == all.most) return counted(all.most, "piece");
    return number(all.least) + " to " + counted(all.most, "piece");
}

std::string holes_text(Subject const& subject) {
    Summary const& all = subject.summary_exchange();
    Bytes const span = all.span.bytes();
    if (all.bytes > span) return "Some bytes are wanted more than once.";
    if (is_covered(all, subject.limits().key.get()))
        return "There are no holes: each byte is wanted exactly once.";
    auto const share = 100.0 * static_cast<double>(span - all.bytes) / static_cast<double>(span);
    char text[100];
    std::snprintf(text, sizeof text, "At least %.3g %% of this are holes.", share);
    return text;
}

/// Where no hint says how many aggregators a node has, the cores of a rank do: for a job they have
/// to be those that it had.
std::string cores_text(Subject const& subject) {
    std::int32_t const told = subject.question().cores;
    if (told > 0)
        return say("  Each rank has %s: without a hint a node has at most %s.",
                   counted(told, "core").c_str(),
                   counted(std::min(told, aggregators_a_node), "aggregator").c_str());
    if (!subject.question().scenario.recorded) return {};
    return say("  The log does not say how many cores a rank had. The number of aggregators is "
               "that of %s a rank; --cores says another.",
               counted(subject.limits().cores_a_node, "core").c_str());
}

std::string pattern_text(Subject const& subject) {
    auto const& scenario = subject.question().scenario;
    auto const& machine = scenario.machine;
    std::string text = "Pattern\n";
    text += say("  %s, a %s by %s on %s, %d on each.", scenario.pattern.name.c_str(),
                describe(scenario.direction), counted(machine.ranks(), "rank").c_str(),
                counted(machine.nodes, "node").c_str(), machine.ranks_per_node);
    text += cores_text(subject);
    Bytes const average = subject.all_pieces() > 0 ? subject.all_bytes() / subject.all_pieces() : 0;
    text += say("  Each rank has %s, %s in all, in %s of %s on average.",
                sizes(subject.bytes()).c_str(), size(subject.all_bytes()).c_str(),
                pieces_text(subject.pieces()).c_str(), size(average).c_str());
    if (subject.empty_ranks() > 0)
        text += say("  %s nothing.", (counted(subject.empty_ranks(), "rank") +
                                      (subject.empty_ranks() == 1 ? " has" : " have"))
                                         .c_str());
    if (subject.independent_ranks() > 0)
        text += say("  %s to transfer its part without an exchange: it is one piece of the file, "
                    "its pieces are long, or a hint asks for it.",
                    (subject.independent_ranks() == machine.ranks()
                         ? std::string("Every rank is")
                         : counted(subject.independent_ranks(), "rank") +
                               (subject.independent_ranks() == 1 ? " is" : " are"))
                        .c_str());
    Summary const& all = subject.summary_exchange();
    if (all.bytes == 0) return text;
    text += say("  Their span, from the first byte to the last, is offsets %lld to %lld: %s. %s",
                static_cast<long long>(all.span.begin), static_cast<long long>(all.span.end),
                size(all.span.bytes()).c_str(), holes_text(subject).c_str());
    text += all.interleaved != 0
                ? "  The ranks' parts interleave: some rank begins before a lower one ends.\n"
                : "  The ranks' parts follow each other in the file.\n";
    return text;
}

/// What the kernels balanced and even go along.
std::string list_text(Delivery delivery, bool nodes) {
    if (delivery.stride > 0)
        return "along the " + std::string(nodes ? "nodes" : "ranks") + " in steps of " +
               number(delivery.stride);
    return nodes ? "along the nodes" : "along a list that takes one rank of each node in turn";
}

/// With two layers the orders are those of nodes.
std::string order_text(Delivery delivery) {
    bool const nodes = delivery.layers == Layers::two;
    std::string const one = nodes ? "node" : "rank", all = one + "s";
    switch (delivery.kernel) {
    case Kernel::pairwise:
        return "first from the " + one +
               " with the same number, then from those whose number "
               "differs in more and more bits";
    case Kernel::spread_out:
        return "first from the " + one + " of the aggregator, then from the " + all +
               " behind it, one after the other";
    case Kernel::balanced:
    case Kernel::even:
        return list_text(delivery, nodes) + "; the aggregators begin at evenly spaced places of it";
    case Kernel::automatic:
    case Kernel::ascending:
        break;
    }
    return "by " + one + ": all aggregators begin with the same one";
}

std::string throttle_text(Throttle throttle) {
    if (throttle.messages <= 0) return "    No throttle: an aggregator asks for all at once.\n";
    return say("    Throttle: an aggregator asks for %s at once%s.",
               counted(throttle.messages, "message").c_str(),
               throttle.batches != 0 ? "; a batch ends before the next begins"
                                     : "; when one has come, for the next");
}

std::string delivery_text(char const* what, Delivery delivery) {
    std::string text =
        say("  %s: %s. Taken %s.", what, describe(delivery).c_str(), order_text(delivery).c_str());
    text += throttle_text(delivery.throttle);
    if (delivery.synchronous != 0)
        text += "    Synchronous: a send ends only after its receive began.\n";
    return text;
}

std::string layers_text(Plan const& plan) {
    auto const any = [&](Layers layers) {
        return plan.metadata.layers == layers || plan.data.layers == layers;
    };
    std::string text;
    if (any(Layers::one))
        text += "    With one layer each rank of another node sends for itself.\n";
    if (any(Layers::two))
        text += say("    With two layers the ranks of a node put their bytes together in its "
                    "memory, and one of them, the local aggregator, sends them in one message: "
                    "all ranks of the node in turn, from one aggregator to the next.");
    return text;
}

/// Of a file that is made: its stripes decide how many servers write at once.
std::string servers_text(Subject const& subject) {
    std::int32_t const known = subject.question().scenario.hints.stripe_count;
    if (known > 0)
        return say("  The stripes of the file are taken to lie on %s.",
                   counted(known, "server").c_str());
    if (subject.plan().direction == Direction::read) return {};
    Topology const& topology = subject.topology();
    return say(
        "  On Lustre the hint striping_factor=auto would spread a new file over %s.",
        counted(servers_usual(topology.rank_count(), topology.node_count()), "server").c_str());
}

std::string division_text(Plan const& plan) {
    switch (plan.division) {
    case Domains::cyclic:
        return "the stripes of " + size(plan.stripe_bytes) + " in turn";
    case Domains::balanced:
        return "one stretch of the file each, with about equal bytes wanted in it";
    case Domains::groups:
        return "equal shares of what a group of ranks of their node wants";
    case Domains::automatic:
    case Domains::even:
        break;
    }
    return "one stretch of the file each, of equal length";
}

std::string groups_text(Subject const& subject) {
    Plan const& plan = subject.plan();
    Summary const& all = subject.summary_exchange();
    std::string text;
    if (all.stretches > 0)
        text += say("  The ranks of a node together want stretches of about %s.",
                    size(all.bytes / all.stretches).c_str());
    return text + say("  By groups: node %d, which is told of here, has %s, with %s each. Nothing "
                      "goes from node to node but the outcome.",
                      plan.groups.node, counted(plan.groups.count(), "group").c_str(),
                      counted(plan.groups.aggregators_each, "aggregator").c_str());
}

std::string aggregators_text(Subject const& subject) {
    Plan const& plan = subject.plan();
    std::int32_t const count = plan.aggregator_count();
    std::string const way = plan.direction == Direction::write ? "write" : "read";
    if (count == subject.topology().rank_count())
        return "each rank " + way + "s a part of the file as an aggregator, and the ranks " +
               "exchange bytes";
    return "only " + counted(count, "aggregator") + " " + way + (count == 1 ? "s" : "") +
           " the file; the other ranks exchange bytes with " + (count == 1 ? "it" : "them");
}

std::string decision_text(Subject const& subject) {
    Plan const& plan = subject.plan();
    char const* const way = plan.direction == Direction::write ? "write" : "read";
    std::string text = "\nDecision\n";
    if (plan.strategy != Strategy::two_phase)
        return text + say("  Independent, because %s: each rank %ss its own bytes, and the ranks "
                          "only agree on the outcome.",
                          plan.reason, way);
    text += say("  Two-phase, because %s: %s.", plan.reason, aggregators_text(subject).c_str());
    text += say("  Their domains are %s. A domain is gone through window by window, each at most "
                "%s: a round. %d rounds of an aggregator may be under way at once.",
                division_text(plan).c_str(), size(plan.window_bytes).c_str(), plan.cb_buffer_count);
    if (plan.window_bytes < subject.wanted_window_bytes())
        text += say("  The window would be %s, but for the staging memory of %s a node.",
                    size(subject.wanted_window_bytes()).c_str(),
                    size(subject.question().memory_bytes).c_str());
    text += plan.covered ? "  All bytes are wanted once, so nothing is marked or asked for.\n"
                         : say("  One bit marks %s as wanted.", size(plan.granule_bytes).c_str());
    if (plan.is_grouped()) return text + groups_text(subject);
    if (subject.topology().node_count() == 1)
        return text + "  With one node there are no messages: ranks meet in shared memory.\n";
    if (plan.metadata == plan.data) {
        text += delivery_text("Claims (who has bytes in which rounds) and data", plan.data);
    } else {
        text += delivery_text("Claims (who has bytes in which rounds)", plan.metadata);
        text += delivery_text("Data", plan.data);
    }
    text += layers_text(plan);
    if (*plan.delivery_reason) text += say("  Why: %s.", plan.delivery_reason);
    return text;
}

std::string domains_text(Subject const& subject) {
    Plan const& plan = subject.plan();
    Topology const& topology = subject.topology();
    std::string text =
        "\nAggregators, and what they exchange with other nodes\n"
        "    no.    rank  node           from             to  rounds  senders  messages      bytes"
        "  a message, at most\n";
    for (std::int32_t a = 0; a < plan.aggregator_count(); ++a) {
        if (a == subject.question().lines) {
            text += line("    ...  %d more", plan.aggregator_count() - a);
            break;
        }
        Span const domain = plan.domains[static_cast<std::size_t>(a)];
        Traffic const traffic = subject.traffic(a);
        Rank const rank = subject.aggregator(a);
        text += line("  %5d %7d %5d %14lld %14lld %7lld %8d %9lld %10s  %s", a, rank,
                     topology.node_of(rank), static_cast<long long>(domain.begin),
                     static_cast<long long>(domain.end),
                     static_cast<long long>(plan.round_count(a)), traffic.senders,
                     static_cast<long long>(traffic.messages), size(traffic.bytes).c_str(),
                     traffic.senders > 0 ? size(traffic.most_each).c_str() : "-");
    }
    return text;
}

std::string order_of_messages(Subject const& subject) {
    Topology const& topology = subject.topology();
    std::string text;
    for (std::int32_t a = 0; a < std::min(2, subject.plan().aggregator_count()); ++a) {
        auto const sources = subject.sources(a);
        std::size_t const shown = std::min<std::size_t>(sources.size(), 8);
        std::string list;
        for (std::size_t i = 0; i < shown; ++i)
            list += (i > 0 ? ", rank " : "rank ") + number(sources[i].rank) + " (node " +
                    number(topology.node_of(sources[i].rank)) + ")";
        if (sources.size() > shown) list += " and " + number(std::ssize(sources) - 8) + " more";
        if (shown > 0) text += say("  Aggregator %d takes them from %s.", a, list.c_str());
    }
    return text.empty() ? text : "\nOrder of the messages in a round\n" + text;
}

/// A round of an aggregator in which the rank has something to do.
bool concerns(RoundInput const& input, bool owns) {
    return input.contributes || input.node_claims || (owns && !input.sources.empty());
}

/// `only`: the aggregator whose rounds are told; -1: all.
std::string steps_of(Subject const& subject, Rank rank, std::int32_t only) {
    Plan const& plan = subject.plan();
    Topology const& topology = subject.topology();
    auto const claims = subject.claims_of(rank);
    std::string text;
    std::int64_t told = 0;
    for (std::int64_t c = 0, last = 1; c < last && told < subject.question().rounds; ++c) {
        auto const order = send_order(plan.data, topology, rank, plan.aggregator_count());
        for (std::int32_t const a : order) {
            last = std::max(last, plan.round_count(a));
            bool const wanted = only < 0 || a == only;
            if (c >= plan.round_count(a) || told == subject.question().rounds || !wanted) continue;
            auto const input = round_input(topology, rank, plan, claims, a, c);
            bool const owns = subject.aggregator(a) == rank;
            if (!concerns(input, owns)) continue;
            bool const carries =
                !owns && local_aggregator(topology, plan, topology.node_of(rank), a) == rank &&
                !(plan.one_layer() &&
                  topology.node_of(subject.aggregator(a)) != topology.node_of(rank));
            ++told;
            text += line("\nRank %d (node %d) in round %lld of aggregator %d%s", rank,
                         topology.node_of(rank), static_cast<long long>(c), a,
                         owns      ? ", which it is itself"
                         : carries ? ", whose local aggregator it is on its node"
                                   : "");
            text += steps_text(make_round(topology, rank, plan, input), topology, plan);
        }
    }
    return text.empty() ? line("\nRank %d has nothing to do in the exchange.", rank) : text;
}

/// The first rank that sends to aggregator 0, if any; else a neighbour on its node.
Rank other_rank(Subject const& subject) {
    auto const sources = subject.sources(0);
    if (!sources.empty()) return sources.front().rank;
    return std::min<Rank>(subject.aggregator(0) + 1, subject.topology().rank_count() - 1);
}

std::string all_steps(Subject const& subject) {
    Rank const asked = subject.question().rank;
    if (asked >= 0) return steps_of(subject, asked, -1);
    Rank const aggregator = subject.aggregator(0), other = other_rank(subject);
    std::string const text = steps_of(subject, aggregator, 0);
    return other == aggregator ? text : steps_of(subject, other, 0) + text;
}

std::string totals_text(Subject const& subject) {
    Plan const& plan = subject.plan();
    std::int64_t messages = 0, most = 0, rounds = 0;
    Bytes bytes = 0;
    for (std::int32_t a = 0; a < plan.aggregator_count(); ++a) {
        Traffic const traffic = subject.traffic(a);
        messages += traffic.messages;
        most = std::max(most, traffic.most_in_a_round);
        bytes += traffic.bytes;
        rounds += plan.round_count(a);
    }
    std::string text = "\nIn all\n";
    bool const writes = plan.direction == Direction::write;
    text += say("  %s, each with at most %s of the file.", counted(rounds, "round").c_str(),
                size(plan.window_bytes).c_str());
    if (subject.topology().node_count() > 1 && !plan.is_grouped()) {
        text +=
            say("  Between nodes: %s with claims, once; %s with data%s, %s in all, %s on "
                "average. An aggregator takes up to %lld in one round.",
                counted(subject.claim_messages(), "message").c_str(), number(messages).c_str(),
                writes ? "" : " and as many that ask for it", size(bytes).c_str(),
                size(messages > 0 ? bytes / messages : 0).c_str(), static_cast<long long>(most));
    }
    auto const cb_buffers = cb_buffers_within(subject.question().memory_bytes,
                                              plan.aggregator_count(), plan.window_bytes);
    text += say("  Staging memory of each node: at most %s, in %s.",
                size(staging_bytes(cb_buffers, plan.window_bytes)).c_str(),
                counted(cb_buffers, "collective buffer").c_str());
    return text + servers_text(subject);
}

}  // namespace

std::string explain(Question const& question) {
    Subject const subject(question);
    std::string text = pattern_text(subject) + decision_text(subject) + prices_text(subject);
    if (subject.plan().strategy != Strategy::two_phase) return text;
    return text + domains_text(subject) + order_of_messages(subject) + all_steps(subject) +
           totals_text(subject);
}

}  // namespace sluice::tools
