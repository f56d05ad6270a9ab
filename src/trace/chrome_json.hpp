// Parts as the Chrome JSON Trace Event Format, which ui.perfetto.dev and chrome://tracing open: a
// process is a rank, a thread is a row, arrows are messages. Pure: the text goes to a function.
#pragma once
#include "trace/part.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace sluice {

class ChromeJson {
public:
    /// What each trace begins with.
    static constexpr std::string_view start = R"({"displayTimeUnit":"ms","traceEvents":[)";

    /// `write` takes some text, and returns false where it could not. `zero` is the moment, by the
    /// clock of rank 0, from which times are counted.
    ChromeJson(std::function<bool(std::string_view)> write, std::int64_t zero);

    /// False where `write` did; then no more is written.
    bool add(TracePart const& part);
    /// The end of the file.
    bool finish();

private:
    struct Place {  ///< Where an event lies; row 0: nowhere but in the rank.
        std::int32_t rank = 0;
        int row = 0;
    };
    void add_metadata(TracePart const& part, Place place, char const* what, std::string const& name,
                      int order);
    void add_slice(TracePart const& part, TraceEvent const& event, int row);
    void add_arrow(TracePart const& part, TraceEvent const& event, int row);
    void add_count(TracePart const& part, char const* name, std::int64_t at, std::int64_t value);
    void begin(char phase, Place place);
    void time(char const* name, std::int64_t nanoseconds);
    void argument(char const* name, std::int64_t value);
    void text_argument(char const* name, std::string_view value);
    void quoted(std::string_view text);
    void number(std::int64_t value);
    bool flush(std::size_t bytes_left);

    std::function<bool(std::string_view)> write_;
    std::int64_t zero_;
    std::string text_, about_;
    bool first_ = true, first_argument_ = true, works_ = true;
};

}  // namespace sluice
