// How events become text. See chrome_json.hpp.
#include "trace/chrome_json.hpp"

#include "trace/rows.hpp"

#include <algorithm>
#include <charconv>

namespace sluice {
namespace {

constexpr std::size_t bytes_at_once = 64 << 10;

std::string slice_name(TracePart const& part, TraceEvent const& event) {
    switch (event.kind) {
    case TraceKind::call:
        return part.name(event.name);
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

bool is_message(TraceEvent const& event) noexcept {
    return event.kind == TraceKind::send || event.kind == TraceKind::receive;
}

}  // namespace

ChromeJson::ChromeJson(std::function<bool(std::string_view)> write, std::int64_t zero)
    : write_(std::move(write)),
      zero_(zero),
      text_(start) {}

bool ChromeJson::add(TracePart const& part) {
    add_metadata(part, {part.rank, 0}, "process_name", "rank " + std::to_string(part.rank),
                 part.rank);
    TraceRows const rows = arrange(part);
    for (auto const& row : rows.rows)
        add_metadata(part, {part.rank, row.number}, "thread_name", row.name, row.number);
    for (auto const& slice : rows.slices) {
        add_slice(part, slice.event, slice.row);
        if (is_message(slice.event) && slice.event.flow != 0)
            add_arrow(part, slice.event, slice.row);
        if (!flush(bytes_at_once)) return false;
    }
    for (TraceStep const& step : rows.operations_under_way)
        add_count(part, "operations under way", step.at, step.value);
    for (TraceStep const& step : rows.bytes_behind)
        add_count(part, "bytes behind", step.at, step.value);
    std::string const rank = std::to_string(part.rank);
    about_ += about_.empty() ? "" : ",";
    about_ += "{\"rank\":" + rank + ",\"ranks\":" + std::to_string(part.ranks) +
              ",\"lost\":" + std::to_string(part.lost) +
              ",\"ended\":" + (part.ended ? "true" : "false") +
              ",\"clock_error_ns\":" + std::to_string(std::max(part.first.error, part.last.error)) +
              ",\"host\":";
    std::swap(text_, about_);
    quoted(part.host);
    text_ += ",\"program\":";
    quoted(part.program);
    text_ += "}";
    std::swap(text_, about_);
    return flush(bytes_at_once);
}

bool ChromeJson::finish() {
    text_ += "\n],\"otherData\":{\"format\":\"sluice 1\",\"parts\":[" + about_ + "]}}\n";
    return flush(0);
}

void ChromeJson::add_metadata(TracePart const& part, Place place, char const* what,
                              std::string const& name, int order) {
    bool const process = place.row == 0;
    begin('M', place);
    text_ += ",\"name\":\"";
    text_ += what;
    text_ += "\"";
    text_argument("name", process && !part.host.empty() ? name + " on " + part.host : name);
    text_ += "}}";
    begin('M', place);
    text_ += process ? ",\"name\":\"process_sort_index\"" : ",\"name\":\"thread_sort_index\"";
    argument("sort_index", order);
    text_ += "}}";
}

void ChromeJson::add_slice(TracePart const& part, TraceEvent const& event, int row) {
    std::int64_t const from = part.aligned(event.begin);
    begin('X', {part.rank, row});
    time("ts", from - zero_);
    time("dur", part.aligned(event.end) - from);
    text_ += ",\"cat\":\"";
    text_ += text_of(event.kind).category;
    text_ += "\",\"name\":";
    quoted(slice_name(part, event));
    if (event.file != 0) text_argument("file", part.name(event.file));
    if (event.operation >= 0) argument("operation", event.operation);
    if (event.bytes >= 0) argument("bytes", event.bytes);
    if (event.offset >= 0) argument("offset", event.offset);
    if (event.peer >= 0) argument("peer", event.peer);
    if (event.aggregator >= 0) argument("aggregator", event.aggregator);
    if (event.round >= 0) argument("round", event.round);
    text_ += first_argument_ ? "}" : "}}";
}

/// It leaves the sender when the message does, and arrives when the receive ends. Viewers bind it
/// to the slice that is open at its moment, so it arrives a nanosecond before the end.
void ChromeJson::add_arrow(TracePart const& part, TraceEvent const& event, int row) {
    bool const sends = event.kind == TraceKind::send;
    begin(sends ? 's' : 'f', {part.rank, row});
    std::int64_t const arrives = std::max(event.begin, event.end - 1);
    time("ts", part.aligned(sends ? event.begin : arrives) - zero_);
    text_ += ",\"cat\":\"message\",\"name\":\"message\",\"id\":";
    number(static_cast<std::int64_t>(event.flow));
    text_ += sends ? "}" : ",\"bp\":\"e\"}";
}

void ChromeJson::add_count(TracePart const& part, char const* name, std::int64_t at,
                           std::int64_t value) {
    begin('C', {part.rank, 0});
    time("ts", part.aligned(at) - zero_);
    text_ += ",\"name\":";
    quoted(name);
    argument("value", value);
    text_ += "}}";
}

void ChromeJson::begin(char phase, Place place) {
    text_ += first_ ? "\n{\"ph\":\"" : ",\n{\"ph\":\"";
    text_ += phase;
    text_ += "\",\"pid\":";
    number(place.rank + 1);  // Viewers take 0 for the system's idle process.
    if (place.row > 0) {
        text_ += ",\"tid\":";
        number(place.row);
    }
    first_ = false;
    first_argument_ = true;
}

/// Microseconds, with the nanoseconds as decimals.
void ChromeJson::time(char const* name, std::int64_t nanoseconds) {
    std::int64_t const positive = nanoseconds < 0 ? -nanoseconds : nanoseconds;
    text_ += ",\"";
    text_ += name;
    text_ += nanoseconds < 0 ? "\":-" : "\":";
    number(positive / 1000);
    std::string decimals = std::to_string(1000 + positive % 1000);
    decimals[0] = '.';
    text_ += decimals;
}

void ChromeJson::argument(char const* name, std::int64_t value) {
    text_ += first_argument_ ? ",\"args\":{\"" : ",\"";
    first_argument_ = false;
    text_ += name;
    text_ += "\":";
    number(value);
}

void ChromeJson::text_argument(char const* name, std::string_view value) {
    text_ += first_argument_ ? ",\"args\":{\"" : ",\"";
    first_argument_ = false;
    text_ += name;
    text_ += "\":";
    quoted(value);
}

/// Names of files are bytes: those that are no ASCII are shown as if they were Latin-1.
void ChromeJson::quoted(std::string_view text) {
    constexpr char digits[] = "0123456789abcdef";
    text_ += '"';
    for (char const letter : text) {
        auto const code = static_cast<unsigned char>(letter);
        if (code < 0x20 || code > 0x7e) {
            text_ += "\\u00";
            text_ += digits[code / 16];
            text_ += digits[code % 16];
            continue;
        }
        if (letter == '"' || letter == '\\') text_ += '\\';
        text_ += letter;
    }
    text_ += '"';
}

void ChromeJson::number(std::int64_t value) {
    char digits[24];
    auto const end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    text_.append(digits, end);
}

bool ChromeJson::flush(std::size_t bytes_left) {
    if (text_.size() <= bytes_left) return works_;
    works_ = works_ && write_(text_);
    text_.clear();
    return works_;
}

}  // namespace sluice
