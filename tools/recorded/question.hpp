// Command lines of `sluice explain` and `sluice simulate` that name a recorded log.
#pragma once
#include "base/description.hpp"
#include "tools/recorded/accesses.hpp"
#include "tools/simulate/scenario.hpp"

namespace sluice::tools {

/// The log that the command line names, and which of its accesses are meant.
class RecordedQuestion {
public:
    /// Reads the log, and notes it; complains to the description.
    void read(std::string const& path, Description& description);
    [[nodiscard]] bool given() const noexcept { return given_; }
    /// Takes `access=` (a number, counted from 1, or all): else the one that took longest.
    void choose(Description& description);

    [[nodiscard]] RecordedAccesses const& accesses() const noexcept { return accesses_; }
    [[nodiscard]] std::vector<RecordedAccess const*> const& chosen() const noexcept {
        return chosen_;
    }
    /// All accesses, numbered, and what is left out.
    [[nodiscard]] std::string list() const;

private:
    bool given_ = false;
    std::string missing_;
    RecordedAccesses accesses_;
    std::vector<RecordedAccess const*> chosen_;
};

/// The scenario of an access: a description that says nothing of nodes and hints has those of the
/// job.
[[nodiscard]] Scenario scenario_of(RecordedAccess const& access, Description& description);

}  // namespace sluice::tools
