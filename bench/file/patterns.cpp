// Datatypes and contents of a pattern, from its shape. The datatype is what MPI is given; the list
// of pieces is the same thing by plain arithmetic, and is what bytes are checked against.
#include "bench/file/patterns.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "bench/measure/report.hpp"
#include "bench/patterns/e3sm_grid.hpp"

namespace sluice::bench {
namespace {

/// A row of several tiles is one type, as a program that writes many variables makes it.
MPI_Datatype row_type(Shape& shape) {
    if (shape.tiles == 1) return std::exchange(shape.tile, MPI_DATATYPE_NULL);
    MPI_Datatype row = MPI_DATATYPE_NULL;
    check(MPI_Type_contiguous(int(shape.tiles), shape.tile, &row), "MPI_Type_contiguous");
    MPI_Type_free(&shape.tile);
    return row;
}

/// The inner cells of all blocks.
MPI_Datatype type_of_cells(Cells const& cells) {
    constexpr int outer = int(Cells::outer), inner = int(Cells::inner), guard = int(Cells::guard);
    std::array<int, 4> const sizes{int(cells.blocks), outer, outer, outer};
    std::array<int, 4> const parts{int(cells.blocks), inner, inner, inner};
    std::array<int, 4> const starts{0, guard, guard, guard};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    check(MPI_Type_create_subarray(4, sizes.data(), parts.data(), starts.data(), MPI_ORDER_C,
                                   MPI_DOUBLE, &type),
          "MPI_Type_create_subarray");
    check(MPI_Type_commit(&type), "MPI_Type_commit");
    return type;
}

/// Where the data of a row lies in user memory, word after word in the order of the view.
class Walk {
public:
    explicit Walk(Cells const& cells) : gaps_(cells.blocks != 0) {}

    std::uint64_t next() {
        auto const word = word_++;
        if (!gaps_) return word;
        return Cells::place_of_run(word / Cells::inner) + word % Cells::inner;
    }

private:
    bool gaps_;
    std::uint64_t word_ = 0;
};

/// Calls `visit(place in memory, offset in the file)` for every word of a row.
template <typename Visit>
void for_each_word(Shape const& shape, std::uint64_t row_offset, Visit&& visit) {
    Walk walk(shape.memory);
    for (std::uint64_t tile = 0; tile < shape.tiles; ++tile)
        for (auto const& piece : shape.pieces) {
            auto const offset = row_offset + tile * shape.tile_bytes + piece.offset;
            for (std::uint64_t i = 0; i < piece.words; ++i)
                visit(walk.next(), offset + i * word_bytes);
        }
}

std::uint64_t wrong_words(double const* words, std::uint64_t count, std::uint64_t offset,
                          std::uint64_t seed, std::uint64_t step) {
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < count; ++i, offset += word_bytes) {
        bool const is_data = (offset / word_bytes + 1) % step == 0;
        if (!(words[i] == (is_data ? word_at(offset, seed) : 0))) ++wrong;
    }
    return wrong;
}

Run shifted(Run run, int shift) {
    run.rank = (run.rank + shift) % run.ranks;
    return run;
}

}  // namespace

double word_at(std::uint64_t file_offset, std::uint64_t seed) {
    auto x = (file_offset / word_bytes + 1) * 0x9E3779B97F4A7C15U + seed * 0xD1B54A32D192ED03U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    return double((x ^ (x >> 27)) >> 11);  // 53 bits: exact
}

Pattern::Pattern(Run const& run, std::string pattern_name, std::uint64_t wanted_bytes, int shift)
    : name(std::move(pattern_name)),
      ranks_(run.ranks),
      shape_(make_shape(shifted(run, shift), name, wanted_bytes)) {
    filetype = row_type(shape_);
    check(MPI_Type_commit(&filetype), "MPI_Type_commit");
    if (shape_.memory.blocks != 0) memory = type_of_cells(shape_.memory);
    std::uint64_t words = 0;
    for (auto const& piece : shape_.pieces) words += piece.words;
    words_ = int(words * shape_.tiles);
    row_bytes = shape_.tile_bytes * shape_.tiles;
}

Pattern::~Pattern() {
    MPI_Type_free(&filetype);
    if (memory != MPI_DOUBLE) MPI_Type_free(&memory);
}

std::size_t Pattern::memory_words() const {
    return std::size_t(shape_.memory.blocks != 0 ? shape_.memory.words() : std::uint64_t(words_));
}

void Pattern::fill(double* buffer, std::uint64_t seed, std::uint64_t row) const {
    if (shape_.memory.blocks != 0) std::fill_n(buffer, memory_words(), untouched);
    for_each_word(shape_, row * row_bytes, [&](std::uint64_t place, std::uint64_t offset) {
        buffer[place] = word_at(offset, seed);
    });
}

std::uint64_t Pattern::wrong_bytes(double const* buffer, std::uint64_t seed,
                                   std::uint64_t row) const {
    std::uint64_t wrong = 0;
    for_each_word(shape_, row * row_bytes, [&](std::uint64_t place, std::uint64_t offset) {
        if (!(buffer[place] == word_at(offset, seed))) ++wrong;
    });
    if (shape_.memory.blocks != 0) {  // no datum equals `untouched`, so the gaps alone may hold it
        auto const gaps = memory_words() - std::size_t(words_);
        auto const kept = std::size_t(std::count(buffer, buffer + memory_words(), untouched));
        wrong += gaps > kept ? gaps - kept : 0;
    }
    return wrong * word_bytes;
}

std::vector<double> Pattern::access_buffer() const { return std::vector<double>(access_words()); }

void Pattern::fill_access(std::span<double> buffer, std::uint64_t seed,
                          std::uint64_t first_row) const {
    for (std::size_t row = 0; row < std::size_t(shape_.rows); ++row)
        fill(buffer.data() + row * memory_words(), seed, first_row + row);
}

std::uint64_t Pattern::wrong_in_access(std::span<double const> buffer, std::uint64_t seed) const {
    std::uint64_t wrong = 0;
    for (std::size_t row = 0; row < std::size_t(shape_.rows); ++row)
        wrong += wrong_bytes(buffer.data() + row * memory_words(), seed, row);
    return wrong;
}

std::uint64_t Pattern::wrong_in_file(Run const& run, std::string const& path, std::uint64_t seed,
                                     std::uint64_t rows) const {
    return wrong_bytes_in_file(run, path, row_bytes * rows, seed, shape_.step);
}

std::uint64_t Pattern::wrong_in_file(Run const& run, std::string const& path,
                                     std::uint64_t seed) const {
    return wrong_in_file(run, path, seed, std::uint64_t(shape_.rows));
}

std::uint64_t wrong_bytes_in_file(Run const& run, std::string const& path, std::uint64_t bytes,
                                  std::uint64_t seed, std::uint64_t step) {
    wait_for_all();  // nobody is writing any more
    auto const words = bytes / word_bytes;
    auto offset = share_begin(words, run.rank, run.ranks) * word_bytes;
    auto const end = share_begin(words, run.rank + 1, run.ranks) * word_bytes;
    std::uint64_t wrong = 0;
    std::vector<double> buffer((std::size_t{1} << 20) / word_bytes);
    int const file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    while (offset < end) {
        auto const wanted = std::min<std::uint64_t>(end - offset, buffer.size() * word_bytes);
        auto const got = ::pread(file, buffer.data(), wanted, off_t(offset));
        auto const usable = got < 0 ? 0 : std::uint64_t(got) / word_bytes;
        if (usable == 0) break;
        wrong += wrong_words(buffer.data(), usable, offset, seed, step) * word_bytes;
        offset += usable * word_bytes;
    }
    wrong += end - offset;
    struct stat status{};
    bool const surplus = fstat(file, &status) == 0 && std::uint64_t(status.st_size) > bytes;
    if (run.rank == 0 && surplus) wrong += std::uint64_t(status.st_size) - bytes;
    if (file >= 0) ::close(file);
    return sum_over_ranks(wrong);
}

std::vector<std::string> patterns_of(Run const& run) {
    auto const& asked = run.options.patterns;
    auto const wanted = [&](std::string const& name) {
        // Files of production runs are for who asks for them: their pieces are very many.
        bool const in_all = patterns::grid_case(name) == nullptr;
        return std::find_if(asked.begin(), asked.end(), [&](std::string const& word) {
                   return (word == "all" && in_all) || word == name;
               }) != asked.end();
    };
    std::vector<std::string> result;
    for (auto const& name : pattern_names()) {
        if (!wanted(name)) continue;
        auto const reason = why_not(run, name);
        if (reason.empty())
            result.push_back(name);
        else
            run.report->note(name + " left out: " + reason);
    }
    return result;
}

}  // namespace sluice::bench
