// Files of decompositions: which rank of some job held which elements, and the patterns that are
// made of them.
#include "bench/patterns/pattern.hpp"
#include "fuzz.hpp"

namespace sluice::fuzz {
namespace {

using patterns::Decomposition;

void try_pattern(Decomposition const& decomposition, int number, Bytes bytes) {
    constexpr Rank ranks = 3;
    patterns::PatternSpec spec;
    spec.name = "e3sm";
    spec.decomposition = decomposition;
    spec.decomposition_number = number;
    spec.bytes = bytes;
    if (!patterns::why_not(spec, ranks).empty()) return;
    for (Rank rank = 0; rank < ranks; ++rank) {
        auto const request = patterns::make_request(spec, rank, ranks, Direction::write);
        require(request.bytes >= 0, "a request has bytes");
    }
}

void try_text(std::string const& text) {
    Decomposition const decomposition(text);
    for (int number = 0; number < 5; ++number) {
        auto const& variable = decomposition.variable(number);
        if (!variable.error.empty()) continue;
        Bytes sum = 0;
        for (Sections const& part : variable.parts) sum += part.bytes();
        require(sum == variable.bytes, "the ranks hold all bytes together", text);
        require(sum > 0, "a variable has bytes", text);
        if (variable.parts.size() <= 1024 && sum <= 65536) try_pattern(decomposition, number, sum);
    }
}

}  // namespace
}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    sluice::fuzz::try_text(sluice::fuzz::text_of(data, size));
    return 0;
}
