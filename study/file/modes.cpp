// sluice-study (`sluice bench study`): sluice-bench with the modes that only the papers' rows need.
#include "bench/file/modes.hpp"

#include <CLI/CLI.hpp>

#include "bench/patterns/applications.hpp"
#include "study/file/options.hpp"

namespace sluice::bench {
namespace {

/// Options of modes exchange, domains and choice alone.
void declare_exchange(CLI::App& app, StudyOptions& o) {
    auto const words = [&](char const* name, std::vector<std::string>& into, char const* help) {
        app.add_option(name, into, help)->delimiter(',');
    };
    words("--kernel", o.kernels,
          "exchange: words of the hint sluice_exchange with '+' between (default: each order "
          "with one layer, some with two)");
    words("--throttle", o.throttles,
          "exchange: throttles of the hint sluice_exchange (default: 0,1,2,4,8,16,32,64)");
    app.add_option("--throttled-kernel", o.throttled_kernel,
                   "exchange: which kernel the throttles are tried with (default: "
                   "one-layer+balanced)");
    words("--division", o.divisions,
          "domains: words of the hint sluice_domains, groups:2 (groups of a node), or none "
          "(independent; default: all of them). choice: even (the default), cyclic, balanced, "
          "groups");
    app.add_option("--aggregators", o.aggregators, "choice: of candidates (default: 1,2,4)")
        ->delimiter(',')
        ->check(CLI::PositiveNumber);
    app.add_option("--window", o.windows, "choice: of candidates (default: 256K,1M,4M)")
        ->delimiter(',')
        ->transform(CLI::AsSizeValue(false));
}

/// Options of mode app alone.
void declare_app(CLI::App& app, StudyOptions& o) {
    auto const words = [&](char const* name, std::vector<std::string>& into, char const* help) {
        return app.add_option(name, into, help)->delimiter(',');
    };
    words("--application", o.applications,
          "app: ior (the default), ior-random, ior-ordered, hacc, madbench, s3asim")
        ->check(CLI::IsMember(sluice::patterns::application_names()));
    words("--way", o.ways,
          "app: posix, mpi-individual, mpi-collective (the MPI's own), individual, collective, "
          "auto (Sluice; default: all these), direct (individual, by direct I/O)")
        ->check(CLI::IsMember({"posix", "mpi-individual", "mpi-collective", "individual",
                               "collective", "auto", "direct"}));
    app.add_option("--transfer", o.transfer, "app: bytes of one call (default: 1M)")
        ->transform(CLI::AsSizeValue(false))
        ->check(CLI::Range(std::uint64_t{8}, std::uint64_t{1} << 30));
    app.add_option("--parts", o.parts,
                   "app: segments of ior (2), matrices of madbench (8), queries of s3asim (100)");
    app.add_flag("--sync", o.sync, "app: a step that writes ends when the device has it");
    app.add_flag("--reserve", o.reserve,
                 "app: files have all their space before the processes join the cgroup, and keep "
                 "it: for a tmpfs, whose memory belongs to the cgroup of the first who writes it");
    words("--collective-hint", o.collective_hints, "app: key=value, of the collective ways");
    app.add_option("--cgroup", o.cgroup,
                   "app: a folder of cgroups that each process joins when its own memory is set "
                   "up; so a limit there is one of the page cache");
    app.add_option("--cache", o.cache, "what is known of the page cache, for the record");
}

}  // namespace

StudyOptions& study_options() {
    static StudyOptions options;
    return options;
}

std::map<std::string, Mode> modes() {
    return {{"blocking", {mode_blocking}},     {"exchange", {mode_exchange, true}},
            {"domains", {mode_domains, true}}, {"choice", {mode_choice, true}},
            {"app", {mode_app, true}},         {"skew", {mode_skew, true}}};
}

char const* mode_help() {
    return "exchange, domains, choice, app, skew, or blocking (the default)";
}

char const* program_name() { return "sluice bench study"; }

void declare_more(CLI::App& app) {
    declare_exchange(app, study_options());
    declare_app(app, study_options());
    app.add_option("--skew", study_options().skew,
                   "skew: by which part of --compute a step is longer or shorter, at most")
        ->check(CLI::Range(0.0, 1.0));
}

}  // namespace sluice::bench
