// Access patterns of known programs, for any number of ranks: what each rank asks of one collective
// call, as views and layouts. Pure: no MPI, no clock; a decomposition is handed in as text.
#pragma once
#include "base/request.hpp"
#include "base/topology.hpp"
#include "bench/patterns/decomposition.hpp"

#include <string>
#include <vector>

namespace sluice::patterns {

struct PatternSpec {
    std::string name = "strided";  ///< One of pattern_names().
    Bytes bytes = Bytes{1} << 20;  ///< Of each rank, rounded to what the pattern can tile with.
    Bytes piece_bytes = 4096;      ///< strided, sparse, random; irregular: on average.
    std::uint64_t seed = 1;        ///< irregular, random, e3sm-f, -g and -i.
    bool published = false;        ///< btio, flash: at the size of the papers, see below.
    Bytes element_bytes = 0;       ///< e3sm-f, -g and -i; 0: of the case.
    Decomposition decomposition;   ///< e3sm: made from the text of a decomposition file.
    int decomposition_number = 3;  ///< e3sm: which one of the text.
};

/// In the order in which they are measured:
/// contiguous  one block a rank.
/// strided     pieces in turn: rank 0's, rank 1's, ...
/// block3d     a 3-D array, one block a rank.
/// btio        NAS BT-IO: a 3-D array in p x p x p cells for p x p ranks, each with p cells along a
///             diagonal; 5 doubles a point.
/// irregular   pieces of different lengths at places without an order.
/// random      every block of the file belongs to a rank drawn by lot, as many to each.
/// e3sm        a captured decomposition, repeated for more ranks than it has, copy after copy, and
///             folded for fewer, neighbours together. Many variables follow each other in the file.
/// e3sm-f      and e3sm-g, e3sm-i: E3SM's atmosphere, ocean and land at the size of production runs
///             (21,600, 9,600 and 1,344 ranks): short runs of points, drawn by lot, for any number
///             of ranks. `bytes` says how much of the file one call has, from its beginning.
/// lattice4d   a gauge field of lattice QCD, one block of sites a rank, in the order of the whole
///             lattice; a site has 576 bytes.
/// lattice5d   a domain-wall fermion field: eight such lattices of 192 bytes a site, one after the
///             other; each rank has its block of every one.
/// holes       a list of single words: every second one of a part of the file that is the rank's
///             own. The words between belong to nobody.
/// flash       FLASH-IO: 24 variables, a block of each for every rank, in one call, as PnetCDF's
///             nonblocking interface combines them; 80 blocks of 8 x 8 x 8 doubles are 7.5 MiB.
/// sparse      an eighth of the ranks hold 7/8 of the bytes, close together; the rest is in single
///             pieces with large holes, over nine times as long a stretch.
/// As published, btio has 1024 x 1024 x 1024 points and flash 80 blocks a rank in each variable;
/// then `bytes` says how much of that one call has: the first planes, the first variables.
[[nodiscard]] std::vector<std::string> const& pattern_names();

/// Why the pattern is not possible with this number of ranks; empty: it is.
[[nodiscard]] std::string why_not(PatternSpec const& spec, Rank ranks);

/// One rank's part of one collective call; the pattern must be possible. Linear in the rank's own
/// pieces, whatever `ranks` is; those of a decomposition are shared with other ranks. The view's
/// tiles hold all ranks' bytes, so a second call at the position behind goes on in the file. Memory
/// has no gaps.
[[nodiscard]] Request make_request(PatternSpec const& spec, Rank rank, Rank ranks,
                                   Direction direction);

/// An array of elements, row by row, in blocks that are alike: one a rank, in the order of ranks.
struct BlockArray {
    std::vector<Rank> grid;    ///< Of ranks, in each dimension; the last one is that of a row.
    std::vector<Bytes> block;  ///< Elements of a block.
    Bytes element_bytes = word_bytes;

    [[nodiscard]] std::vector<Bytes> array() const;  ///< Elements of the whole array.
    [[nodiscard]] std::vector<Bytes> begin_of(Rank rank) const;
};

/// That of block3d, lattice4d or lattice5d.
[[nodiscard]] BlockArray blocks_of(PatternSpec const& spec, Rank ranks);

/// As even as it can be, the largest first.
[[nodiscard]] std::vector<Rank> grid_of(Rank ranks, int dimensions);

/// Of so many words of the pattern holes the last is somebody's.
inline constexpr Bytes words_to_hole = 2;

/// Words of a point of btio, and variables of flash.
inline constexpr Bytes btio_words = 5, flash_variables = 24;
/// A block of flash, without guard cells.
inline constexpr Bytes flash_block_bytes = 8 * 8 * 8 * word_bytes;
/// As published: blocks of a rank, and points of an edge.
inline constexpr Bytes flash_blocks_published = 80, btio_edge_published = 1024;

/// Points of btio: `planes` of `edge` x `edge`.
struct BtioGrid {
    Bytes planes, edge;
};
[[nodiscard]] BtioGrid btio_grid(PatternSpec const& spec, Rank ranks) noexcept;

/// Blocks of a rank in each variable of flash, and variables of one call.
struct FlashSize {
    Bytes blocks, variables;
};
[[nodiscard]] FlashSize flash_size(PatternSpec const& spec) noexcept;

}  // namespace sluice::patterns
