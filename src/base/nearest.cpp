// Levenshtein's distance with swaps of neighbours, computed row by row. See nearest.hpp.
#include "base/nearest.hpp"

#include <algorithm>

namespace sluice {
namespace {

std::size_t distance(std::string_view from, std::string_view to) {
    // Rows of the table of distances between prefixes: of two characters ago, one ago, and now.
    std::vector<std::size_t> older(to.size() + 1), old(to.size() + 1), now(to.size() + 1);
    for (std::size_t j = 0; j <= to.size(); ++j) now[j] = j;
    for (std::size_t i = 1; i <= from.size(); ++i) {
        older.swap(old);
        old.swap(now);
        now[0] = i;
        for (std::size_t j = 1; j <= to.size(); ++j) {
            std::size_t const replaced = old[j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
            now[j] = std::min({old[j] + 1, now[j - 1] + 1, replaced});
            bool const swapped =
                i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
            if (swapped) now[j] = std::min(now[j], older[j - 2] + 1);
        }
    }
    return now[to.size()];
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view word,
                                        std::vector<std::string_view> const& names) {
    std::optional<std::string_view> best;
    std::size_t least = word.size() / 3 + 1;
    for (std::string_view const name : names) {
        std::size_t const far = distance(word, name);
        if (far < least) best = name, least = far;
    }
    return best;
}

}  // namespace sluice
