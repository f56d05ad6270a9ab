// Levenshtein's distance, row by row. Pure.
#include "core/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sluice {
namespace {

std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            std::size_t const replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({row[j] + 1, diagonal + 1, replaced});
        }
    }
    return row.back();
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
