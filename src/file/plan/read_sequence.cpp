// How periods are found. See read_sequence.hpp.
#include "file/plan/read_sequence.hpp"

namespace sluice {
namespace {

constexpr std::size_t kept = 2 * ReadSequence::most_period;

}  // namespace

Request moved(Request request, Offset distance) {
    request.view.displacement += distance;
    return request;
}

ReadSequence::Made const& ReadSequence::before(int reads) const noexcept {
    return made_[made_.size() - 1 - static_cast<std::size_t>(reads)];
}

void ReadSequence::add(Request const& request) {
    Made now{request, {}};
    now.request.memory = Layout::contiguous();
    for (int period = 1; period <= most_period; ++period) {
        auto const at = static_cast<std::size_t>(period);
        if (made_.size() < at) break;
        Made const& earlier = before(period - 1);
        now.from[at] = distance_between(earlier.request, request);
        bool const foretold = now.from[at] && now.from[at] == earlier.from[at];
        right_[at] = foretold ? right_[at] + 1 : 0;
    }
    made_.push_back(std::move(now));
    if (made_.size() > kept) made_.pop_front();
}

/// The period that was right for longest; of equals the shortest. Before any was right, the
/// shortest of which one repetition was seen.
ReadSequence::Best ReadSequence::best() const noexcept {
    Best found;
    for (int period = 1; period <= most_period; ++period) {
        auto const at = static_cast<std::size_t>(period);
        bool const repeats = !made_.empty() && before(0).from[at].has_value();
        if (repeats && (found.period == 0 || right_[at] > found.right))
            found = {period, right_[at]};
    }
    return found;
}

std::optional<Request> ReadSequence::next(int ahead) const {
    int const period = best().period;
    if (period == 0) return std::nullopt;
    int const repetitions = (ahead + period - 1) / period;
    int const reads_before = repetitions * period - ahead;
    if (static_cast<std::size_t>(reads_before) >= made_.size()) return std::nullopt;
    Made const& pattern = before(reads_before);
    auto const& distance = pattern.from[static_cast<std::size_t>(period)];
    if (!distance) return std::nullopt;
    return moved(pattern.request, *distance * repetitions);
}

}  // namespace sluice
