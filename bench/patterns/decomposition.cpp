// Decoding of decompositions. See decomposition.hpp.
#include "bench/patterns/decomposition.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

namespace sluice::patterns {
namespace {

constexpr std::size_t ranks_at_most = std::size_t{1} << 20;  ///< A typing error costs no memory.

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
        if (static_cast<std::size_t>(rank) >= ranks_at_most) return false;
        if (words == 0) continue;
        parts[static_cast<int>(number)].push_back({offset, words, static_cast<std::size_t>(rank)});
    }
    return true;
}

/// Every element once and no holes: who checks a file's bytes relies on it.
Decomposition::Variable make_variable(std::vector<Part>& parts) {
    Decomposition::Variable variable;
    std::sort(parts.begin(), parts.end(),
              [](Part const& a, Part const& b) { return a.offset < b.offset; });
    std::size_t ranks = 0;
    std::int64_t words = 0;
    for (Part const& part : parts) {
        ranks = std::max(ranks, part.rank + 1);
        if (part.offset != words)
            variable.error = "the decomposition does not hold every element exactly once";
        words += part.words;
    }
    if (!variable.error.empty()) return variable;
    std::vector<Extents> all(ranks);
    for (Part const& part : parts) {
        all[part.rank].add({part.offset * word_bytes, part.words * word_bytes, 0, 1});
    }
    for (Extents& extents : all) variable.parts.push_back(std::move(extents).take());
    variable.bytes = words * word_bytes;
    return variable;
}

Decomposition::Variable unusable(std::string why) {
    Decomposition::Variable variable;
    variable.error = std::move(why);
    return variable;
}

}  // namespace

Decomposition::Decomposition(std::string const& text) {
    Parts parts;
    auto decoded = std::make_shared<Decoded>();
    decoded->understood = read_parts(text, parts);
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
