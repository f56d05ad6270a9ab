// How lists of cores are read, and sets of cores computed. See affinity.hpp.
#include "base/affinity.hpp"

#include <bit>
#include <charconv>

namespace sluice {

int Cores::count() const noexcept {
    int all = 0;
    for (std::uint64_t const word : words_) all += std::popcount(word);
    return all;
}

Cores Cores::without(Cores const& others) const noexcept {
    Cores left = *this;
    for (std::size_t i = 0; i < words_.size(); ++i) left.words_[i] &= ~others.words_[i];
    return left;
}

Cores Cores::also_in(Cores const& others) const noexcept {
    Cores both = *this;
    for (std::size_t i = 0; i < words_.size(); ++i) both.words_[i] &= others.words_[i];
    return both;
}

std::string Cores::text() const {
    std::string all;
    for (int first = 0; first < most; ++first) {
        if (!contains(first)) continue;
        int last = first;
        while (contains(last + 1)) ++last;
        all += (all.empty() ? "" : ",") + std::to_string(first);
        if (last > first) all += "-" + std::to_string(last);
        first = last;
    }
    return all;
}

std::optional<Cores> parse_cores(std::string const& text) {
    Cores cores;
    char const* at = text.data();
    char const* const end = at + text.size();
    auto const number = [&at, end](int& value) {
        auto const [rest, error] = std::from_chars(at, end, value);
        bool const found = error == std::errc{} && *at != '-' && value < Cores::most;
        at = rest;
        return found;
    };
    for (;;) {
        int first = 0;
        if (at == end || !number(first)) return std::nullopt;
        int last = first;
        if (at != end && *at == '-') {
            ++at;
            if (at == end || !number(last)) return std::nullopt;
        }
        if (last < first) return std::nullopt;
        for (int core = first; core <= last; ++core) cores.add(core);
        if (at == end) return cores;
        if (*at++ != ',') return std::nullopt;
    }
}

std::optional<Affinity> parse_affinity(std::string const& text) {
    if (text == "inherit") return Affinity{};
    if (text == "spread") return Affinity{Affinity::Way::spread, {}};
    auto const list = parse_cores(text);
    if (!list) return std::nullopt;
    return Affinity{Affinity::Way::list, *list};
}

Cores choose_cores(Affinity const& affinity, CoresSeen const& seen) {
    Cores chosen;
    if (affinity.way == Affinity::Way::list) {
        chosen = seen.online.empty() ? affinity.list : affinity.list.also_in(seen.online);
    } else if (affinity.way == Affinity::Way::spread && !seen.taken.empty()) {
        chosen = seen.allowed.without(seen.taken);
        if (chosen.empty()) chosen = seen.online.without(seen.taken);
    }
    return chosen.empty() ? seen.allowed : chosen;
}

bool has_spare_cores(int cores, long ranks, int threads_of_a_rank) noexcept {
    return cores >= ranks * (threads_of_a_rank + 1L);
}

}  // namespace sluice
