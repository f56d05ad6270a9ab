// Rows arranges the events of one rank as pictures of time lines need them: in each row events lie
// beside each other or nest. What a thread did nests anyway; what overlaps, such as operations,
// gets a row of its own. Pure.
#pragma once
#include "events/part.hpp"

namespace sluice {

/// A value from a moment on.
struct TraceStep {
    std::int64_t at = 0;
    std::int64_t value = 0;
};

struct TraceRows {
    struct Row {
        int number = 0;  ///< Rows are shown in the order of their numbers.
        std::string name;
    };
    struct Slice {
        TraceEvent event;
        int row = 0;
    };
    std::vector<Row> rows;
    std::vector<Slice> slices;  ///< In each row in the order of their begins, outer ones first.
    std::vector<TraceStep> operations_under_way, bytes_behind;
};

/// Events that are damaged are left out.
[[nodiscard]] TraceRows arrange(TracePart const& part);

}  // namespace sluice
