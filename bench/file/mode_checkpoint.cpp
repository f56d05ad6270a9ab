// Mode checkpoint: a program writes the same pattern again and again, behind what is there or into
// new files, with the types of the time before or with new ones. What does the second time cost,
// when all that can be known is known from the first?
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "bench/file/access.hpp"
#include "bench/measure/report.hpp"

namespace sluice::bench {
namespace {

struct Variant {
    std::string name;
    bool new_file = false, new_types = false;
};

Variant variant_of(std::string const& name) {
    return {name, name.starts_with("new-file"), name.ends_with("types")};
}

/// Seconds of the first steps of several series, and of all later steps.
struct Steps {
    std::vector<double> first, later;
    std::uint64_t wrong = 0;
};

/// One series: both sides step by step, in turn. A shift makes the pattern one that neither has
/// seen: each rank has another rank's part.
class Series {
public:
    Series(Run const& run, std::string name, Variant const& variant, int shift)
        : run_(run),
          name_(std::move(name)),
          variant_(variant),
          shift_(shift) {
        make_types();
        buffer_ = pattern_->access_buffer();
        if (variant_.new_file) return;
        for (Side const side : run_.sides())
            files_[std::size_t(side)] = std::make_unique<File>(run_, side);
    }

    void step(int number, std::array<Steps, 2>& results) {
        auto sides = run_.sides();
        if (number % 2 != 0) std::reverse(sides.begin(), sides.end());
        for (Side const side : sides) {
            if (variant_.new_types) make_types();
            auto& result = results[std::size_t(side)];
            double const seconds =
                variant_.new_file ? new_file(side, number, result.wrong) : append(side, number);
            (number == 0 ? result.first : result.later).push_back(seconds);
        }
    }

    /// What was appended, and no more files.
    void finish(std::array<Steps, 2>& results) {
        for (Side const side : run_.sides()) {
            auto const i = std::size_t(side);
            if (variant_.new_file) continue;
            files_[i].reset();
            results[i].wrong += pattern_->wrong_in_file(
                run_, run_.path[i], seed, std::uint64_t(rows()) * std::uint64_t(steps()));
        }
        remove_files(run_);
    }

    [[nodiscard]] std::uint64_t bytes() const { return pattern_->access_bytes(); }

private:
    static constexpr std::uint64_t seed = 1;

    [[nodiscard]] int steps() const { return run_.options.steps; }

    void make_types() {
        pattern_.reset();
        pattern_ = std::make_unique<Pattern>(run_, name_, run_.bytes(), shift_);
    }

    double append(Side side, int number) {
        Hints const hints(run_, side);
        auto* const file = files_[std::size_t(side)]->handle;
        auto const before = std::uint64_t(number) * pattern_->file_bytes();
        pattern_->fill_access(buffer_, seed, std::uint64_t(number) * std::uint64_t(rows()));
        return time_together([&] {
            set_view(file, MPI_Offset(before), *pattern_, hints.info);
            run_access(file, *pattern_, buffer_, true);
        });
    }

    double new_file(Side side, int number, std::uint64_t& wrong) {
        Hints const hints(run_, side);
        auto run = run_;
        auto& path = run.path[std::size_t(side)];
        path += text_of("-%d", number);
        pattern_->fill_access(buffer_, seed);
        double const seconds = time_together([&] {
            File const file(run, side);
            set_view(file.handle, 0, *pattern_, hints.info);
            run_access(file.handle, *pattern_, buffer_, true);
        });
        wrong += pattern_->wrong_in_file(run, path, seed);
        if (run.rank == 0 && !run.options.keep) ::unlink(path.c_str());
        return seconds;
    }

    [[nodiscard]] int rows() const { return pattern_->rows(); }

    Run const& run_;
    std::string name_;
    Variant variant_;
    int shift_;
    std::unique_ptr<Pattern> pattern_;
    std::vector<double> buffer_;
    std::array<std::unique_ptr<File>, 2> files_;
};

/// What a process does once in its life, memory and threads, is not of the pattern: both sides have
/// written another one before.
void warm_up(Run const& run, std::string const& name) {
    if (run.options.warmup == 0) return;
    std::array<Steps, 2> ignored;
    Series series(run, name == "strided" ? "irregular" : "strided", variant_of("append"), 0);
    for (int number = 0; number < run.options.steps; ++number) series.step(number, ignored);
    series.finish(ignored);
}

void report(Run& run, std::string const& name, Variant const& variant, std::uint64_t bytes,
            std::array<Steps, 2> const& results) {
    run.progress->wipe();
    auto const ours = summary_of(results[0].later).median;
    for (Side const side : run.sides()) {
        auto const& steps = results[std::size_t(side)];
        auto const first = summary_of(steps.first), later = summary_of(steps.later);
        double const gain = later.median > 0 ? first.median / later.median : 0;
        char const* const who = side == Side::sluice ? "Sluice" : "peer";
        run.report->row({side == Side::sluice ? name + ": " + variant.name : "", who,
                         text_of_summary(first), text_of_summary(later), text_of("%.2f", gain),
                         ours > 0 ? text_of("%.2f", later.median / ours) : "-",
                         steps.wrong == 0 ? "none" : std::to_string(steps.wrong)});
        Json line;
        line.add("pattern", name).add("variant", variant.name).add("side", who);
        line.add_integer("bytes_per_rank", bytes).add("unit", "s");
        line.add("first", first).add("later", later).add("first_over_later", gain);
        line.add("first_samples", steps.first).add("later_samples", steps.later);
        line.add_integer("wrong_bytes", steps.wrong);
        run.report->record("checkpoint", line);
    }
    count_wrong(run, {results[0].wrong, results[1].wrong});
}

}  // namespace

void mode_checkpoint(Run& run) {
    auto const names = patterns_of(run);
    int const series_count = std::min(run.options.first, run.ranks);
    run.report->table(
        "checkpoint: append = set_view, write_all; new file = open, set_view, write_all, close",
        {"what                          ", "  side", "first step: median (min .. max)",
         "later steps: median (min .. max)", "first/later", "    x", "wrong bytes"});
    run.progress->expect(int(names.size() * run.options.variants.size()) * series_count *
                         run.options.steps);
    for (auto const& name : names) {
        warm_up(run, name);
        for (auto const& variant_name : run.options.variants) {
            auto const variant = variant_of(variant_name);
            std::array<Steps, 2> results;
            std::uint64_t bytes = 0;
            for (int shift = 0; shift < series_count; ++shift) {
                Series series(run, name, variant, shift);
                for (int number = 0; number < run.options.steps; ++number) {
                    run.progress->step(text_of("%s, %s: step %d of %d", name.c_str(),
                                               variant_name.c_str(), number + 1,
                                               run.options.steps));
                    series.step(number, results);
                }
                series.finish(results);
                bytes = series.bytes();
            }
            report(run, name, variant, bytes, results);
        }
    }
    run.report->note(
        "x: later steps, times as long as Sluice's. Each series of steps gives every rank another "
        "rank's part of the pattern.");
    if (run.options.variants.size() > 1)
        run.report->note(
            "Variants use the same patterns: for first steps that have seen nothing before, run "
            "one --variant at a time.");
}

}  // namespace sluice::bench
