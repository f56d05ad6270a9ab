// Seeds of random tests. Each run draws new ones, prints the first, and does the same again where
// SLUICE_TEST_SEED says it. With SLUICE_TEST_SAMPLE a run tries a sample of the cases: `make test`
// does that under the sanitizers, which slow simulations down, as the build without them tries all.
#pragma once
#include <chrono>
#include <cstdlib>
#include <random>

namespace sluice::testing {

/// Of this run.
inline unsigned run_seed() {
    static unsigned const seed = [] {
        char const* const said = std::getenv("SLUICE_TEST_SEED");
        return said ? static_cast<unsigned>(std::strtoul(said, nullptr, 10))
                    : std::random_device()() >> 1;
    }();
    return seed;
}

/// What a sample leaves out is one in so many.
inline constexpr unsigned one_in = 8;

inline bool is_sample() {
    static bool const sample = std::getenv("SLUICE_TEST_SAMPLE") != nullptr;
    return sample;
}

/// Whether a case of a test with many stays out of the sample.
inline bool is_left_out() {
    static std::minstd_rand random(run_seed());
    return is_sample() && random() % one_in != 0;
}

/// The seeds of a test's cases: so many from the run's on, fewer in a sample. The long tests go on
/// for some seconds in place of a number.
class FreshSeeds {
public:
    explicit FreshSeeds(unsigned cases) : end_(run_seed() + count_of(cases)) {}

    class Iterator {
    public:
        Iterator(unsigned seed, FreshSeeds const& all) : seed_(seed), all_(&all) {}
        unsigned operator*() const { return seed_; }
        Iterator& operator++() {
            ++seed_;
            return *this;
        }
        bool operator!=(Iterator const&) const { return !all_->ends_at(seed_); }

    private:
        unsigned seed_;
        FreshSeeds const* all_;
    };
    [[nodiscard]] Iterator begin() const { return {run_seed(), *this}; }
    [[nodiscard]] Iterator end() const { return {end_, *this}; }

private:
    using Clock = std::chrono::steady_clock;

    static unsigned count_of(unsigned cases) {
        return is_sample() ? (cases + one_in - 1) / one_in : cases;
    }
    [[nodiscard]] bool ends_at(unsigned seed) const {
        static bool const goes_on = std::getenv("SLUICE_TEST_LONG") != nullptr;
        return seed >= end_ && !(goes_on && Clock::now() < until_);
    }
    unsigned end_;
    Clock::time_point until_ = Clock::now() + std::chrono::seconds(20);
};

}  // namespace sluice::testing

/// First in a test that is long and by itself, or is one of many: a sample does some of them.
#define SKIP_OUTSIDE_SAMPLE()                                                                      \
    if (::sluice::testing::is_left_out()) GTEST_SKIP() << "not in this sample"
