// Patterns against what each of them means: who owns a word is asked of a formula that goes the
// other way, from the word to the rank.
#include "bench/patterns/pattern.hpp"
#include "file/plan/summary.hpp"
#include "sanitizers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

namespace sluice::patterns::pattern_test {
namespace {

constexpr Rank rank_counts[] = {1, 2, 4, 9, 16, 17, 64, 100, 1024};

struct Piece {
    Span span;
    Rank rank;
};

/// A small decomposition: 3 ranks, pieces of 1 to 4 words, the last rank's in front.
std::string small_decomposition() {
    return "# number rank offset length\n"
           "7 0 4 2\n7 0 12 1\n7 1 6 2\n7 1 9 3\n7 2 0 4\n7 2 8 1\n7 2 13 4\n"
           "8 0 0 2\n8 1 3 1\n";
}

PatternSpec spec_of(std::string const& name, Bytes bytes) {
    PatternSpec spec;
    spec.name = name;
    spec.bytes = bytes;
    spec.piece_bytes = 64;
    spec.decomposition = small_decomposition();
    spec.decomposition_number = 7;
    spec.element_bytes = word_bytes;
    return spec;
}

/// All ranks' pieces of one call; checks that each rank's ascend.
std::vector<Piece> pieces_of(PatternSpec const& spec, Rank ranks) {
    std::vector<Piece> all;
    for (Rank rank = 0; rank < ranks; ++rank) {
        Request const request = make_request(spec, rank, ranks, Direction::write);
        EXPECT_TRUE(request.view.filetype->is_ascending());
        EXPECT_EQ(request.position, 0);
        if (request.bytes == 0) continue;
        Cursor cursor(*request.view.filetype, 0);
        for (Bytes left = request.bytes; left > 0;) {
            Offset const begin = request.view.displacement + cursor.offset();
            Bytes const length = std::min(cursor.piece_left(), left);
            all.push_back({{begin, begin + length}, rank});
            cursor.advance_in_piece(length);
            left -= length;
        }
    }
    std::sort(all.begin(), all.end(),
              [](Piece const& a, Piece const& b) { return a.span.begin < b.span.begin; });
    return all;
}

Bytes bytes_of(std::vector<Piece> const& pieces) {
    return std::accumulate(pieces.begin(), pieces.end(), Bytes{0},
                           [](Bytes sum, Piece const& p) { return sum + p.span.bytes(); });
}

/// Every word of the file by its owner; empty, with a failure, where one is missing or has two.
std::vector<Rank> owners(std::vector<Piece> const& pieces) {
    std::vector<Rank> all;
    for (Piece const& piece : pieces) {
        EXPECT_EQ(piece.span.begin, static_cast<Offset>(all.size()) * word_bytes);
        EXPECT_EQ(piece.span.bytes() % word_bytes, 0);
        if (piece.span.begin != static_cast<Offset>(all.size()) * word_bytes) return {};
        all.insert(all.end(), static_cast<std::size_t>(piece.span.bytes() / word_bytes),
                   piece.rank);
    }
    return all;
}

std::vector<Rank> owners(PatternSpec const& spec, Rank ranks) {
    return owners(pieces_of(spec, ranks));
}

/// Compares the owner of every word with `owner(word)`.
template <typename Owner> void expect_owners(PatternSpec const& spec, Rank ranks, Owner&& owner) {
    auto const all = owners(spec, ranks);
    ASSERT_FALSE(all.empty());
    for (std::size_t word = 0; word < all.size(); ++word) {
        ASSERT_EQ(all[word], owner(static_cast<std::int64_t>(word)))
            << spec.name << ", " << ranks << " ranks, word " << word;
    }
}

TEST(patterns, cover_their_span_exactly_once) {
    for (auto const& name : pattern_names()) {
        for (Rank const ranks : rank_counts) {
            auto const spec = spec_of(name, 1 << 12);
            if (testing::is_left_out()) continue;
            if (name == "sparse" || name == "holes" || !why_not(spec, ranks).empty()) continue;
            SCOPED_TRACE(name + " with " + std::to_string(ranks));
            auto const all = owners(spec, ranks);
            std::set<Rank> const seen(all.begin(), all.end());
            EXPECT_EQ(seen.size(), static_cast<std::size_t>(ranks));
        }
    }
}

TEST(patterns, hold_what_was_asked_for) {
    for (auto const& name : pattern_names()) {
        for (Rank const ranks : rank_counts) {
            // FLASH-IO has no less than a block of each variable: 96 KiB.
            Bytes const bytes = name == "flash" ? Bytes{300} << 10 : Bytes{1} << 13;
            auto const spec = spec_of(name, bytes);
            if (!why_not(spec, ranks).empty()) continue;
            SCOPED_TRACE(name + " with " + std::to_string(ranks));
            auto const held = static_cast<double>(bytes_of(pieces_of(spec, ranks)));
            EXPECT_GE(held, 0.5 * static_cast<double>(bytes) * ranks);
            EXPECT_LE(held, 2.0 * static_cast<double>(bytes) * ranks);
        }
    }
}

TEST(patterns, repeat_behind_their_tile) {
    for (auto const& name : pattern_names()) {
        auto const spec = spec_of(name, 1 << 12);
        Rank const ranks = 4;
        Offset end = 0;
        for (Rank rank = 0; rank < ranks; ++rank)
            end = std::max(end, span_of(make_request(spec, rank, ranks, Direction::read)).end);
        for (Rank rank = 0; rank < ranks; ++rank) {
            auto second = make_request(spec, rank, ranks, Direction::read);
            EXPECT_EQ(second.direction, Direction::read);
            second.position = second.bytes;
            EXPECT_GE(span_of(second).begin, end) << name;
        }
    }
}

TEST(patterns, contiguous_is_a_block_a_rank) {
    for (Rank const ranks : rank_counts)
        expect_owners(spec_of("contiguous", 4096), ranks, [](std::int64_t w) { return w / 512; });
}

TEST(patterns, strided_takes_turns) {
    for (Rank const ranks : rank_counts)
        expect_owners(spec_of("strided", 4096), ranks,
                      [&](std::int64_t w) { return w / 8 % ranks; });
}

TEST(patterns, block3d_is_a_grid_of_blocks) {
    for (Rank const ranks : rank_counts) {
        auto const grid = grid_of(ranks, 3);
        ASSERT_EQ(grid[0] * grid[1] * grid[2], ranks);
        constexpr std::int64_t planes = 10, edge = 7;  // Of 512 words: cbrt(1024), sqrt(51).
        std::int64_t const rows = edge * grid[1], line = edge * grid[2];
        expect_owners(spec_of("block3d", 4096), ranks, [&](std::int64_t w) {
            auto const z = w / line / rows, y = w / line % rows, x = w % line;
            return (z / planes * grid[1] + y / edge) * grid[2] + x / edge;
        });
    }
}

TEST(patterns, grids_are_as_even_as_they_can_be) {
    using Grid = std::vector<Rank>;
    EXPECT_EQ(grid_of(1, 3), (Grid{1, 1, 1}));
    EXPECT_EQ(grid_of(2, 3), (Grid{2, 1, 1}));
    EXPECT_EQ(grid_of(4, 3), (Grid{2, 2, 1}));
    EXPECT_EQ(grid_of(7, 3), (Grid{7, 1, 1}));
    EXPECT_EQ(grid_of(12, 3), (Grid{3, 2, 2}));
    EXPECT_EQ(grid_of(1024, 3), (Grid{16, 8, 8}));
    EXPECT_EQ(grid_of(16384, 3), (Grid{32, 32, 16}));
    EXPECT_EQ(grid_of(4, 4), (Grid{2, 2, 1, 1}));
    EXPECT_EQ(grid_of(24, 4), (Grid{3, 2, 2, 2}));
    EXPECT_EQ(grid_of(1024, 4), (Grid{8, 8, 4, 4}));
}

/// Blocks of 3 x 2 x 2 x 2 sites of 72 words, and of 8 x 1 x 2 x 2 x 2 sites of 24.
TEST(patterns, lattices_are_in_the_order_of_their_sites) {
    struct Case {
        char const* name;
        Bytes bytes;
        std::int64_t words, time, fifth;
    };
    for (auto const& [name, bytes, words, time, fifth] :
         {Case{"lattice4d", 24 * 576, 72, 3, 1}, Case{"lattice5d", 8 * 16 * 192, 24, 2, 8}}) {
        for (Rank const ranks : rank_counts) {
            if (ranks > 100) continue;
            auto const grid = grid_of(ranks, 4);
            auto const all = owners(spec_of(name, bytes), ranks);
            ASSERT_EQ(std::ssize(all), fifth * 8 * time * words * ranks) << name;
            expect_owners(spec_of(name, bytes), ranks, [&](std::int64_t word) {
                auto site = word / words;
                std::int64_t owner = 0, factor = 1;
                for (std::size_t i = 4; i-- > 0; factor *= grid[i]) {
                    auto const edge = i == 0 ? time : 2;
                    owner += site % (edge * grid[i]) / edge * factor;
                    site /= edge * grid[i];
                }
                return owner;
            });
        }
    }
}

TEST(patterns, holes_lie_before_each_word_of_a_ranks_own_part) {
    for (Rank const ranks : {1, 2, 17}) {
        auto const pieces = pieces_of(spec_of("holes", 800), ranks);
        ASSERT_EQ(std::ssize(pieces), 100 * ranks);
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            auto const begin = static_cast<Offset>(2 * i + 1) * word_bytes;
            EXPECT_EQ(pieces[i].span.begin, begin);
            EXPECT_EQ(pieces[i].span.bytes(), word_bytes);
            EXPECT_EQ(pieces[i].rank, static_cast<Rank>(i / 100));
        }
    }
}

/// The owner of a point follows from its cell: the row of the rank's place is the cell's row plus
/// the slab, the column the cell's column less the slab.
TEST(patterns, btio_goes_along_diagonals) {
    for (Rank const p : {1, 2, 3, 4, 8, 10}) {
        auto const spec = spec_of("btio", 5000);
        auto const words = static_cast<double>(owners(spec, p * p).size());
        auto const edge = std::lround(std::cbrt(words / btio_words));
        ASSERT_EQ(edge * edge * edge * btio_words, std::lround(words));
        auto const cell = [&](std::int64_t at) {  // The last cell that does not begin behind.
            std::int64_t found = 0;
            while (found + 1 < p && edge * (found + 1) / p <= at) ++found;
            return found;
        };
        expect_owners(spec, p * p, [&](std::int64_t w) {
            auto const point = w / btio_words;
            auto const slab = cell(point / edge / edge), row = cell(point / edge % edge),
                       column = cell(point % edge);
            return (row + slab) % p * p + (column - slab + p) % p;
        });
    }
    EXPECT_EQ(why_not(spec_of("btio", 5000), 12), "needs a square number of ranks, not 12");
}

TEST(patterns, flash_holds_variable_after_variable) {
    for (Rank const ranks : {1, 2, 9, 64}) {
        auto const spec = spec_of("flash", 2 * flash_variables * flash_block_bytes);
        auto const part = 2 * flash_block_bytes / word_bytes;
        EXPECT_EQ(owners(spec, ranks).size(),
                  static_cast<std::size_t>(part * ranks * flash_variables));
        expect_owners(spec, ranks, [&](std::int64_t w) { return w / part % ranks; });
    }
    auto const usual = spec_of("flash", 80 * flash_variables * flash_block_bytes);
    EXPECT_EQ(flash_size(usual).blocks, 80);  // A usual run's.
}

TEST(patterns, irregular_has_no_order) {
    auto const spec = spec_of("irregular", 1 << 14);
    Rank const ranks = 64;
    constexpr std::int64_t share = 8, rows = 256;  // Of words.
    auto const pieces = pieces_of(spec, ranks);
    EXPECT_GE(pieces.size(), rows * (ranks - 1));  // Where two rows meet pieces may become one.
    std::vector<std::int64_t> lengths(4 * share), places(static_cast<std::size_t>(ranks));
    for (Piece const& piece : pieces) {
        lengths.at(static_cast<std::size_t>(piece.span.bytes() / word_bytes)) += 1;
        auto const place = (piece.span.begin / word_bytes + share / 2) / share % ranks;
        if (piece.rank == 5) places.at(static_cast<std::size_t>(place)) += 1;
    }
    EXPECT_EQ(lengths[0], 0);
    for (std::size_t length = 1; length < 2 * share; ++length) EXPECT_GT(lengths[length], 0);
    // No place is far from its share of 4.
    for (auto const count : places) EXPECT_LT(count, 20);
    EXPECT_GT(std::count_if(places.begin(), places.end(), [](auto count) { return count > 0; }),
              ranks / 2);
    auto other = spec;
    other.seed = 2;
    EXPECT_NE(owners(spec, ranks), owners(other, ranks));
}

/// Whom a block belongs to tells nothing of the next one's owner.
TEST(patterns, random_blocks_have_owners_by_lot) {
    auto const spec = spec_of("random", 1 << 14);
    for (Rank const ranks : {2, 3, 4, 16}) {
        SCOPED_TRACE(ranks);
        auto const all = owners(spec, ranks);
        constexpr std::size_t words = 8, blocks = 256;  // Of a block; of a rank.
        ASSERT_EQ(all.size(), words * blocks * static_cast<std::size_t>(ranks));
        std::vector<std::size_t> own(static_cast<std::size_t>(ranks));
        std::size_t same = 0;
        for (std::size_t at = 0; at < all.size(); at += words) {
            own.at(static_cast<std::size_t>(all[at])) += 1;
            for (std::size_t word = 1; word < words; ++word) EXPECT_EQ(all[at + word], all[at]);
            if (at > 0 && all[at] == all[at - words]) ++same;
        }
        for (auto const count : own) EXPECT_EQ(count, blocks);
        EXPECT_GT(same, blocks * 3 / 4);  // One in `ranks` of `ranks` times so many.
        EXPECT_LT(same, blocks * 5 / 4);
        auto other = spec;
        other.seed = 2;
        EXPECT_NE(all, owners(other, ranks));
        EXPECT_EQ(all, owners(spec, ranks));
    }
}

TEST(patterns, sparse_is_uneven_and_has_holes) {
    for (Rank const ranks : {64, 1024}) {
        auto const spec = spec_of("sparse", 1 << 14);
        auto const pieces = pieces_of(spec, ranks);
        Offset const span = pieces.back().span.end;
        Bytes near = 0, holders = 0, hole = 0;
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            if (i > 0) {
                ASSERT_GE(pieces[i].span.begin, pieces[i - 1].span.end);
                hole = std::max(hole, pieces[i].span.begin - pieces[i - 1].span.end);
            }
            if (pieces[i].span.begin < span / 10) near += pieces[i].span.bytes();
            if (pieces[i].rank % 8 == 0) holders += pieces[i].span.bytes();
        }
        EXPECT_GT(near, bytes_of(pieces) * 3 / 4);
        EXPECT_GT(holders, bytes_of(pieces) * 3 / 4);
        EXPECT_GE(hole, 60 * spec.piece_bytes);
    }
}

/// Parts are numbered through all copies; each rank has those of its share of the numbers.
TEST(patterns, e3sm_repeats_and_folds_the_decomposition) {
    constexpr Rank part_of_word[] = {2, 2, 2, 2, 0, 0, 1, 1, 2, 1, 1, 1, 0, 2, 2, 2, 2};
    constexpr std::int64_t words = std::size(part_of_word), parts = 3;
    for (Rank const ranks : {1, 2, 3, 4, 6, 7, 100}) {
        std::int64_t const copies = (ranks + parts - 1) / parts;
        auto const spec = spec_of("e3sm", 1000);
        auto const total = static_cast<std::int64_t>(owners(spec, ranks).size());
        EXPECT_EQ(total % (copies * words), 0);
        expect_owners(spec, ranks, [&](std::int64_t w) {
            auto const copy = w / words % copies;
            auto const number = copy * parts + part_of_word[w % words];
            return static_cast<Rank>(number * ranks / (copies * parts));
        });
    }
}

TEST(patterns, tell_why_they_are_not_possible) {
    auto spec = spec_of("e3sm", 1000);
    EXPECT_EQ(why_not(spec, 5), "");
    spec.decomposition_number = 8;
    EXPECT_EQ(why_not(spec, 5), "the decomposition does not hold every element exactly once");
    spec.decomposition_number = 9;
    EXPECT_EQ(why_not(spec, 5), "the decomposition file has none of that number");
    spec.decomposition = std::string("7 0 4 two\n");
    EXPECT_EQ(why_not(spec, 5),
              "the decomposition has a line that is not `number rank offset length`");
    spec.decomposition = {};
    EXPECT_EQ(why_not(spec, 5), "it needs a decomposition, and none is given");
    auto const unknown = why_not(spec_of("zigzag", 1000), 5);
    EXPECT_EQ(unknown.find("there is no pattern 'zigzag'; there are "), 0u) << unknown;
    for (std::string const& name : pattern_names())
        EXPECT_NE(unknown.find(name), std::string::npos) << name;
    EXPECT_EQ(why_not(spec_of("stirded", 1000), 5),
              "there is no pattern 'stirded'; did you mean strided?");
    EXPECT_EQ(why_not(spec_of("strided", 1000), 0), "needs at least one rank");
    EXPECT_EQ(why_not(spec_of("strided", 0), 1), "needs at least one byte a rank and a piece");
}

TEST(patterns, have_the_published_sizes) {
    PatternSpec spec;
    spec.published = true;
    spec.name = "flash", spec.bytes = Bytes{1} << 20;
    EXPECT_EQ(flash_size(spec).blocks, 80);
    EXPECT_EQ(flash_size(spec).variables, 3);
    auto const flash = make_request(spec, 5, 16, Direction::write);
    EXPECT_EQ(flash.bytes, 3 * 327'680);
    spec.name = "btio";
    // 1 MiB a rank of 64: one plane of 40 MiB, of which half of the ranks have a part.
    EXPECT_EQ(btio_grid(spec, 64).planes, 1);
    EXPECT_EQ(btio_grid(spec, 64).edge, 1024);
    auto const btio = make_request(spec, 0, 64, Direction::write);
    EXPECT_EQ(btio.view.filetype->tile_extent(), 1024 * 1024 * 40);
    EXPECT_EQ(btio.view.filetype->piece_count(0, btio.bytes), 128);
    spec.bytes = Bytes{1} << 30;
    EXPECT_EQ(btio_grid(spec, 64).planes, 1024);
}

/// The fingerprints prove for 4,096 ranks what the lists above prove for fewer; and a rank's share
/// does not grow with them.
TEST(patterns, cover_their_span_with_4096_ranks) {
    Rank const ranks = 4096;
    auto const key = FingerprintKey::of_seed(1);
    Scope const scope{0, key.get()};
    for (auto const& name : pattern_names()) {
        auto const spec = spec_of(name, 1 << 12);
        if (name == "sparse" || name == "holes") continue;
        Summary all = summarise(make_request(spec, 0, ranks, Direction::write), scope);
        for (Rank rank = 1; rank < ranks; ++rank)
            all = merge(all, summarise(make_request(spec, rank, ranks, Direction::write), scope));
        EXPECT_EQ(all.unproven, 0) << name;
        EXPECT_TRUE(is_covered(all, key.get())) << name;
    }
}

}  // namespace
}  // namespace sluice::patterns::pattern_test
