// Parts as the Chrome JSON Trace Event Format, which ui.perfetto.dev and chrome://tracing open: a
// process is a rank, a thread is a row, arrows are messages. Pure: the text goes to a function.
#pragma once
#include "events/rows.hpp"

#include <functional>

namespace sluice {

class ChromeJson {
public:
    /// What each trace begins with.
    static constexpr std::string_view start = R"({"displayTimeUnit":"ms","traceEvents":[)";

    /// `write` takes some text, and returns false where it could not. `zero` is the moment, by the
    /// clock of rank 0, from which times are counted.
    ChromeJson(std::function<bool(std::string_view)> write, std::int64_t zero)
        : write_(std::move(write)),
          zero_(zero),
          text_(start) {}

    /// False where `write` did; then no more is written.
    bool add(TracePart const& part);
    /// The end of the file.
    bool finish();

private:
    class Object;
    /// An event of the text; row 0: of the rank as a whole.
    Object event(char phase, TraceHeader const& of, int row);
    void add_name(TraceHeader const& of, int row, std::string const& name);
    void add_slice(TraceHeader const& of, TraceEvent const& slice, int row);
    void add_arrow(TraceHeader const& of, TraceEvent const& message, int row);
    void add_counts(TraceHeader const& of, char const* name, std::vector<TraceStep> const& steps);
    bool flush(std::size_t bytes_left);

    std::function<bool(std::string_view)> write_;
    std::int64_t zero_;
    std::string text_, about_;
    bool first_ = true, works_ = true;
};

}  // namespace sluice
