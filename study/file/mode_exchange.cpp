// Mode exchange: one access through a view with each kernel of the exchange between nodes, each
// throttle, the library's own choice, and the MPI's own call, in turn: A B C, B A C, ... Every
// access has a file that is newly opened and a part of the pattern that the access before did not
// have, so that no claims are remembered: metadata are exchanged each time.
#include "study/file/exchange.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace sluice::bench {
namespace {

constexpr int shifts_at_most = 3;  ///< Neighbours in turn have different ones.
constexpr int peer_repeats = 3;    ///< The MPI's own may take a hundred times longer.

/// "two-layer+balanced" of the command line, as the hint says it.
std::string hint_words(std::string words) {
    std::replace(words.begin(), words.end(), '+', ',');
    return words;
}

Variant variant_of(std::string const& kernel, std::string const& throttle) {
    Variant variant{kernel, throttle, {}};
    if (kernel == own_calls) {
        variant.hints = {"sluice=disable"};
    } else if (kernel != library_chooses || throttle != library_chooses) {
        variant.hints = {"sluice_exchange=" + hint_words(kernel) + ",throttle:" + throttle};
    }
    return variant;
}

/// Each kernel with the throttle that the library chooses, then the sweep of throttles with one.
std::vector<Variant> kernels_of(Run const& run) {
    auto const& own = study_options();
    std::vector<Variant> variants{variant_of(library_chooses, library_chooses)};
    for (auto const& kernel : own.kernels) variants.push_back(variant_of(kernel, library_chooses));
    for (auto const& throttle : own.throttles)
        variants.push_back(variant_of(own.throttled_kernel, throttle));
    if (!run.options.no_peer) variants.push_back(variant_of(own_calls, "-"));
    return variants;
}

/// Collective. Reads as many places as the emulated disk remembers, far from each other.
void read_far_away(Run const& run, std::string const& path) {
    constexpr off_t places = 4, apart = 64 << 20;
    if (run.rank == 0) {
        int const file = open(path.c_str(), O_CREAT | O_RDWR, 0600);
        bool fine = file >= 0 && ftruncate(file, (places + 1) * apart) == 0;
        std::array<char, 4096> page{};
        for (off_t i = places; fine && i > 0; --i)
            fine = pread(file, page.data(), page.size(), i * apart) > 0;
        if (file >= 0) close(file);
        unlink(path.c_str());
        if (!fine) run.report->note("where the disk's head was before each access is not known");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/// One pattern in one direction.
class Exchange {
public:
    Exchange(Run& run, std::string const& name, bool writes, std::vector<Variant> const& variants,
             Subject const& subject)
        : run_(run),
          writes_(writes),
          subject_(subject),
          label_(name + (writes ? " write" : " read")),
          path_(run.path[0] + "-exchange") {
        for (int shift = 0; shift < std::min(run.ranks, shifts_at_most); ++shift)
            patterns_.push_back(std::make_unique<Pattern>(run, name, run.bytes(), shift));
        for (auto const& variant : variants) trials_.push_back({variant, {}});
        if (!writes) provide_file();
    }

    std::vector<Trial> measure() {
        auto const& o = run_.options;
        for (int turn = -o.warmup; turn < o.repeat; ++turn)
            for (std::size_t i = 0; i < trials_.size(); ++i) {
                auto& trial = trials_[place_in(turn, i)];
                run_.progress->step(
                    text_of("%s: %d of %d, ", label_.c_str(), std::max(turn + 1, 1), o.repeat) +
                    trial.variant.name + " " + trial.variant.throttle);
                if (is_given_up(trial, turn)) continue;
                auto const sample = access(trial);
                if (turn >= 0) trial.samples.push_back(sample);
                trial.fastest = std::min(trial.fastest, sample.seconds);
            }
        run_.progress->wipe();
        if (!run_.options.keep) remove_file(run_, path_);
        return std::move(trials_);
    }

    [[nodiscard]] std::uint64_t access_bytes() const { return patterns_[0]->access_bytes(); }

private:
    Pattern const& next_pattern() {
        return *patterns_[std::size_t(accesses_++) % patterns_.size()];
    }

    /// Each turn begins with another one, and every second goes the other way: who comes first or
    /// later, and after whom, is not to decide.
    [[nodiscard]] std::size_t place_in(int turn, std::size_t i) const {
        constexpr std::size_t step = 3;
        auto const count = trials_.size();
        auto const number = std::size_t(turn) + std::size_t(run_.options.warmup);
        return ((number % 2 == 0 ? i : count - 1 - i) + number * step) % count;
    }

    /// All ranks know the same times.
    [[nodiscard]] bool is_given_up(Trial const& trial, int turn) const {
        if (trial.variant.name == own_calls && turn >= peer_repeats) return true;
        Patience const& patience = subject_.patience;
        bool const tried = patience.times > 0 && turn >= patience.turns;
        if (!tried || trial.fastest < patience.seconds) return false;
        double fastest = trial.fastest;
        for (auto const& other : trials_) fastest = std::min(fastest, other.fastest);
        return trial.fastest > patience.times * fastest;
    }

    /// What reads find does not depend on who reads which part.
    void provide_file() {
        auto const own = mpi_contender("", path_, {"sluice=disable"});
        auto buffer = patterns_[0]->access_buffer();
        own->provide_file(run_, *patterns_[0], buffer, seed_);
    }

    Sample access(Trial& trial) {
        if (subject_.repeats) {
            read_far_away(run_, path_ + "-far");
            transfer(trial, next_pattern());
        }
        return transfer_and_compare(trial, next_pattern());
    }

    Sample transfer_and_compare(Trial& trial, Pattern const& pattern) {
        auto [sample, buffer] = transfer(trial, pattern);
        trial.wrong += writes_ ? pattern.wrong_in_file(run_, path_, seed_)
                               : sum_over_ranks(pattern.wrong_in_access(buffer, seed_));
        return sample;
    }

    /// And the memory after it.
    std::pair<Sample, std::vector<double>> transfer(Trial& trial, Pattern const& pattern) {
        auto buffer = pattern.access_buffer();
        if (writes_)
            pattern.fill_access(buffer, ++seed_);
        else
            std::fill(buffer.begin(), buffer.end(), untouched);
        Sample sample;
        OpenFile file(run_, path_, trial.variant.hints);
        set_view(file.handle, 0, pattern, file.hints.info);
        auto const wire = wire_counters();
        sample.seconds = time_together([&] { run_access(file.handle, pattern, buffer, writes_); });
        sample.wire_bytes = max_over_ranks(most_moved(wire, wire_counters()));
        if (trial.variant.name != own_calls) observe(file.handle, sample, trial.plan);
        return {sample, std::move(buffer)};
    }

    Run& run_;
    bool writes_;
    Subject const& subject_;
    std::string label_, path_;
    std::vector<std::unique_ptr<Pattern>> patterns_;  ///< By shift.
    std::vector<Trial> trials_;
    std::uint64_t accesses_ = 0, seed_ = first_seed;
};

}  // namespace

void measure_variants(Run& run, Subject const& subject, std::vector<Variant> const& variants) {
    auto const names = patterns_of(run);
    auto const& o = run.options;
    auto const turns = std::size_t(o.warmup) + std::size_t(o.repeat);
    run.progress->expect(int(names.size() * o.directions.size() * variants.size() * turns));
    if (!run.served) run.report->note("without Sluice all lines are the MPI's own");
    for (auto const& name : names)
        for (auto const& direction : o.directions) {
            Exchange exchange(run, name, direction == "write", variants, subject);
            auto const bytes = exchange.access_bytes();
            subject.report(run, {name, direction, bytes, exchange.measure(), subject});
        }
}

void mode_exchange(Run& run) { measure_variants(run, {"exchange", "kernel"}, kernels_of(run)); }

}  // namespace sluice::bench
