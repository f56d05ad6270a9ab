// Decoding of decompositions. See decomposition.hpp.
#include "bench/patterns/decomposition.hpp"

#include "base/layout.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

namespace sluice::patterns {
namespace {

// A typing error costs no memory, and no sum of offsets overflows.
constexpr std::size_t ranks_at_most = std::size_t{1} << 20;  ///< Of all decompositions together.
constexpr std::int64_t words_at_most = offset_limit / word_bytes / 2;

/// `words` elements at element `offset`, of one rank.
struct Part {
    std::int64_t offset, words;
    std::size_t rank;
};

using Parts = std::map<int, std::vector<Part>>;  ///< By the decomposition's number.

std::optional<std::array<std::int64_t, 4>> numbers_of(std::string_view line) {
    std::array<std::int64_t, 4> numbers{};
    char const* at = line.data();
    char const* const end = at + line.size();
    for (auto& number : numbers) {
        while (at != end && (*at == ' ' || *at == '\t')) ++at;
        auto const [rest, error] = std::from_chars(at, end, number);
        if (error != std::errc{} || number < 0) return std::nullopt;
        at = rest;
    }
    return numbers;
}

/// Whether all lines are understood.
bool read_parts(std::string_view text, Parts& parts) {
    while (!text.empty()) {
        auto const length = std::min(text.find('\n'), text.size());
        auto const line = text.substr(0, length);
        text.remove_prefix(std::min(length + 1, text.size()));
        if (line.empty() || line.front() == '#') continue;
        auto const numbers = numbers_of(line);
        if (!numbers) return false;
        auto const& [number, rank, offset, words] = *numbers;
        bool const fits = number <= std::numeric_limits<int>::max() &&
                          static_cast<std::size_t>(rank) < ranks_at_most &&
                          offset <= words_at_most && words <= words_at_most;
        if (!fits) return false;
        if (words == 0) continue;
        parts[static_cast<int>(number)].push_back({offset, words, static_cast<std::size_t>(rank)});
    }
    return true;
}

Decomposition::Variable unusable(std::string why) {
    Decomposition::Variable variable;
    variable.error = std::move(why);
    return variable;
}

std::size_t rank_count(std::vector<Part> const& parts) {
    return std::ranges::max(parts, {}, &Part::rank).rank + 1;
}

/// Every element once and no holes: who checks a file's bytes relies on it.
Decomposition::Variable make_variable(std::vector<Part>& parts) {
    std::ranges::sort(parts, {}, &Part::offset);
    std::int64_t words = 0;
    for (Part const& part : parts) {
        if (part.offset != words)
            return unusable("the decomposition does not hold every element exactly once");
        words += part.words;
    }
    Decomposition::Variable variable;
    variable.bytes = words * word_bytes;
    variable.parts.resize(rank_count(parts));
    std::ranges::stable_sort(parts, {}, &Part::rank);
    for (auto at = parts.begin(); at != parts.end();) {
        Extents extents;  // Of one rank after the other: it has room for much more than most need.
        std::size_t const rank = at->rank;
        for (; at != parts.end() && at->rank == rank; ++at)
            extents.add({at->offset * word_bytes, at->words * word_bytes, 0, 1});
        variable.parts[rank] = std::move(extents).take();
    }
    return variable;
}

}  // namespace

Decomposition::Decomposition(std::string const& text) {
    Parts parts;
    auto decoded = std::make_shared<Decoded>();
    std::size_t ranks = 0;
    decoded->understood =
        read_parts(text, parts) && std::ranges::all_of(parts, [&](auto const& variable) {
            return (ranks += rank_count(variable.second)) <= ranks_at_most;
        });
    if (!decoded->understood) parts.clear();
    for (auto& [number, list] : parts) decoded->variables.emplace(number, make_variable(list));
    decoded_ = std::move(decoded);
}

Decomposition::Variable const& Decomposition::variable(int number) const {
    static Variable const
        none = unusable("it needs a decomposition, and none is given"),
        damaged = unusable("the decomposition has a line that is not `number rank offset length`"),
        missing = unusable("the decomposition file has none of that number");
    if (!decoded_) return none;
    if (!decoded_->understood) return damaged;
    auto const found = decoded_->variables.find(number);
    return found == decoded_->variables.end() ? missing : found->second;
}

}  // namespace sluice::patterns
