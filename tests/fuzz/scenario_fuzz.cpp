// Descriptions of what `sluice simulate` and `sluice explain` work out: a machine, a pattern and
// hints. Files that a description may name are left out: the text alone comes from the input.
#include "fuzz.hpp"
#include "tools/simulate/scenario.hpp"

namespace sluice::fuzz {
namespace {

/// Takes out what would open a file.
void leave_out_files(Description& description) {
    description.take("pattern.decomposition");
    if (auto const device = description.take("machine.device"); device && device_named(*device))
        description.set("machine.device=" + *device);
    auto const pattern = description.take("pattern.name");
    if (pattern && *pattern != "e3sm") description.set("pattern.name=" + *pattern);
}

/// Making a request takes as long as the pieces of a rank are many.
bool is_small(tools::Scenario const& scenario) {
    auto const& pattern = scenario.pattern;
    bool const is_large = pattern.published || pattern.name.starts_with("e3sm");
    return !is_large && scenario.machine.ranks() <= 64 && pattern.bytes <= 65536;
}

void try_scenario(std::string const& text) {
    Description description;
    description.add(text);
    leave_out_files(description);
    auto const scenario = tools::take_scenario(description);
    if (!description.error().empty()) return;
    require(scenario.machine.ranks() >= 1, "a machine has a rank", text);
    require(!simulated::describe(scenario.machine).empty(), "a machine has a text");
    if (!is_small(scenario) || !tools::why_not(scenario).empty()) return;
    Request const request = tools::request_of(scenario, scenario.machine.ranks() - 1);
    require(request.bytes >= 0 && request.position >= 0, "a request has bytes", text);
    require(piece_count(request) <= request.bytes + 1, "each piece has a byte", text);
}

}  // namespace
}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    sluice::fuzz::try_scenario(sluice::fuzz::text_of(data, size));
    return 0;
}
