// The application kernels' turns and their report. See applications.hpp.
#include "study/collective/applications.hpp"

#include <algorithm>

namespace sluice::collectives {
namespace {

using bench::Json;
using bench::text_of;

/// "Nonblocking collectives over InfiniBand": communication overhead down by up to so much.
constexpr double paper_reduction = 0.92;

/// Turn by turn, what a mover took beside the computation of the same turn.
bench::Summary overhead_of(Mover const& mover, Mover const& computing) {
    std::vector<double> overheads;
    for (std::size_t turn = 0; turn < mover.seconds.size(); ++turn)
        overheads.push_back(mover.seconds[turn] - computing.seconds[turn]);
    return bench::summary_of(overheads);
}

/// Share of what the blocking calls cost that is gone; none where they cost nothing.
std::string text_of_reduction(double cost, double blocking) {
    return blocking > 0 ? text_of("%.0f %%", 100 * (1 - cost / blocking)) : "-";
}

void report(Job& job, std::string const& name, std::vector<Mover> const& all,
            Json const& description, std::uint64_t wrong) {
    auto const& computing = all.at(0);
    auto const& blocking = all.at(1);
    auto const computation = bench::summary_of(computing.seconds);
    double const cost = overhead_of(blocking, computing).median;
    double const in_calls = bench::summary_of(blocking.in_calls).median;
    job.report().row({name, "computation alone", text_of_summary(computation)});
    Json line, ways;
    line.add("kernel", name)
        .add("while", job.options.asleep ? "asleep" : "computing")
        .append(description)
        .add("unit", "s")
        .add("computation", computation);
    for (std::size_t i = 1; i < all.size(); ++i) {
        auto const& mover = all[i];
        auto const seconds = bench::summary_of(mover.seconds);
        auto const overhead = overhead_of(mover, computing);
        auto const called = bench::summary_of(mover.in_calls);
        job.report().row({"", mover.name, text_of_summary(seconds), text_of_summary(overhead),
                          i == 1 ? "" : text_of_reduction(overhead.median, cost),
                          text_of_summary(called),
                          i == 1 ? "" : text_of_reduction(called.median, in_calls)});
        Json entry;
        entry.add("seconds", seconds).add("overhead", overhead).add("in_calls", called);
        if (i > 1 && cost > 0) entry.add("reduction", 1 - overhead.median / cost);
        if (i > 1 && in_calls > 0) entry.add("reduction_in_calls", 1 - called.median / in_calls);
        ways.add(mover.name.c_str(), entry);
    }
    double const hideable = cost > 0 ? std::min(1.0, computation.median / cost) : 1;
    line.add("ways", ways).add("hideable", hideable).add("paper_reduction", paper_reduction);
    line.add_integer("wrong_bytes", wrong);
    job.count_wrong(wrong);
    job.report().record("application kernel", line);
    job.report().note(text_of("the computation is long enough to hide %.0f %% of the blocking "
                              "calls; the paper's best: %.0f %% less; wrong bytes: %llu",
                              100 * hideable, 100 * paper_reduction,
                              static_cast<unsigned long long>(wrong)));
}

}  // namespace

std::vector<Mover> movers(Job const& job) {
    auto const timed = [](std::string const& name) {
        auto service = service_named(name);
        return service ? std::make_shared<Timed>(std::move(service)) : nullptr;
    };
    std::vector<Mover> all{{nobody, timed(nobody)}, {blocking_way, timed(blocking_way)}};
    for (auto const& name : job.ways()) {
        auto const service = timed(name);
        if (!service) continue;
        all.push_back({name, service});
        if (name == mpi_way) all.push_back({name + ", tests", service, true});
    }
    return all;
}

void measure_application(Job& job, std::string const& name, std::vector<Mover> all,
                         Json const& description, std::function<double(Mover const&)> const& run,
                         std::function<std::uint64_t()> const& wrong) {
    job.report().table(
        "Application kernel " + name + ": what communication adds to the computation",
        {"kernel        ", "            way      ", "  total: median (min .. max)",
         "overhead: median (min .. max)", "less", "in calls: median (min .. max)", "less"});
    std::uint64_t wrong_bytes = 0;
    Budget budget(job, 1);
    budget.part(name, all.size(), [&](std::size_t i, int turn) {
        double const seconds = run(all[i]);
        double const in_calls = bench::max_over_ranks(all[i].service->take_seconds());
        if (all[i].name != nobody) wrong_bytes += wrong();
        if (turn < 0) return;
        all[i].seconds.push_back(seconds);
        all[i].in_calls.push_back(in_calls);
    });
    report(job, name, all, description, wrong_bytes);
}

}  // namespace sluice::collectives
