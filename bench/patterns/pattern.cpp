// Patterns by name. See pattern.hpp.
#include "bench/patterns/pattern.hpp"

#include "base/nearest.hpp"
#include "bench/patterns/e3sm_grid.hpp"
#include "bench/patterns/shapes.hpp"

namespace sluice::patterns {
namespace {

struct Maker {
    char const* name;
    Shape (*make)(Place const&);
};

constexpr std::array makers{
    Maker{"contiguous", contiguous}, Maker{"strided", strided},  Maker{"block3d", blocks},
    Maker{"lattice4d", blocks},      Maker{"lattice5d", blocks}, Maker{"btio", btio},
    Maker{"irregular", irregular},   Maker{"random", random},    Maker{"e3sm", e3sm},
    Maker{"e3sm-f", e3sm_grid},      Maker{"e3sm-g", e3sm_grid}, Maker{"e3sm-i", e3sm_grid},
    Maker{"holes", holes},           Maker{"flash", flash},      Maker{"sparse", sparse},
};

Maker const* maker_of(std::string const& name) noexcept {
    auto const* const found = std::find_if(makers.begin(), makers.end(),
                                           [&](Maker const& maker) { return name == maker.name; });
    return found == makers.end() ? nullptr : found;
}

std::string no_such_pattern(std::string const& name) {
    std::vector<std::string_view> names;
    std::string all;
    for (Maker const& maker : makers) {
        names.emplace_back(maker.name);
        all += (all.empty() ? "" : ", ") + std::string(maker.name);
    }
    auto const meant = nearest(name, names);
    return "there is no pattern '" + name + "'; " +
           (meant ? "did you mean " + std::string(*meant) + "?" : "there are " + all);
}

}  // namespace

std::vector<std::string> const& pattern_names() {
    static std::vector<std::string> const names = [] {
        std::vector<std::string> all;
        for (Maker const& maker : makers) all.emplace_back(maker.name);
        return all;
    }();
    return names;
}

std::string why_not(PatternSpec const& spec, Rank ranks) {
    if (maker_of(spec.name) == nullptr) return no_such_pattern(spec.name);
    if (ranks < 1) return "needs at least one rank";
    if (spec.bytes < 1 || spec.piece_bytes < 1) return "needs at least one byte a rank and a piece";
    if (spec.name == "btio" && square_root(ranks) == 0)
        return "needs a square number of ranks, not " + std::to_string(ranks);
    if (spec.name == "e3sm") return spec.decomposition.variable(spec.decomposition_number).error;
    return "";
}

Request make_request(PatternSpec const& spec, Rank rank, Rank ranks, Direction direction) {
    Shape shape = maker_of(spec.name)->make({spec, rank, ranks});
    Request request;
    request.direction = direction;
    request.view.displacement = shape.displacement;
    request.view.etype_bytes = shape.element_bytes;
    request.bytes = shape.pieces.bytes() * shape.tiles;
    request.view.filetype = std::make_shared<Layout const>(std::move(shape.pieces), shape.extent);
    return request;
}

}  // namespace sluice::patterns
