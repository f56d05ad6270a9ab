// The table that most modes share: Sluice's time, the peer's time, their ratio, wrong bytes.
#include "bench/measure/report.hpp"

namespace sluice::bench {
namespace {

std::string rate_of(Run const& run, std::uint64_t bytes, double seconds) {
    if (bytes == 0 || seconds <= 0) return "-";
    return text_of("%.0f", mib_per_second(run, bytes, seconds));
}

}  // namespace

double mib_per_second(Run const& run, std::uint64_t bytes, double seconds) {
    return double(bytes) * run.ranks / seconds / 1048576;
}

void start_pair_table(Run const& run, std::string const& title) {
    run.report->table(title, {"what                    ", " bytes/rank",
                              "Sluice: median (min .. max)", "  peer: median (min .. max)",
                              "Sluice MiB/s", "peer/Sluice", "wrong bytes"});
}

void count_wrong(Run& run, std::array<std::uint64_t, 2> const& wrong) {
    run.wrong_bytes += wrong[0];
    if (!run.served) run.wrong_bytes += wrong[1];
}

std::string text_of_wrong(Run const& run, std::array<std::uint64_t, 2> const& wrong) {
    if (wrong[0] == 0 && wrong[1] == 0) return "none";
    auto const mine = std::to_string(wrong[0]);
    return run.options.no_peer ? mine : mine + " / " + std::to_string(wrong[1]);
}

void report_pair(Run& run, Pair const& pair) {
    auto const sluice = summary_of(pair.seconds[0]), peer = summary_of(pair.seconds[1]);
    bool const both = !pair.seconds[1].empty() && sluice.median > 0;
    double const ratio = both ? peer.median / sluice.median : 0;
    std::string what;
    for (auto const& word : {pair.pattern, pair.direction, pair.variant})
        if (!word.empty()) what += (what.empty() ? "" : " ") + word;
    run.report->row({what, pair.bytes == 0 ? "-" : text_of_bytes(pair.bytes),
                     text_of_summary(sluice), both ? text_of_summary(peer) : "-",
                     rate_of(run, pair.bytes, sluice.median), both ? text_of("%.2f", ratio) : "-",
                     text_of_wrong(run, pair.wrong)});
    count_wrong(run, pair.wrong);

    Json result;
    if (!pair.pattern.empty()) result.add("pattern", pair.pattern);
    if (!pair.direction.empty()) result.add("direction", pair.direction);
    if (!pair.variant.empty()) result.add("variant", pair.variant);
    result.add_integer("bytes_per_rank", pair.bytes).add("unit", "s").add("sluice", sluice);
    if (!pair.peer_hints.empty()) result.add("peer_hints", joined(pair.peer_hints));
    if (both) result.add("peer", peer).add("peer_over_sluice", ratio);
    result.add_integer("sluice_wrong_bytes", pair.wrong[0]);
    if (both) result.add_integer("peer_wrong_bytes", pair.wrong[1]);
    run.report->record(pair.mode, result);
}

}  // namespace sluice::bench
