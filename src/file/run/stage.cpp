// What the stages are called. See stage.hpp.
#include "file/run/stage.hpp"

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

TraceKind kind_of(Stage stage) noexcept {
    switch (stage) {
    case Stage::summary_exchange:
        return TraceKind::summary_exchange;
    case Stage::overlap:
        return TraceKind::overlap;
    case Stage::weights:
        return TraceKind::weights;
    case Stage::claims:
        return TraceKind::claims;
    case Stage::exchange:
        return TraceKind::exchange;
    case Stage::agreement:
        return TraceKind::agreement;
    case Stage::waiting:
    case Stage::complete:
        break;
    }
    return TraceKind::none;
}

}  // namespace sluice
