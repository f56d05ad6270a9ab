// The tables of mode compare, its JSON lines, and the means over patterns.
#include <algorithm>
#include <cmath>
#include <functional>

#include "bench/file/compare.hpp"

namespace sluice::bench {
namespace {

double median_of(std::vector<double> const& values) { return summary_of(values).median; }

using Quantity = std::vector<double> Score::*;

/// How much longer a contender takes than Sluice; 0: one of the two was not measured.
double ratio_of(Comparison const& comparison, std::string const& contender, Quantity quantity) {
    auto const* theirs = comparison.score(contender);
    auto const* ours = comparison.score(sluice_name);
    if (theirs == nullptr || ours == nullptr) return 0;
    double const own = median_of(ours->*quantity);
    return own > 0 ? median_of(theirs->*quantity) / own : 0;
}

/// The limit's time as a share of a contender's.
double share_of_limit(Comparison const& comparison, Score const& score) {
    auto const* limit = comparison.score(limit_name);
    double const own = median_of(score.repeated);
    return limit != nullptr && own > 0 ? median_of(limit->repeated) / own : 0;
}

std::string text_of_ratio(double ratio) { return ratio > 0 ? text_of("%.2f", ratio) : "-"; }

std::string text_of_share(double share) {
    return share > 0 ? text_of("%.0f %%", 100 * share) : "-";
}

std::string rate_of(Run const& run, Comparison const& comparison, double seconds) {
    if (seconds <= 0) return "-";
    return text_of("%.0f", mib_per_second(run, comparison.bytes, seconds));
}

bool is_sluices(std::string const& contender) {
    return contender == sluice_name || contender == host_name || contender == pinned_name ||
           contender == pageable_name;
}

void record(Run const& run, Comparison const& comparison, Score const& score) {
    Json line;
    line.add("pattern", comparison.pattern).add("direction", comparison.direction);
    line.add("contender", score.contender).add("hints", score.hints);
    line.add_integer("bytes_per_rank", comparison.bytes);
    line.add_integer("pieces", comparison.pieces).add("unit", "s");
    line.add("first", summary_of(score.first)).add("first_call", summary_of(score.first_call));
    line.add("repeated", summary_of(score.repeated));
    line.add("first_samples", score.first).add("repeated_samples", score.repeated);
    if (score.contender != sluice_name && comparison.score(sluice_name) != nullptr)
        line.add("first_over_sluice", ratio_of(comparison, score.contender, &Score::first))
            .add("first_call_over_sluice",
                 ratio_of(comparison, score.contender, &Score::first_call))
            .add("repeated_over_sluice", ratio_of(comparison, score.contender, &Score::repeated));
    if (auto const share = share_of_limit(comparison, score); share > 0)
        line.add("share_of_limit", share);
    line.add_integer("wrong_bytes", score.wrong);
    run.report->record("compare", line);
}

/// Patterns whose mean decides. With two ranks block3d is two contiguous halves.
bool scattered(Run const& run, std::string const& pattern) {
    bool const always = pattern == "strided" || pattern == "irregular" || pattern == "e3sm";
    return always || (run.ranks > 2 && (pattern == "block3d" || pattern == "btio"));
}

struct Mean {
    double geometric = 0, least = 0;
    std::string where;  ///< Of the least.
    int count = 0;
};

/// Over the comparisons chosen, as far as they have a value above 0.
Mean mean_of(std::vector<Comparison> const& all,
             std::function<bool(Comparison const&)> const& takes,
             std::function<double(Comparison const&)> const& value) {
    Mean mean;
    double logarithms = 0;
    for (auto const& comparison : all) {
        double const one = takes(comparison) ? value(comparison) : 0;
        if (!(one > 0)) continue;
        logarithms += std::log(one);
        if (mean.count++ == 0 || one < mean.least) {
            mean.least = one;
            mean.where = comparison.pattern + " " + comparison.direction;
        }
    }
    if (mean.count > 0) mean.geometric = std::exp(logarithms / mean.count);
    return mean;
}

std::string text_of_least(Mean const& mean) {
    return mean.count == 0 ? "-" : text_of_ratio(mean.least) + " " + mean.where;
}

void report_ratios(Run const& run, std::vector<Comparison> const& all) {
    struct Row {
        char const* title;
        Quantity quantity;
    };
    auto const is_scattered = [&](Comparison const& c) { return scattered(run, c.pattern); };
    auto const is_plain = [](Comparison const& c) {
        return c.pattern == "contiguous" || c.pattern == "flash";
    };
    for (auto const& row :
         {Row{"repeated calls", &Score::repeated}, Row{"first call", &Score::first_call},
          Row{"open, view, first call", &Score::first}})
        for (auto const* contender : {default_name, best_name, thread_name, by_hand_name, host_name,
                                      pinned_name, pageable_name, default_pinned_name}) {
            auto const ratio = [&](Comparison const& c) {
                return ratio_of(c, contender, row.quantity);
            };
            auto const mean = mean_of(all, is_scattered, ratio);
            auto const plain = mean_of(all, is_plain, ratio);
            if (mean.count + plain.count == 0) continue;
            run.report->row({row.title, contender, text_of_ratio(mean.geometric),
                             text_of_least(mean), text_of_least(plain)});
        }
}

}  // namespace

Score const* Comparison::score(std::string const& contender) const {
    for (auto const& one : scores)
        if (one.contender == contender) return &one;
    return nullptr;
}

void start_comparisons(Run const& run) {
    run.report->table("compare: in turn, A B C D E; x: times as long as Sluice takes",
                      {"what            ", "contender     ", "open+view+1st", " 1st call", "    x",
                       "repeated: median (min .. max)", "MiB/s", "    x", "of limit",
                       "wrong bytes"});
}

void report_comparison(Run& run, Comparison const& comparison) {
    run.progress->wipe();
    auto& report = *run.report;
    auto what = comparison.pattern + " " + comparison.direction;
    for (auto const& score : comparison.scores) {
        auto const ratio = [&](Quantity quantity) {
            return text_of_ratio(ratio_of(comparison, score.contender, quantity));
        };
        auto const repeated = summary_of(score.repeated);
        report.row({what, score.contender, text_of_seconds(median_of(score.first)),
                    text_of_seconds(median_of(score.first_call)), ratio(&Score::first_call),
                    text_of_summary(repeated), rate_of(run, comparison, repeated.median),
                    ratio(&Score::repeated), text_of_share(share_of_limit(comparison, score)),
                    score.wrong == 0 ? "none" : std::to_string(score.wrong)});
        record(run, comparison, score);
        what.clear();
        if (is_sluices(score.contender) || !run.served) run.wrong_bytes += score.wrong;
    }
    report.note(text_of("  %s a rank, %llu pieces in all", text_of_bytes(comparison.bytes).c_str(),
                        static_cast<unsigned long long>(comparison.pieces)));
    if (auto const* best = comparison.score(best_name))
        report.note("  best hints: " + (best->hints.empty() ? "the default" : best->hints));
}

void report_means(Run const& run, std::vector<Comparison> const& all) {
    auto& report = *run.report;
    std::string scattered_names;
    for (auto const& name : pattern_names())
        if (scattered(run, name)) scattered_names += (scattered_names.empty() ? "" : ", ") + name;
    run.progress->wipe();
    report.table("times as long as Sluice, over " + scattered_names + ", write and read",
                 {"what                  ", "contender     ", "geometric mean",
                  "               least", "contiguous, flash: least"});
    report_ratios(run, all);
    auto const share = mean_of(
        all, [](Comparison const&) { return true; },
        [](Comparison const& c) {
            auto const* ours = c.score(sluice_name);
            return ours == nullptr ? 0 : share_of_limit(c, *ours);
        });
    if (share.count > 0)
        report.note("Sluice's share of the machine's limit, least of all patterns: " +
                    text_of_share(share.least) + " " + share.where);
}

}  // namespace sluice::bench
