// Logs of `sluice record`, whole, cut off or damaged, with the datatypes in them: they are read as
// `sluice explain` and `sluice simulate` read them, and what a datatype was read from can be
// written again.
#include "fuzz.hpp"
#include "tools/recorded/accesses.hpp"

namespace sluice::fuzz {
namespace {

using namespace record;

std::string line_of(TypeTree const& tree, Entry const& entry) {
    std::string text;
    LineWriter line(text);
    line.name("type").number(entry.subject);
    write_type_tree(line, tree, entry.list("parts"));
    return text;
}

/// Writes the datatype as a log has it, and reads it beside those that it was made of.
void try_again(RankLog const& log, Entry const& entry, TypeTree const& tree) {
    std::string const text = line_of(tree, entry);
    auto const written = parse_line(text);
    require(written.has_value(), "a line that was written is read again", text);
    RankLog before;
    for (Entry const& one : log.entries) {
        if (&one == &entry) break;
        before.entries.push_back(one);
    }
    Types types(before);
    types.add(*written);
    auto const* const found = types.find(entry.subject);
    require(found && found->tree && line_of(*found->tree, entry) == text, "it is the same datatype",
            text);
}

void try_types(RankLog const& log) {
    Types types{RankLog{}};
    int tried = 0;
    for (Entry const& entry : log.entries) {
        if (entry.name != "type") continue;
        types.add(entry);
        auto const* const type = types.find(entry.subject);
        require(type, "a datatype that was added is found");
        require(types.etype_bytes(entry.subject) >= 1, "an etype has a byte");
        auto const layout = types.layout(entry.subject);
        require((layout != nullptr) == (type->tree != nullptr), "a type tree has a layout");
        if (!layout) continue;
        if (layout->tile_bytes() > 0) (void)layout->offset_at(layout->tile_bytes() - 1);
        if (++tried <= 4) try_again(log, entry, *type->tree);
    }
}

void try_log(std::string_view text) {
    Log const log = read_log(text);
    (void)log.missing();
    for (RankLog const& rank : log.ranks) {
        require(rank.entries.size() <= text.size(), "each entry has a line", text);
        require(log.of_rank(rank.rank) == &rank, "a rank is there once", text);
        try_types(rank);
    }
    auto const accesses = tools::accesses_of(log);
    for (auto const& access : accesses.all)
        require(!describe(access).empty(), "an access has a text");
}

}  // namespace
}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    auto const text = sluice::fuzz::text_of(data, size);
    sluice::fuzz::try_log(text);
    return 0;
}
