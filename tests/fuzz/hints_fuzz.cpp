// Hints of files, in lines as ROMIO's file of hints has them, and the lists in their values: hosts
// and ranks of aggregators, the words of an exchange, and the handle of a stream.
#include "fuzz.hpp"
#include "settings/exchange_hint.hpp"
#include "settings/file_hints.hpp"

namespace sluice::fuzz {
namespace {

using Texts = std::map<std::string, std::string>;

FileHints read_texts(Texts const& texts) {
    std::vector<Complaint> complaints;
    auto const lookup = [&](char const* name) {
        auto const found = texts.find(name);
        return found == texts.end() ? std::nullopt : std::optional(found->second);
    };
    FileHints const hints = read_hints(lookup, {}, complaints);
    for (Complaint const& complaint : complaints)
        require(texts.contains(complaint.name), "a complaint is about what was given");
    return hints;
}

/// What a program is told of the hints of its file, it may give to another file.
void try_hints(std::string const& text) {
    constexpr std::int32_t aggregators = 4;
    auto const texts = hints_in_lines(text);
    for (auto const& [name, value] : texts) require(is_hint(name), "only hints are taken", name);
    auto const told = hints_in_force(read_texts(texts), aggregators);
    auto const again = hints_in_force(read_texts({told.begin(), told.end()}), aggregators);
    require(told == again, "hints that are told can be given again", text);
    std::vector<Complaint> complaints;
    (void)read_hints_behind(texts, {}, complaints);
}

void try_value(std::string const& value) {
    if (auto const hosts = parse_hosts(value))
        require(parse_hosts(describe(*hosts)) == *hosts, "hosts are read again", value);
    if (auto const ranks = parse_ranks(value))
        require(parse_ranks(describe(*ranks)) == *ranks, "ranks are read again", value);
    if (auto const hints = with_exchange({}, value)) {
        auto const text = describe_exchange(*hints);
        auto const again = with_exchange({}, text);
        require(again && describe_exchange(*again) == text, "an exchange is read again", value);
    }
    (void)parse_handle(value);
    (void)stream_type(value);
}

}  // namespace
}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    auto const text = sluice::fuzz::text_of(data, size);
    sluice::fuzz::try_hints(text);
    sluice::fuzz::try_value(text);
    return 0;
}
