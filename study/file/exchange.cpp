// What one access of these modes tells, and how it is told on. See exchange.hpp.
#include "study/file/exchange.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

namespace sluice::bench {
namespace {

/// The library is preloaded, not linked to: without it the MPI's own calls can be measured.
template <typename Function> Function* loaded(char const* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

std::uint64_t number_in(std::filesystem::path const& path) {
    std::uint64_t number = 0;
    std::ifstream(path) >> number;
    return number;
}

/// What the library tells, under the names of the records.
constexpr std::array<std::pair<char const*, double Sample::*>, 12> quantities{
    {{"metadata", &Sample::metadata},
     {"data", &Sample::data},
     {"agreement", &Sample::agreement},
     {"copies", &Sample::copies},
     {"transfers", &Sample::transfers},
     {"messages", &Sample::messages},
     {"sent", &Sample::sent},
     {"sent_bytes", &Sample::sent_bytes},
     {"estimated", &Sample::estimated},
     {"priced", &Sample::priced},
     {"meeting", &Sample::meeting},
     {"iterations", &Sample::iterations}}};

/// Collective.
void add(sluice_statistics const& s, sluice_statistics const& before, Sample& sample) {
    auto const slowest = [&](auto... part) {
        return max_over_ranks(((s.*part - before.*part) + ...));
    };
    using All = sluice_statistics;
    sample.metadata = slowest(&All::survey_seconds, &All::claims_seconds);
    sample.data = slowest(&All::exchange_seconds);
    sample.agreement = slowest(&All::agreement_seconds);
    sample.copies = slowest(&All::copy_seconds);
    sample.transfers = slowest(&All::transfer_seconds);
    sample.messages = slowest(&All::message_seconds);
    if (s.priced_operations > before.priced_operations) {  // so on all ranks
        sample.estimated = slowest(&All::estimated_seconds);
        sample.priced = slowest(&All::priced_seconds);
    }
    sample.sent = double(sum_over_ranks(std::uint64_t(s.messages - before.messages)));
    sample.sent_bytes =
        double(sum_over_ranks(std::uint64_t(s.message_bytes - before.message_bytes)));
}

std::vector<double> values_of(std::vector<Sample> const& samples, double Sample::* quantity) {
    std::vector<double> values;
    for (auto const& sample : samples) values.push_back(sample.*quantity);
    return values;
}

std::string median_text(Trial const& trial, double Sample::* quantity) {
    auto const median = bench::summary_of(values_of(trial.samples, quantity)).median;
    return median < 0 ? "-" : text_of_seconds(median);
}

double median_of(Exchanged const& all, std::string const& variant) {
    auto const found = std::find_if(all.trials.begin(), all.trials.end(), [&](auto const& trial) {
        return trial.variant.name == variant;
    });
    return found == all.trials.end() ? 0 : summary_of(*found, &Sample::seconds).median;
}

void record(Run const& run, Exchanged const& all, Trial const& trial) {
    Json line;
    line.add("pattern", all.pattern).add("direction", all.direction);
    line.add(all.subject.variant, trial.variant.name).add("throttle", trial.variant.throttle);
    line.add_integer("bytes_per_rank", all.bytes).add_integer("piece", run.options.piece);
    line.add("unit", "s");
    add_samples(line, trial.samples);
    if (double const own = median_of(all, own_calls); own > 0)
        line.add("own_over_this", own / summary_of(trial, &Sample::seconds).median);
    line.add("plan", trial.plan).add_integer("wrong_bytes", trial.wrong);
    run.report->record(all.subject.mode, line);
}

}  // namespace

std::vector<double> values_of(Trial const& trial, double Sample::* quantity) {
    std::vector<double> values;
    for (auto const& sample : trial.samples) values.push_back(sample.*quantity);
    return values;
}

Summary summary_of(Trial const& trial, double Sample::* quantity) {
    return bench::summary_of(values_of(trial, quantity));
}

OpenFile::OpenFile(Run const& run, std::string const& path,
                   std::vector<std::string> const& own_hints)
    : hints(run.options.hints, own_hints),
      handle(open_file(path, MPI_MODE_CREATE | MPI_MODE_RDWR, hints.info)) {}

std::vector<std::string> division_hints(std::string const& words) {
    if (words == "none") return {"romio_cb_write=disable", "romio_cb_read=disable"};
    auto const colon = words.find(':');
    std::vector<std::string> hints{"sluice_domains=" + words.substr(0, colon),
                                   "romio_cb_write=enable", "romio_cb_read=enable"};
    if (colon != std::string::npos)
        hints.push_back("sluice_exchange=groups:" + words.substr(colon + 1));
    return hints;
}

WireCounters wire_counters() {
    WireCounters all;
    std::error_code none;
    for (auto const& link : std::filesystem::directory_iterator("/sys/class/net", none)) {
        if (link.path().filename() == "lo") continue;
        all.sent += number_in(link.path() / "statistics/tx_bytes");
        all.received += number_in(link.path() / "statistics/rx_bytes");
    }
    return all;
}

double most_moved(WireCounters const& before, WireCounters const& after) {
    return double(std::max(after.sent - before.sent, after.received - before.received));
}

sluice_statistics statistics_of(MPI_File file) {
    auto* const tell = loaded<decltype(sluice_file_statistics)>("sluice_file_statistics");
    sluice_statistics statistics{};
    statistics.size = sizeof statistics;
    if (tell == nullptr || tell(file, &statistics) != MPI_SUCCESS) return {};
    return statistics;
}

void observe(MPI_File file, Sample& sample, std::string& plan, sluice_statistics const& before) {
    auto* const describe = loaded<decltype(sluice_file_plan)>("sluice_file_plan");
    auto const statistics = statistics_of(file);
    if (statistics.size != 0) add(statistics, before, sample);
    std::array<char, 4096> text{};
    if (describe != nullptr && describe(file, text.data(), text.size()) == MPI_SUCCESS)
        plan = text.data();
}

void add_samples(Json& line, std::vector<Sample> const& samples) {
    line.add("total", summary_of(values_of(samples, &Sample::seconds)));
    line.add("total_samples", values_of(samples, &Sample::seconds));
    for (auto const& [name, quantity] : quantities)
        if (auto const told = summary_of(values_of(samples, quantity)); told.min >= 0)
            line.add(name, told);
    line.add("wire_bytes", summary_of(values_of(samples, &Sample::wire_bytes)));
}

void report_exchange(Run& run, Exchanged const& exchanged) {
    run.report->table(
        text_of("%s: %s %s, %s a rank, %d nodes", exchanged.subject.mode, exchanged.pattern.c_str(),
                exchanged.direction.c_str(), text_of_bytes(exchanged.bytes).c_str(), node_count()),
        {text_of("%-32s", exchanged.subject.variant), "throttle", "     total: median (min .. max)",
         "metadata", "    data", "  copies", "transfers", "messages", "    sent", "MiB on the wire",
         "MPI's own/this", "wrong bytes"});
    double const own = median_of(exchanged, own_calls);
    for (auto const& trial : exchanged.trials) {
        auto const total = summary_of(trial, &Sample::seconds);
        auto const sent = summary_of(trial, &Sample::sent).median;
        auto const wire = summary_of(trial, &Sample::wire_bytes).median;
        run.report->row(
            {trial.variant.name, trial.variant.throttle, text_of_summary(total),
             median_text(trial, &Sample::metadata), median_text(trial, &Sample::data),
             median_text(trial, &Sample::copies), median_text(trial, &Sample::transfers),
             median_text(trial, &Sample::messages), sent < 0 ? "-" : text_of("%.0f", sent),
             wire > 0 ? text_of("%.1f", wire / 1048576) : "-",
             own > 0 && total.median > 0 ? text_of("%.2f", own / total.median) : "-",
             std::to_string(trial.wrong)});
        if (trial.variant.name != own_calls) run.wrong_bytes += trial.wrong;
        record(run, exchanged, trial);
    }
}

}  // namespace sluice::bench
