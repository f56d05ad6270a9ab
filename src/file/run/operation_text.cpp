// Operations as text: for the stall watchdog and for errors.
#include "file/run/operation.hpp"

namespace sluice {

char const* describe(Stage stage) noexcept {
    switch (stage) {
    case Stage::waiting:
        return "waiting for earlier operations";
    case Stage::summary_exchange:
        return "exchange of summaries";
    case Stage::overlap:
        return "overlap with earlier operations";
    case Stage::weights:
        return "weights";
    case Stage::claims:
        return "claims";
    case Stage::exchange:
        return "exchange";
    case Stage::agreement:
        return "agreement";
    case Stage::complete:
        return "complete";
    }
    return "?";
}

std::string Operation::title() const {
    return "operation " + std::to_string(state_.operation) + " (collective " +
           sluice::describe(state_.request.direction) + " of " +
           std::to_string(state_.request.bytes) + " bytes)";
}

std::string Operation::describe() const {
    std::string text = title() + ", stage " + sluice::describe(stage_);
    for (std::size_t a = 0; a < cursors_.size(); ++a) {
        text += ", aggregator " + std::to_string(a) + ": round " +
                std::to_string(cursors_[a].next) + " of " + std::to_string(cursors_[a].end);
    }
    std::string const waits = executor_.waits_for();
    return waits.empty() ? text : text + ", " + waits;
}

}  // namespace sluice
