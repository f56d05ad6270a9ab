// The names of what a trace holds. See event.hpp.
#include "events/event.hpp"

#include <cstddef>
#include <iterator>

namespace sluice {
namespace {

constexpr TraceKindText kinds[] = {
    {"none", "none", TraceRow::thread},
    {"call", "call", TraceRow::thread},
    {"wait", "wait", TraceRow::thread},
    {"copy into collective buffer", "copy", TraceRow::thread},
    {"copy out of collective buffer", "copy", TraceRow::thread},
    {"pack message", "copy", TraceRow::thread},
    {"unpack message", "copy", TraceRow::thread},
    {"copy to write behind", "copy", TraceRow::thread},
    {"taken behind", "behind", TraceRow::thread},
    {"written behind", "behind", TraceRow::thread},
    {"write", "operation", TraceRow::operations},
    {"read", "operation", TraceRow::operations},
    {"agree", "operation", TraceRow::operations},
    {"exchange of summaries", "stage", TraceRow::operations},
    {"overlap", "stage", TraceRow::operations},
    {"weights", "stage", TraceRow::operations},
    {"claims", "stage", TraceRow::operations},
    {"exchange", "stage", TraceRow::operations},
    {"agreement", "stage", TraceRow::operations},
    {"round", "round", TraceRow::rounds},
    {"write to file", "transfer", TraceRow::transfers},
    {"read from file", "transfer", TraceRow::transfers},
    {"request", "request", TraceRow::thread},
    {"request", "request", TraceRow::thread},
    {"send", "message", TraceRow::messages},
    {"receive", "message", TraceRow::messages},
    {"between calls", "program", TraceRow::thread},
};
static_assert(std::size(kinds) == static_cast<std::size_t>(TraceKind::last) + 1);

constexpr char const* waits[] = {
    "something else",
    "other ranks' calls",
    "other ranks' ends",
    "other ranks' claims",
    "copies of other ranks",
    "a collective buffer",
    "a message",
    "the file",
    "memory for delayed writes",
    "an earlier operation",
    "delayed writes of others",
    "what the program has given to a device",
};
static_assert(std::size(waits) == static_cast<std::size_t>(TraceWait::last) + 1);

constexpr char const* requests[][2] = {{"pread", "pwrite"}, {"preadv", "pwritev"}};
static_assert(std::size(requests) == static_cast<std::size_t>(TraceRequest::last) + 1);

}  // namespace

TraceKindText const& text_of(TraceKind kind) noexcept {
    return kinds[kind > TraceKind::last ? 0 : static_cast<std::size_t>(kind)];
}

char const* text_of(TraceWait what) noexcept {
    return waits[what > TraceWait::last ? 0 : static_cast<std::size_t>(what)];
}

char const* text_of(TraceRequest how, bool write) noexcept {
    return requests[how > TraceRequest::last ? 0 : static_cast<std::size_t>(how)][write ? 1 : 0];
}

}  // namespace sluice
