// Mode compare: Sluice, the MPI's own calls with default hints, with the best hints of a grid, and
// in a helper thread, an exchange by hand, and the machine's limit, in turn: A B C D E, then
// backwards. First calls (of a new file and a new type) are measured apart from repeated ones. From
// a GPU the contenders are Sluice, Sluice from the host, copies by hand, the MPI's own where it
// reaches GPUs, and the limit.
#include <algorithm>
#include <limits>

#include "bench/file/buffer.hpp"
#include "bench/file/compare.hpp"
#include "bench/file/mpi_devices.hpp"

namespace sluice::bench {
namespace {

using Contenders = std::vector<std::unique_ptr<Contender>>;

bool wanted(Run const& run, char const* name) {
    auto const& names = run.options.contenders;
    return std::find_if(names.begin(), names.end(), [&](std::string const& asked) {
               return asked == name || (asked == "best" && std::string(name) == best_name) ||
                      (asked == "alltoallv" && std::string(name) == by_hand_name);
           }) != names.end();
}

std::vector<std::string> own_hints(std::vector<std::string> hints) {
    hints.insert(hints.begin(), "sluice=disable");
    return hints;
}

/// One pattern in one direction.
class Match {
public:
    Match(Run& bench_run, std::string const& name, bool writes)
        : run_(bench_run),
          writes_(writes),
          label_(name + (writes ? " write" : " read")),
          name_(name) {
        renew_pattern(0);
    }

    Comparison measure() {
        auto const best = wanted(run_, best_name) ? best_hints() : std::vector<std::string>();
        enter_contenders(best);
        if (!writes_)
            for (auto& contender : contenders_)
                contender->provide_file(run_, *pattern_, buffer_->host(), seed_);
        measure_first();
        measure_repeated();
        for (auto& contender : contenders_) {
            contender->close();
            if (!run_.options.keep) remove_file(run_, contender->path);
        }
        Comparison comparison{name_, writes_ ? "write" : "read", pattern_->access_bytes(), 0,
                              std::move(scores_)};
        comparison.pieces =
            sum_over_ranks(pattern_->row_pieces() * std::uint64_t(pattern_->rows()));
        return comparison;
    }

private:
    void renew_pattern(int shift) {
        pattern_.reset();  // first, so that no MPI finds the old type again
        pattern_ = std::make_unique<Pattern>(run_, name_, run_.bytes(), shift);
        buffer_.reset();
        buffer_ = std::make_unique<Buffer>(run_, pattern_->access_words());
    }

    void enter(std::unique_ptr<Contender> contender, std::vector<std::string> const& hints) {
        scores_.push_back({contender->name, joined(hints), {}, {}, {}, 0});
        contenders_.push_back(std::move(contender));
    }

    void enter_contenders(std::vector<std::string> const& best) {
        if (run_.on_device()) return enter_contenders_on_device();
        auto const stem = run_.path[0];
        if (wanted(run_, sluice_name)) enter(mpi_contender(sluice_name, stem + "-a", {}), {});
        if (wanted(run_, default_name))
            enter(mpi_contender(default_name, stem + "-b", own_hints({})), {});
        if (wanted(run_, best_name))
            enter(mpi_contender(best_name, stem + "-c", own_hints(best)), best);
        if (wanted(run_, thread_name) && run_.threads)
            enter(thread_contender(thread_name, stem + "-d", own_hints({})), {});
        if (wanted(run_, by_hand_name) && !pattern_->has_holes())
            enter(by_hand_contender(by_hand_name, stem + "-f"), {});
        if (wanted(run_, limit_name)) enter(limit_contender(limit_name, stem + "-e"), {});
    }

    void enter_contenders_on_device() {
        auto const stem = run_.path[0];
        auto const staged = [&](char const* name, char const* end,
                                std::vector<std::string> const& hints, bool is_pinned) {
            if (!wanted(run_, name)) return;
            enter(staged_contender(mpi_contender(name, stem + end, hints), *run_.gpu, is_pinned),
                  {});
        };
        if (wanted(run_, sluice_name)) enter(mpi_contender(sluice_name, stem + "-a", {}), {});
        if (wanted(run_, host_name)) {
            enter(mpi_contender(host_name, stem + "-b", {}), {});
            contenders_.back()->from_host = true;
        }
        staged(pinned_name, "-c", {}, true);
        staged(pageable_name, "-d", {}, false);
        staged(default_pinned_name, "-e", own_hints({}), true);
        if (wanted(run_, default_name) && mpi_reaches_devices())
            enter(mpi_contender(default_name, stem + "-f", own_hints({})), {});
        if (wanted(run_, limit_name) && has_device_limit())
            enter(device_limit_contender(limit_name, *run_.gpu), {});
    }

    /// What lies in gaps would be copied as well.
    [[nodiscard]] bool has_device_limit() const { return pattern_->memory == MPI_DOUBLE; }

    std::span<double> memory_of(Contender const& contender) {
        return contender.from_host ? buffer_->host() : buffer_->memory();
    }

    /// One access of a file that is open, from the start on.
    double access(Contender& contender, std::uint64_t& wrong) {
        contender.rewind();
        prepare_buffer();
        auto const memory = memory_of(contender);
        double const seconds = time_together([&] { contender.access(*pattern_, memory, writes_); });
        contender.settle();
        wrong += wrong_after_read(contender);
        return seconds;
    }

    void prepare_buffer() {
        if (writes_)
            pattern_->fill_access(buffer_->host(), ++seed_);
        else
            std::ranges::fill(buffer_->host(), untouched);
        buffer_->bring_to_memory();
    }

    std::uint64_t wrong_after_read(Contender const& contender) {
        if (writes_) return 0;
        if (!contender.from_host) buffer_->bring_to_host();
        return sum_over_ranks(pattern_->wrong_in_access(buffer_->host(), seed_));
    }

    /// The hints of the grid with the shortest median.
    std::vector<std::string> best_hints() {
        return best_of_grid(run_, label_, [this](auto const& hints, double enough) {
            return seconds_with(hints, enough);
        });
    }

    double seconds_with(std::vector<std::string> const& hints, double enough) {
        auto const contender = mpi_contender("grid", run_.path[0] + "-grid", own_hints(hints));
        if (!writes_) contender->provide_file(run_, *pattern_, buffer_->host(), seed_);
        contender->open(run_, *pattern_);
        std::uint64_t ignored = 0;  // the winner is checked when it is measured
        double median = access(*contender, ignored);
        if (median < enough) {
            std::vector<double> seconds;
            for (int i = 0; i < run_.options.grid_repeat; ++i)
                seconds.push_back(access(*contender, ignored));
            median = summary_of(seconds).median;
        }
        contender->close();
        remove_file(run_, contender->path);
        return median;
    }

    /// Each sample gives every rank another rank's part of the pattern: a plan or a list that was
    /// kept from the sample before is of no use.
    void measure_first() {
        int const samples = std::min(run_.options.first, run_.ranks);
        for (int sample = 0; sample < samples; ++sample)
            for (std::size_t i = 0; i < contenders_.size(); ++i) {
                run_.progress->step(label_ + ": first calls, " + contenders_[i]->name);
                renew_pattern(sample);
                first_of(*contenders_[i], scores_[i]);
            }
    }

    void first_of(Contender& contender, Score& score) {
        contender.close();
        if (writes_) remove_file(run_, contender.path);
        if (!writes_ && contender.name == limit_name)  // its file is in the order of the ranks
            contender.provide_file(run_, *pattern_, buffer_->host(), seed_);
        prepare_buffer();
        contender.prepare(*pattern_);
        auto const memory = memory_of(contender);
        double begin = 0, end = 0;
        score.first.push_back(time_together([&] {
            contender.open(run_, *pattern_);
            begin = now();
            contender.access(*pattern_, memory, writes_);
            end = now();
        }));
        score.first_call.push_back(span_over_ranks(begin, end));
        score.wrong +=
            writes_ ? contender.wrong_in_file(run_, *pattern_, seed_) : wrong_after_read(contender);
    }

    void measure_repeated() {
        auto const& o = run_.options;
        for (int repeat = -o.warmup; repeat < o.repeat; ++repeat)
            for (std::size_t turn = 0; turn < contenders_.size(); ++turn) {
                // Whoever comes later finds warmer caches.
                auto const i = repeat % 2 == 0 ? turn : contenders_.size() - 1 - turn;
                run_.progress->step(
                    text_of("%s: %d of %d, ", label_.c_str(), std::max(repeat + 1, 1), o.repeat) +
                    contenders_[i]->name);
                double const seconds = access(*contenders_[i], scores_[i].wrong);
                if (repeat >= 0) scores_[i].repeated.push_back(seconds);
                if (writes_ && repeat == o.repeat - 1)
                    scores_[i].wrong += contenders_[i]->wrong_in_file(run_, *pattern_, seed_);
            }
    }

    Run& run_;
    bool writes_;
    std::string label_, name_;
    std::unique_ptr<Pattern> pattern_;
    std::unique_ptr<Buffer> buffer_;
    std::uint64_t seed_ = 1;  ///< Of the last contents that were written.
    Contenders contenders_;
    std::vector<Score> scores_;
};

int steps_of_match(Run const& run) {
    auto const& o = run.options;
    auto const contenders = int(o.contenders.size());
    int const grid = wanted(run, best_name) ? int(hint_grid(run.ranks).size()) : 0;
    return grid + contenders * (std::min(o.first, run.ranks) + o.warmup + o.repeat);
}

}  // namespace

std::vector<std::string> contender_words(bool on_device) {
    if (!on_device)
        return {sluice_name, default_name, "best", thread_name, "alltoallv", limit_name};
    return {sluice_name,         host_name,    pinned_name, pageable_name,
            default_pinned_name, default_name, limit_name};
}

void mode_compare(Run& run) {
    if (wanted(run, thread_name) && !run.threads)
        run.report->note(
            "thread left out: the MPI does not give MPI_THREAD_MULTIPLE, or it was not asked for");
    auto const names = patterns_of(run);
    run.progress->expect(steps_of_match(run) * int(names.size() * run.options.directions.size()));
    start_comparisons(run);
    std::vector<Comparison> all;
    for (auto const& name : names)
        for (auto const& direction : run.options.directions) {
            all.push_back(Match(run, name, direction == "write").measure());
            report_comparison(run, all.back());
        }
    report_means(run, all);
}

}  // namespace sluice::bench
