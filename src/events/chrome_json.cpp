// How events become text. See chrome_json.hpp.
#include "events/chrome_json.hpp"

namespace sluice {
namespace {

constexpr std::size_t bytes_at_once = 64 << 10;

std::string name_of(TraceHeader const& part, TraceEvent const& event) {
    switch (event.kind) {
    case TraceKind::call:
        return part.name(event.detail);
    case TraceKind::wait:
        return std::string("waits for ") + text_of(static_cast<TraceWait>(event.detail));
    case TraceKind::request_write:
    case TraceKind::request_read:
        return text_of(static_cast<TraceRequest>(event.detail),
                       event.kind == TraceKind::request_write);
    default:
        return text_of(event.kind).name;
    }
}

}  // namespace

/// Appends fields; the braces that are open at the end are closed.
class ChromeJson::Object {
public:
    explicit Object(std::string& to) : to_(to) { to_ += '{'; }
    Object(std::string& to, char phase, std::int64_t process, std::int64_t row) : Object(to) {
        text("ph", {&phase, 1}).number("pid", process);
        if (row > 0) number("tid", row);
    }
    Object(Object const&) = delete;
    Object& operator=(Object const&) = delete;
    ~Object() { to_.append(depth_, '}'); }

    Object& raw(char const* key, std::string_view value) {
        to_ += first_ ? "\"" : ",\"";
        ((to_ += key) += "\":") += value;
        first_ = false;
        return *this;
    }
    Object& number(char const* key, std::int64_t value) { return raw(key, std::to_string(value)); }
    /// Microseconds, with the nanoseconds as decimals.
    Object& time(char const* key, std::int64_t nanoseconds) {
        std::int64_t const positive = nanoseconds < 0 ? -nanoseconds : nanoseconds;
        std::string decimals = std::to_string(1000 + positive % 1000);
        decimals[0] = '.';
        return raw(key, (nanoseconds < 0 ? "-" : "") + std::to_string(positive / 1000) + decimals);
    }
    /// Names of files are bytes: those that are no ASCII are shown as if they were Latin-1.
    Object& text(char const* key, std::string_view value) {
        constexpr char digits[] = "0123456789abcdef";
        raw(key, "\"");
        for (char const letter : value) {
            auto const code = static_cast<unsigned char>(letter);
            if (code < 0x20 || code > 0x7e) {
                ((to_ += "\\u00") += digits[code / 16]) += digits[code % 16];
                continue;
            }
            if (letter == '"' || letter == '\\') to_ += '\\';
            to_ += letter;
        }
        to_ += '"';
        return *this;
    }
    /// What follows lies in an object of this name, from the first field on.
    Object& argument(char const* key, std::int64_t value) {
        return in_arguments().number(key, value);
    }
    Object& argument(char const* key, std::string_view value) {
        return in_arguments().text(key, value);
    }

private:
    Object& in_arguments() {
        if (depth_ == 1) raw("args", "{"), first_ = true, ++depth_;
        return *this;
    }

    std::string& to_;
    std::size_t depth_ = 1;
    bool first_ = true;
};

bool ChromeJson::add(TracePart const& part) {
    TraceHeader const& of = part.header;
    std::string const rank = "rank " + std::to_string(of.rank), host = of.host;
    add_name(of, 0, host.empty() ? rank : rank + " on " + host);
    TraceRows const rows = arrange(part);
    for (auto const& row : rows.rows) add_name(of, row.number, row.name);
    for (auto const& [slice, row] : rows.slices) {
        add_slice(of, slice, row);
        if (slice.flow != 0) add_arrow(of, slice, row);
        if (!flush(bytes_at_once)) return false;
    }
    add_counts(of, "operations under way", rows.operations_under_way);
    add_counts(of, "bytes behind", rows.bytes_behind);
    if (!about_.empty()) about_ += ',';
    Object(about_)
        .number("rank", of.rank)
        .number("ranks", of.ranks)
        .number("lost", static_cast<std::int64_t>(of.missing()))
        .raw("ended", of.ended != 0 ? "true" : "false")
        .number("clock_error_ns", std::max(of.first.error, of.last.error))
        .text("host", host)
        .text("program", of.program);
    return flush(bytes_at_once);
}

bool ChromeJson::finish() {
    text_ += "\n],\"otherData\":{\"format\":\"sluice 1\",\"parts\":[" + about_ + "]}}\n";
    return flush(0);
}

ChromeJson::Object ChromeJson::event(char phase, TraceHeader const& of, int row) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    return Object(text_, phase, of.rank + 1, row);  // Viewers take 0 for the idle process.
}

void ChromeJson::add_name(TraceHeader const& of, int row, std::string const& name) {
    std::string const what = row == 0 ? "process" : "thread";
    event('M', of, row).text("name", what + "_name").argument("name", name);
    event('M', of, row)
        .text("name", what + "_sort_index")
        .argument("sort_index", row == 0 ? of.rank : row);
}

void ChromeJson::add_slice(TraceHeader const& of, TraceEvent const& slice, int row) {
    std::int64_t const from = of.aligned(slice.begin);
    Object object = event('X', of, row);
    object.time("ts", from - zero_).time("dur", of.aligned(slice.end) - from);
    object.text("cat", text_of(slice.kind).category).text("name", name_of(of, slice));
    if (slice.file != 0) object.argument("file", of.name(slice.file));
    std::pair<char const*, std::int64_t> const numbers[] = {
        {"operation", slice.operation}, {"bytes", slice.bytes},           {"offset", slice.offset},
        {"peer", slice.peer},           {"aggregator", slice.aggregator}, {"round", slice.round}};
    for (auto const& [name, value] : numbers)
        if (value >= 0) object.argument(name, value);
}

/// It leaves the sender when the message does, and arrives when the receive ends. Viewers bind it
/// to the slice that is open at its moment, so it arrives a nanosecond before the end.
void ChromeJson::add_arrow(TraceHeader const& of, TraceEvent const& message, int row) {
    bool const sends = message.kind == TraceKind::send;
    std::int64_t const at = sends ? message.begin : std::max(message.begin, message.end - 1);
    Object object = event(sends ? 's' : 'f', of, row);
    object.time("ts", of.aligned(at) - zero_).text("cat", "message").text("name", "message");
    object.number("id", static_cast<std::int64_t>(message.flow));
    if (!sends) object.text("bp", "e");
}

void ChromeJson::add_counts(TraceHeader const& of, char const* name,
                            std::vector<TraceStep> const& steps) {
    for (TraceStep const& step : steps)
        event('C', of, 0)
            .time("ts", of.aligned(step.at) - zero_)
            .text("name", name)
            .argument("value", step.value);
}

bool ChromeJson::flush(std::size_t bytes_left) {
    if (text_.size() <= bytes_left) return works_;
    works_ = works_ && write_(text_);
    text_.clear();
    return works_;
}

}  // namespace sluice
