// One line that is written over itself.
#include "bench/measure/progress.hpp"

#include <algorithm>
#include <cstdio>

namespace sluice::bench {

void Progress::expect(int steps) {
    expected_ = steps;
    begun_ = 0;
}

void Progress::part(std::string const& label) const {
    if (way_ == Way::lines) std::fprintf(stderr, "%s\n", label.c_str());
}

void Progress::step(std::string const& label) {
    constexpr int width = 30;
    int const done = std::min(begun_++, expected_);
    if (way_ != Way::bar || expected_ <= 0) return;
    auto const full = std::size_t(done * width / expected_);
    auto const bar = std::string(full, '#') + std::string(std::size_t(width) - full, '.');
    std::fprintf(stderr, "\r\033[K[%s] %3d %%  %s", bar.c_str(), 100 * done / expected_,
                 label.c_str());
    std::fflush(stderr);
}

void Progress::wipe() const {
    if (way_ != Way::bar) return;
    std::fprintf(stderr, "\r\033[K");
    std::fflush(stderr);
}

}  // namespace sluice::bench
