// A place holds the number below which all calls are complete, and 32 bits for those behind it, in
// one word, so that readers see both as they belong together. See completed_calls.hpp.
#include "behind/completed_calls.hpp"

#include <bit>

namespace sluice {
namespace {

struct Calls {
    std::uint64_t up_to = 0;   ///< All of these.
    std::uint64_t behind = 0;  ///< Bit i: the call `up_to` + 1 + i.
};

constexpr int bits = CompletedCalls::most_ahead;

Calls unpack(std::uint64_t word) noexcept { return {word >> bits, word & 0xffffffffU}; }
std::uint64_t pack(Calls const& calls) noexcept { return calls.up_to << bits | calls.behind; }

bool has_call(Calls const& calls, std::uint64_t call) noexcept {
    if (call <= calls.up_to) return true;
    std::uint64_t const ahead = call - calls.up_to - 1;
    return ahead < bits && (calls.behind >> ahead & 1U) != 0;
}

Calls with(Calls calls, std::uint64_t call) noexcept {
    if (call <= calls.up_to) return calls;
    std::uint64_t ahead = call - calls.up_to - 1;
    if (ahead >= bits) {  // The oldest bits make room.
        std::uint64_t const by = ahead - bits + 1;
        calls.behind = by < bits ? calls.behind >> by : 0;
        calls.up_to += by;
        ahead = bits - 1;
    }
    calls.behind |= std::uint64_t{1} << ahead;
    int const all = std::countr_one(calls.behind);
    return {calls.up_to + static_cast<std::uint64_t>(all), calls.behind >> all};
}

}  // namespace

CompletedCalls::CompletedCalls(std::byte* page) noexcept
    : places_(reinterpret_cast<Place*>(page), bytes / sizeof(Place)) {}

std::optional<std::size_t> CompletedCalls::begin(std::uint64_t opening) noexcept {
    for (std::size_t i = 0; i < places_.size(); ++i) {
        std::uint64_t free = 0;
        if (!places_[i].opening.compare_exchange_strong(free, opening + 1)) continue;
        return i;
    }
    return std::nullopt;
}

void CompletedCalls::end(std::size_t place) noexcept {
    places_[place].calls = 0;
    places_[place].opening = 0;
}

void CompletedCalls::note(std::size_t place, std::int64_t call) noexcept {
    auto& word = places_[place].calls;
    std::uint64_t seen = word;
    while (!word.compare_exchange_weak(
        seen, pack(with(unpack(seen), static_cast<std::uint64_t>(call))))) {
    }
}

bool CompletedCalls::has(NumberedCall const& call) const noexcept {
    if (call.number <= 0) return false;
    for (Place const& place : places_) {
        if (place.opening == call.opening + 1)
            return has_call(unpack(place.calls), static_cast<std::uint64_t>(call.number));
    }
    return false;
}

}  // namespace sluice
