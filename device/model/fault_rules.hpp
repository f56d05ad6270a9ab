// Errors on order, to test how programs take them: rules such as write:ENOSPC:after=10. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// What a rule may hit. `all`: any of them.
enum class FaultPlace : std::uint8_t { read, write, sync, open, create, all };

struct FaultRule {
    FaultPlace place = FaultPlace::write;
    int error = 0;            ///< The system's number of the error; 0: a short count.
    std::int64_t after = 0;   ///< So many pass before the first is hit.
    std::int64_t every = 1;   ///< Of the others each so many-th is hit, the first among them.
    std::int64_t times = -1;  ///< So many are hit at most; -1: no end.
};

/// What happens to one call.
struct Fault {
    bool hit = false;
    int error = 0;  ///< 0: a short count.
};

/// Rules, and how often what they hit came. Not thread-safe.
class FaultRules {
public:
    FaultRules() = default;
    explicit FaultRules(std::vector<FaultRule> rules);
    /// The next call of this place; the first rule that hits decides, all count.
    Fault next(FaultPlace place);
    [[nodiscard]] bool empty() const noexcept { return rules_.empty(); }

private:
    struct Counted {
        FaultRule rule;
        std::int64_t came = 0, hit = 0;
    };
    std::vector<Counted> rules_;
};

/// Rules with commas between; nothing where they are not understood: `error` says why.
[[nodiscard]] std::optional<std::vector<FaultRule>> parse_faults(std::string const& text,
                                                                 std::string& error);

}  // namespace sluice
