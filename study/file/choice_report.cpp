// Was what the library chose the best of its candidates, and was the estimate right? Ratios are
// medians of those of the same turn, so that whatever slows the machine down meets both.
#include "study/file/choice.hpp"

#include <algorithm>
#include <sstream>

namespace sluice::bench {
namespace {

Trial const* named(Exchanged const& all, char const* name) {
    auto const found = std::find_if(all.trials.begin(), all.trials.end(),
                                    [&](auto const& trial) { return trial.variant.name == name; });
    return found == all.trials.end() || found->samples.empty() ? nullptr : &*found;
}

double median_of(Trial const& trial) { return summary_of(trial, &Sample::seconds).median; }

/// Seconds of `trial` / those of `base`, by turn; one of them may have had fewer.
std::vector<double> ratios(Trial const& trial, Trial const& base) {
    std::vector<double> all;
    auto const turns = std::min(trial.samples.size(), base.samples.size());
    for (std::size_t i = 0; i < turns; ++i)
        all.push_back(trial.samples[i].seconds / base.samples[i].seconds);
    return all;
}

double ratio(Trial const& trial, Trial const& base) {
    return bench::summary_of(ratios(trial, base)).median;
}

/// In a quarter of the turns or more it was no slower: chance may be all that is between them.
bool ties(Trial const& trial, Trial const& base) {
    auto all = ratios(trial, base);
    std::sort(all.begin(), all.end());
    return all[(all.size() - 1) / 4] <= 1;
}

/// Of all but the library's own choice and the MPI's own call.
Trial const& best_of(Exchanged const& all) {
    auto const cost = [](Trial const& trial) {
        bool const counts =
            trial.variant.name != library_chooses && trial.variant.name != own_calls;
        return counts && !trial.samples.empty() ? median_of(trial) : HUGE_VAL;
    };
    return *std::min_element(all.trials.begin(), all.trials.end(),
                             [&](auto const& a, auto const& b) { return cost(a) < cost(b); });
}

/// A plan in words without the reason, which tells whether a hint or the model asked for it.
std::string without_reason(std::string const& plan) {
    auto const begin = plan.find(": ");
    if (begin == std::string::npos) return plan;
    auto const end = plan.find("; ", begin);
    return plan.substr(0, begin) + (end == std::string::npos ? "" : plan.substr(end));
}

/// The candidate that is done as the library chose to do it.
Trial const* twin_of(Exchanged const& all, Trial const& chosen) {
    auto const plan = without_reason(chosen.plan);
    auto const found = std::find_if(all.trials.begin(), all.trials.end(), [&](auto const& trial) {
        bool const forced = trial.variant.name != library_chooses &&
                            trial.variant.name != always_collective && !trial.samples.empty();
        return forced && without_reason(trial.plan) == plan;
    });
    return found == all.trials.end() || plan.empty() ? nullptr : &*found;
}

/// What the library chose and no candidate does, as candidates are named.
std::string name_of_plan(std::string const& plan) {
    auto const at = plan.find("; ");
    if (at == std::string::npos) return "another way";
    std::istringstream words(plan.substr(at + 2));
    std::uint64_t aggregators = 0, window = 0;
    std::string word;  // "2 aggregators, windows of 1048576 bytes, ..."
    if (!(words >> aggregators >> word >> word >> word >> window)) return "another way";
    auto const has = [&](char const* part) { return plan.find(part) != std::string::npos; };
    char const* const division = has("by groups")       ? "groups"
                                 : has("equal bytes")   ? "balanced"
                                 : has("bytes in turn") ? "cyclic"
                                                        : "even";
    return bench::name_of(division, aggregators, window);
}

/// Estimate / measured - 1; NaN without an estimate.
double error_of(Trial const& trial) {
    std::vector<double> errors;
    for (auto const& sample : trial.samples)
        if (sample.estimated > 0) errors.push_back(sample.estimated / sample.seconds - 1);
    return errors.empty() ? NAN : bench::summary_of(errors).median;
}

std::string signed_percent(double part) {
    return std::isnan(part) ? "-" : text_of("%+.0f %%", 100 * part);
}

void record_candidate(Run const& run, Exchanged const& all, Trial const& trial, double over_best) {
    Json line;
    line.add("pattern", all.pattern).add("direction", all.direction);
    line.add(all.subject.variant, trial.variant.name);
    line.add_integer("bytes_per_rank", all.bytes).add_integer("piece", run.options.piece);
    line.add("unit", "s").add("total", summary_of(trial, &Sample::seconds));
    line.add("over_best", over_best);
    line.add("transfers", summary_of(trial, &Sample::transfers));
    line.add("estimated", summary_of(trial, &Sample::estimated).median);
    line.add("error", error_of(trial)).add("plan", trial.plan);
    line.add_integer("wrong_bytes", trial.wrong);
    run.report->record(all.subject.mode, line);
}

void report_candidates(Run& run, Exchanged const& all, Trial const& best, Trial const* twin) {
    run.report->table(text_of("choice: %s %s, %s a rank, %d nodes", all.pattern.c_str(),
                              all.direction.c_str(), text_of_bytes(all.bytes).c_str(),
                              node_count()),
                      {"candidate             ", "     total: median (min .. max)", "/ best",
                       "transfers", "estimate", "error ", "wrong bytes", "                "});
    for (auto const& trial : all.trials) {
        if (trial.samples.empty()) continue;
        double const over_best = ratio(trial, best);
        auto const seconds = [&](double Sample::* quantity) {
            auto const median = summary_of(trial, quantity).median;
            return median < 0 ? "-" : text_of_seconds(median);
        };
        std::string remark = &trial == &best ? "best" : "";
        if (&trial == twin) remark += remark.empty() ? "chosen" : ", chosen";
        run.report->row({trial.variant.name, text_of_summary(summary_of(trial, &Sample::seconds)),
                         text_of("%.2f", over_best), seconds(&Sample::transfers),
                         seconds(&Sample::estimated), signed_percent(error_of(trial)),
                         std::to_string(trial.wrong), remark});
        if (trial.variant.name != own_calls) run.wrong_bytes += trial.wrong;
        record_candidate(run, all, trial, over_best);
    }
}

/// The better of always-collective and always-independent.
Trial const* better_always(Exchanged const& all) {
    auto const *collective = named(all, always_collective),
               *independent = named(all, always_independent);
    if (collective == nullptr || independent == nullptr) return nullptr;
    return median_of(*collective) <= median_of(*independent) ? collective : independent;
}

}  // namespace

void report_choice(Run& run, Exchanged const& all) {
    auto const* const chosen = named(all, library_chooses);
    auto const* const better = better_always(all);
    auto const& best = best_of(all);
    if (chosen == nullptr || better == nullptr) return;
    auto const* const twin = twin_of(all, *chosen);
    report_candidates(run, all, best, twin);
    double const collective = ratio(*named(all, always_collective), *chosen),
                 independent = ratio(*named(all, always_independent), *chosen),
                 against_better = ratio(*better, *chosen), over_best = ratio(*chosen, best);
    auto const name = twin == nullptr ? name_of_plan(chosen->plan) : twin->variant.name;
    run.report->note(text_of("  chosen: %s, %.2f of the best, %s; always collective %.2f, always "
                             "independent %.2f times as long",
                             name.c_str(), over_best, best.variant.name.c_str(), collective,
                             independent));
    Json line;
    line.add("pattern", all.pattern).add("direction", all.direction);
    line.add_integer("bytes_per_rank", all.bytes).add_integer("piece", run.options.piece);
    line.add("best", best.variant.name).add("best_seconds", median_of(best)).add("chosen", name);
    line.add("chosen_seconds", median_of(*chosen)).add("chosen_over_best", over_best);
    line.add_integer("tie", ties(*chosen, best) ? 1 : 0);
    if (twin != nullptr) line.add("chosen_over_twin", ratio(*chosen, *twin));
    line.add("better_over_chosen", against_better).add("collective_over_chosen", collective);
    line.add("independent_over_chosen", independent).add("error", error_of(*chosen));
    run.report->record("choice verdict", line);
}

}  // namespace sluice::bench
