// Operations in words: for the stall watchdog and for errors.
#pragma once
#include "file/run/call.hpp"
#include "file/run/execution_context.hpp"
#include "file/run/stage.hpp"
#include "file/run/stall.hpp"

#include <string>

namespace sluice {

/// An operation that is not complete.
struct Unfinished {
    Call const& call;
    std::int64_t number = 0;
    Stage stage = Stage::waiting;
    Op const* waits_for = nullptr;  ///< Null: nothing that is known.
};

[[nodiscard]] Stall stall_of(ExecutionContext const& execution_context, Unfinished const& what);

/// Such as "operation 3 (collective write of 4096 bytes)".
[[nodiscard]] std::string title_of(std::int64_t number, Request const& request);

}  // namespace sluice
