// The application kernels' turns and their report. See applications.hpp.
#include "tools/collectives/applications.hpp"

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

void report(Job& job, std::string const& name, std::vector<Mover> const& all,
            Json const& description, std::uint64_t wrong) {
    auto const& computing = all.at(0);
    auto const blocking = overhead_of(all.at(1), computing);
    Json line, ways;
    line.add("kernel", name).append(description).add("unit", "s");
    line.add("computation", bench::summary_of(computing.seconds));
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto const& mover = all[i];
        auto const seconds = bench::summary_of(mover.seconds);
        auto const overhead = overhead_of(mover, computing);
        bool const compares = i > 1 && blocking.median > 0;
        double const reduction = compares ? 1 - overhead.median / blocking.median : 0;
        job.report().row({i == 0 ? name : "", i == 0 ? "computation alone" : mover.name,
                          text_of_summary(seconds), i == 0 ? "" : text_of_summary(overhead),
                          compares ? text_of("%.0f %%", 100 * reduction) : ""});
        if (i == 0) continue;
        Json entry;
        entry.add("seconds", seconds).add("overhead", overhead);
        if (compares) entry.add("reduction", reduction);
        ways.add(mover.name.c_str(), entry);
    }
    line.add("ways", ways).add("paper_reduction", paper_reduction);
    line.add_integer("wrong_bytes", wrong);
    job.count_wrong(wrong);
    job.report().record("application kernel", line);
    job.report().note(text_of("the paper's best: %.0f %% less than blocking; wrong bytes: %llu",
                              100 * paper_reduction, static_cast<unsigned long long>(wrong)));
}

}  // namespace

std::vector<Mover> movers(Job const& job) {
    std::vector<Mover> all{{nobody, service_named(nobody)},
                           {blocking_way, service_named(blocking_way)}};
    for (auto const& name : job.ways()) {
        std::shared_ptr<Service> const service = service_named(name);
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
        {"kernel                ", "way                   ", "   total: median (min .. max)",
         "overhead: median (min .. max)", "less than blocking"});
    std::uint64_t wrong_bytes = 0;
    Budget budget(job, 1);
    budget.part(name, all.size(), [&](std::size_t i, int turn) {
        double const seconds = run(all[i]);
        if (all[i].name != nobody) wrong_bytes += wrong();
        if (turn >= 0) all[i].seconds.push_back(seconds);
    });
    report(job, name, all, description, wrong_bytes);
}

}  // namespace sluice::collectives
