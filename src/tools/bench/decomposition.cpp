// A pattern that a program left behind: a decomposition file says which rank of some job held which
// elements of a variable. Its ranks are folded onto the ranks at hand, neighbours together, and the
// whole decomposition is repeated, copy after copy, until every rank has enough.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "report.hpp"
#include "shapes.hpp"

namespace sluice::bench {
namespace {

/// `words` elements at element `offset`, of one rank of the file.
struct Part {
    std::uint64_t offset, words, rank;
};

struct Decomposition {
    std::string error;        ///< Empty: it can be used.
    std::vector<Part> parts;  ///< Ascending; they cover [0, words) exactly once.
    std::uint64_t words = 0, ranks = 0;
};

std::string default_path() {
    std::error_code ignored;
    auto const program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    return (program.parent_path().parent_path() / "share/sluice/e3sm-f-16.txt.gz").string();
}

/// For the shell: whatever the name holds, it stays one word.
std::string quoted_for_shell(std::string const& text) {
    std::string result = "'";
    for (char const c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

/// The lines "decomposition rank offset length" of the number asked for; '#' begins a comment.
std::string read_parts(std::string const& path, int number, std::vector<Part>& parts) {
    if (!std::filesystem::exists(path)) return "there is no file " + path;
    bool const packed = path.ends_with(".gz");
    // NOLINTNEXTLINE(bugprone-command-processor): a fixed command, the name is quoted
    auto* const file = packed ? popen(("zcat " + quoted_for_shell(path)).c_str(), "re")
                              : std::fopen(path.c_str(), "re");
    if (file == nullptr) return "cannot read " + path;
    char line[256];
    bool understood = true;
    while (understood && std::fgets(line, sizeof line, file) != nullptr) {
        if (line[0] == '#' || line[0] == '\n') continue;
        std::array<std::uint64_t, 4> numbers{};
        char const* at = line;
        for (auto& value : numbers) {
            char* end = nullptr;
            value = std::strtoull(at, &end, 10);
            understood = understood && end != at;
            at = end;
        }
        auto const& [found, rank, offset, words] = numbers;
        if (understood && found == std::uint64_t(number) && words > 0)
            parts.push_back({offset, words, rank});
    }
    bool const complete = (packed ? pclose(file) : std::fclose(file)) == 0;
    if (!understood) return path + " has a line that is not `decomposition rank offset length`";
    if (!complete) return "cannot read all of " + path;
    return parts.empty() ? text_of("%s has no decomposition %d", path.c_str(), number) : "";
}

/// Every element once and no holes: the check of the file's bytes relies on it.
std::string why_no_tiling(std::vector<Part> const& parts) {
    std::uint64_t end = 0;
    for (auto const& part : parts) {
        if (part.offset != end) return "the decomposition does not hold every element exactly once";
        end += part.words;
    }
    return "";
}

void broadcast(void* data, std::size_t bytes) {
    check(MPI_Bcast(data, int(bytes), MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Bcast");
}

/// Collective. Rank 0 reads, all get it.
Decomposition read_together(Run const& run) {
    Decomposition all;
    auto const& o = run.options;
    if (run.rank == 0) {
        auto const path = o.decomposition.empty() ? default_path() : o.decomposition;
        all.error = read_parts(path, o.decomposition_number, all.parts);
        std::sort(all.parts.begin(), all.parts.end(),
                  [](Part const& a, Part const& b) { return a.offset < b.offset; });
        if (all.error.empty()) all.error = why_no_tiling(all.parts);
    }
    std::uint64_t sizes[2] = {all.error.size(), all.parts.size()};
    broadcast(sizes, sizeof sizes);
    all.error.resize(sizes[0]), all.parts.resize(sizes[1]);
    broadcast(all.error.data(), sizes[0]);
    broadcast(all.parts.data(), sizes[1] * sizeof(Part));
    for (auto const& part : all.parts) {
        all.words += part.words;
        all.ranks = std::max(all.ranks, part.rank + 1);
    }
    return all;
}

/// Read once: patterns are made again and again.
Decomposition const& decomposition_of(Run const& run) {
    static std::optional<Decomposition> kept;
    if (!kept) kept = read_together(run);
    return *kept;
}

}  // namespace

std::string why_not_decomposition(Run const& run) {
    auto const& all = decomposition_of(run);
    if (!all.error.empty()) return all.error;
    if (std::uint64_t(run.ranks) > all.ranks)
        return text_of("the decomposition is of %llu ranks, less than %d",
                       static_cast<unsigned long long>(all.ranks), run.ranks);
    return "";
}

Shape make_decomposition(Run const& run, std::uint64_t bytes) {
    auto const& all = decomposition_of(run);
    auto const ranks = std::uint64_t(run.ranks);
    Shape shape;
    shape.tile_bytes = all.words * word_bytes;
    shape.tiles =
        std::max((bytes * ranks + shape.tile_bytes - 1) / shape.tile_bytes, std::uint64_t{1});
    for (auto const& part : all.parts)
        if (part.rank * ranks / all.ranks == std::uint64_t(run.rank))
            shape.add(part.offset * word_bytes, part.words);
    shape.tile = type_of_pieces(shape.pieces, shape.tile_bytes);
    return shape;
}

}  // namespace sluice::bench
