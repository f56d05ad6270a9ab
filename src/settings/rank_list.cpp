// How a list of ranks is read. See rank_list.hpp.
#include "settings/rank_list.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

namespace sluice {
namespace {

std::optional<std::int64_t> parse_rank(std::string_view text) noexcept {
    std::int64_t value = 0;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    bool const whole = error == std::errc() && end == text.data() + text.size();
    return whole && value >= 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<RankList> RankList::parse(std::string const& text) {
    if (text == "all") return all();
    RankList list;
    for (std::size_t at = 0; at <= text.size();) {
        std::size_t const end = std::min(text.find(',', at), text.size());
        std::string_view const range = std::string_view(text).substr(at, end - at);
        std::size_t const dash = std::min(range.find('-'), range.size());
        auto const first = parse_rank(range.substr(0, dash));
        auto const last = dash < range.size() ? parse_rank(range.substr(dash + 1)) : first;
        if (!first || !last || *last < *first) return std::nullopt;
        list.ranges_.emplace_back(*first, *last);
        at = end + 1;
    }
    return list;
}

RankList RankList::all() {
    RankList list;
    list.ranges_.emplace_back(0, std::numeric_limits<std::int64_t>::max());
    return list;
}

bool RankList::contains(std::int64_t rank) const noexcept {
    return std::ranges::any_of(
        ranges_, [&](auto const& range) { return range.first <= rank && rank <= range.second; });
}

}  // namespace sluice
