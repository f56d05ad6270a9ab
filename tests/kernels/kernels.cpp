// One kernel of the pure parts at a time, for tests/kernels/run.py: `kernels <kernel> [repeats]`
// prepares, runs the kernel (the function `measured`, which the runner tells callgrind to count)
// and prints what it worked on. Without arguments it lists the kernels.
#include "file/plan/schedule_round.hpp"
#include "file/run/movement.hpp"
#include "patterns.hpp"

#include <chrono>
#include <cstdio>
#include <functional>
#include <map>

namespace sluice::kernels {
namespace {

#ifdef __clang__
#define SLUICE_COMPILER __VERSION__
#else
#define SLUICE_COMPILER "GCC " __VERSION__
#endif

constexpr Bytes window_bytes = window_bytes_default;
constexpr Bytes granule_bytes = 8;

/// What a kernel worked on, each time.
struct Work {
    std::int64_t pieces = 0;
    Bytes bytes = 0;
    Bytes memory_bytes = 0;  ///< Of what it made.
};

/// A collective buffer of its own, and user memory for all patterns.
struct Stage {
    std::vector<std::byte> data = std::vector<std::byte>(window_bytes, std::byte{1});
    std::vector<std::uint64_t> words =
        std::vector<std::uint64_t>(Coverage::words_for(window_bytes, granule_bytes));
    std::vector<std::byte> user = std::vector<std::byte>(2 * request_bytes, std::byte{2});
    std::atomic<std::int64_t> limit{endless};
    CbBuffer cb_buffer{data.data(), Coverage(words, granule_bytes, window_bytes), &limit};
};

Stage& stage() {
    static Stage all;
    return all;
}

template <class Visit> void for_each_window(Request const& r, Visit visit) {
    Span const span = span_of(r);
    for (Offset at = span.begin; at < span.end; at += window_bytes) {
        visit(Span{at, std::min(span.end, at + window_bytes)});
    }
}

using Kernel = std::function<Work()>;

Work work_of(Request const& r) { return {piece_count(r), r.bytes, 0}; }

Kernel moving(std::string const& pattern, std::string const& way) {
    Request const r = request_of(pattern);
    return [r, way] {
        for_each_window(r, [&](Span window) {
            bool const places = way == "place";
            UserCopies copies(stage().user.data(), places ? Direction::write : Direction::read);
            if (places) place(r, copies, window, stage().cb_buffer, false);
            if (way == "take") take(r, copies, window, stage().cb_buffer);
            if (way == "mark") mark(r, window, stage().cb_buffer.coverage);
        });
        return work_of(r);
    };
}

/// From the pieces of a datatype to a layout.
Kernel building(std::string const& pattern) {
    Pattern const pieces = pattern == "irregular"  ? irregular()
                           : pattern == "elements" ? elements()
                                                   : cells();
    return [pieces] {
        auto const layout = layout_of(pieces);
        return Work{layout->piece_count(0, layout->tile_bytes()), layout->tile_bytes(),
                    layout->memory_bytes()};
    };
}

/// Two searches a window, as for each copy.
Kernel searching(std::string const& pattern) {
    Request const r = request_of(pattern);
    return [r] {
        Work work;
        for_each_window(r, [&](Span window) {
            work.bytes += positions_in(r, window).bytes();
            work.pieces += 2;
        });
        return work;
    };
}

/// All stretches of a coverage, then clearing; `pattern` full: one stretch.
Kernel sweeping(std::string const& pattern) {
    Request r = request_of(pattern);
    if (pattern == "full") r.bytes = window_bytes;
    return [r] {
        Coverage coverage = stage().cb_buffer.coverage;
        mark(r, Span{0, window_bytes}, coverage);
        Work work;
        for (auto s = coverage.next(0); s; s = coverage.next(s->end)) {
            work.pieces += 1;
            work.bytes += s->bytes();
        }
        coverage.clear();
        return work;
    };
}

/// Exchange of summaries to schedules: plan, claims and all rounds of one rank of 64 on four nodes.
Kernel planning() {
    Request const r = request_of("irregular");
    return [r, key = FingerprintKey::of_seed(1)] {
        constexpr Rank rank_count = 64, per_node = 16, self = 1;
        std::vector<std::int32_t> names;
        for (Rank rank = 0; rank < rank_count; ++rank) names.push_back(rank / per_node);
        Topology const topology(names);
        Summary all = summarise(r, {0, key.get()});
        all.hints.write = Strategy::two_phase;
        all.operation = 1;
        all.cb_buffer_bytes = window_bytes;
        Plan const plan = make_plan(all, topology, {4});
        auto const claims = make_claims(r, plan, 0);
        Work work;
        for (std::int32_t a = 0; a < plan.aggregator_count(); ++a) {
            for (std::int64_t c = 0; c < plan.round_count(a); ++c, ++work.pieces) {
                RoundInput input;
                input.aggregator = a;
                input.round = input.queue_round = c;
                input.contributes = claims[static_cast<std::size_t>(a)].contains(c);
                work.bytes += static_cast<Bytes>(
                    make_round(topology, self, plan, input).ops.size() * sizeof(Op));
            }
        }
        return work;
    };
}

std::map<std::string, std::function<Kernel()>> all_kernels() {
    std::map<std::string, std::function<Kernel()>> all;
    for (std::string const pattern : {"strided64", "irregular", "elements", "cells", "block"}) {
        for (std::string const way : {"place", "take", "mark"}) {
            all[way + "." + pattern] = [=] { return moving(pattern, way); };
        }
        all["search." + pattern] = [=] { return searching(pattern); };
    }
    for (std::string const pattern : {"irregular", "elements", "cells"}) {
        all["build." + pattern] = [=] { return building(pattern); };
    }
    for (std::string const pattern : {"full", "irregular", "elements"}) {
        all["sweep." + pattern] = [=] { return sweeping(pattern); };
    }
    all["plan.rounds"] = planning;
    return all;
}

/// What callgrind counts.
[[gnu::noinline]] Work measured(Kernel const& kernel) { return kernel(); }

int run(std::string const& name, long repeats) {
    auto const kernels = all_kernels();
    auto const found = kernels.find(name);
    if (found == kernels.end()) return std::fprintf(stderr, "no kernel %s\n", name.c_str()), 1;
    Kernel const kernel = found->second();
    kernel();  // Page faults and the first touch of the caches are not the kernel's.
    Work work;
    double best = std::numeric_limits<double>::max();
    for (long i = 0; i < repeats; ++i) {
        auto const begin = std::chrono::steady_clock::now();
        work = measured(kernel);
        auto const time = std::chrono::steady_clock::now() - begin;
        best = std::min(best, std::chrono::duration<double, std::nano>(time).count());
    }
    std::printf(R"({"kernel": "%s", "pieces": %lld, "bytes": %lld, "memory_bytes": %lld, )"
                R"("ns": %.0f, "compiler": "%s"})"
                "\n",
                name.c_str(), static_cast<long long>(work.pieces),
                static_cast<long long>(work.bytes), static_cast<long long>(work.memory_bytes), best,
                SLUICE_COMPILER);
    return 0;
}

}  // namespace
}  // namespace sluice::kernels

int main(int count, char** arguments) {
    using namespace sluice::kernels;
    if (count > 1) return run(arguments[1], count > 2 ? std::strtol(arguments[2], nullptr, 10) : 1);
    for (auto const& [name, make] : all_kernels()) std::printf("%s\n", name.c_str());
    return 0;
}
