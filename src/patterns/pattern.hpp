// Access patterns of known programs, for any number of ranks: what each rank asks of one collective
// call, as views and layouts. Pure: no MPI, no clock; a decomposition is handed in as text.
#pragma once
#include "core/request.hpp"
#include "core/topology.hpp"

#include <string>
#include <vector>

namespace sluice::patterns {

struct PatternSpec {
    std::string name = "strided";  ///< One of pattern_names().
    Bytes bytes = Bytes{1} << 20;  ///< Of each rank, rounded to what the pattern can tile with.
    Bytes piece_bytes = 4096;      ///< strided only.
    std::string decomposition;     ///< e3sm only: the text of a decomposition file.
};

[[nodiscard]] std::vector<std::string> const& pattern_names();

/// Why the pattern is not possible with this number of ranks; empty: it is.
[[nodiscard]] std::string why_not(PatternSpec const& spec, Rank ranks);

/// One rank's part of one collective call. Linear in the rank's own pieces, whatever `ranks` is.
[[nodiscard]] Request make_request(PatternSpec const& spec, Rank rank, Rank ranks,
                                   Direction direction);

}  // namespace sluice::patterns
