// How a log takes the place of a pattern. See question.hpp.
#include "tools/recorded/question.hpp"

#include "tools/recorded/text.hpp"
#include "tools/simulate/report.hpp"

#include <charconv>

namespace sluice::tools {

void RecordedQuestion::read(std::string const& path, Description& description) {
    auto const text = read_record(path);
    auto const log = record::read_log(text.text);
    std::string const& error = text.error.empty() ? log.error : text.error;
    if (!error.empty()) description.fail(path + ": " + error);
    given_ = true;
    missing_ = log.missing();
    accesses_ = accesses_of(log);
    if (error.empty() && accesses_.all.empty())
        description.fail(path + ": no collective access that all ranks of a file have made");
}

void RecordedQuestion::choose(Description& description) {
    std::string which = "1";
    description.take("run.access", which);
    std::size_t number = 0;
    auto const [end, error] = std::from_chars(which.data(), which.data() + which.size(), number);
    bool const is_number = error == std::errc{} && end == which.data() + which.size();
    bool const is_one = is_number && number >= 1 && number <= accesses_.all.size();
    if (which != "all" && !is_one && !accesses_.all.empty())
        description.fail("--access " + which + ": expected all, or a number from 1 to " +
                         std::to_string(accesses_.all.size()));
    for (std::size_t i = 0; i < accesses_.all.size(); ++i)
        if (which == "all" || (is_one && i + 1 == number)) chosen_.push_back(&accesses_.all[i]);
}

std::string RecordedQuestion::list() const {
    std::string text = "Collective accesses of the log, each distinct one once\n";
    std::size_t number = 0;
    for (auto const& access : accesses_.all)
        text += "  " + std::to_string(++number) + "  " + describe(access) + "\n";
    if (accesses_.independent_calls > 0)
        text += "  Not among them: " + std::to_string(accesses_.independent_calls) +
                " independent calls of " +
                bytes_text(static_cast<double>(accesses_.independent_bytes)) + ", at most " +
                seconds_text(accesses_.independent_seconds) + " of a rank.\n";
    if (!missing_.empty()) text += "  The log is not whole: " + missing_ + ".\n";
    return text;
}

Scenario scenario_of(RecordedAccess const& access, Description& description) {
    auto const ranks = static_cast<std::int32_t>(access.requests.size());
    auto const each = description.take("machine.ranks_per_node");
    std::string const ranks_per_node =
        each.value_or(std::to_string(access.ranks_per_node > 0 ? access.ranks_per_node : 1));
    description.set("machine.ranks_per_node=" + ranks_per_node);
    std::int32_t number = 0;
    std::from_chars(ranks_per_node.data(), ranks_per_node.data() + ranks_per_node.size(), number);
    if (number < 1 || ranks % number != 0)
        description.fail("the access is of " + std::to_string(ranks) + " ranks, which " +
                         ranks_per_node + " ranks of a node do not divide");
    else
        description.set("machine.nodes=" + std::to_string(ranks / number));
    for (auto const& [name, value] : access.hints) {
        auto const said = description.take("hints." + name);
        if (is_hint(name)) description.set("hints." + name + "=" + said.value_or(value));
    }
    Scenario scenario = take_scenario(description);
    scenario.pattern.name = access.call;
    scenario.direction = access.direction;
    scenario.recorded = std::make_shared<std::vector<Request> const>(access.requests);
    return scenario;
}

}  // namespace sluice::tools
