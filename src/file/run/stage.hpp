// The stages of an operation, and their names for people and for traces.
#pragma once
#include "events/event.hpp"

#include <cstdint>

namespace sluice {

enum class Stage : std::uint8_t {
    waiting,
    summary_exchange,
    overlap,
    weights,
    claims,
    exchange,
    agreement,
    complete
};

/// All ranks have made the call: from here on it needs no thread of any program.
[[nodiscard]] constexpr bool all_have_called(Stage stage) noexcept {
    return stage > Stage::summary_exchange;
}

char const* describe(Stage stage) noexcept;
/// The stage's kind in a trace; `none` for `waiting` and `complete`.
[[nodiscard]] TraceKind kind_of(Stage stage) noexcept;

}  // namespace sluice
