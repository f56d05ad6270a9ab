// The words of a Stall. See stall.hpp.
#include "file/run/stall.hpp"

namespace sluice {
namespace {

/// Such as "0-3, 8".
std::string list_of(std::vector<std::int32_t> const& ranks) {
    std::string text;
    for (std::size_t first = 0, last = 0; first < ranks.size(); first = ++last) {
        while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
        text += (first > 0 ? ", " : "") + std::to_string(ranks[first]);
        if (last > first) text += "-" + std::to_string(ranks[last]);
    }
    return text;
}

/// Where all ranks have made the call.
char const* words_of(TraceWait reason) noexcept {
    switch (reason) {
    case TraceWait::calls:
        return "other ranks to go on with it; all have called it";
    case TraceWait::ends:
        return "other ranks to end their part of it";
    case TraceWait::claims:
        return "other ranks to say which of its rounds they take part in";
    case TraceWait::copies:
        return "other ranks of this node to copy their bytes";
    case TraceWait::cb_buffer:
        return "a collective buffer, which others still use";
    case TraceWait::message:
        return "a message from or to another node";
    case TraceWait::file:
        return "the file system, which has not ended a transfer";
    case TraceWait::earlier:
        return "an earlier call on the file";
    case TraceWait::given_work:
        return "the work that the program had given to the file's stream before the call";
    case TraceWait::memory:
    case TraceWait::other_writer:
    case TraceWait::unknown:
        break;
    }
    return "something that the library cannot tell";
}

std::string who_is_missing(Stall const& s) {
    std::string const total = std::to_string(s.here), count = std::to_string(s.missing);
    bool const single = s.missing == 1;
    std::string const others = s.all > s.here ? " of this node" : "";
    std::string who = count + " of the " + total + " ranks" + others;
    if (!s.ranks.empty()) who = (single ? "rank " : "ranks ") + list_of(s.ranks);
    if (!s.ranks.empty() && !single) who += " (" + count + " of " + total + others + ")";
    return who + ", which " + (single ? "has" : "have") + " not " +
           (s.function ? "called it" : "come to it");
}

/// A rank sees which ranks of its node have made a call; of other nodes it hears when all have.
std::string awaited(Stall const& s) {
    if (s.missing > 0)
        return who_is_missing(s) + (s.all > s.here ? ", and perhaps for ranks of other nodes" : "");
    if (s.all == s.here) return words_of(TraceWait::calls);
    std::int32_t const others = s.all - s.here;
    return (others == 1
                ? "the rank of the other node"
                : "one or more of the " + std::to_string(others) + " ranks of other nodes") +
           std::string("; none of this node is missing");
}

}  // namespace

std::string describe(Stall const& stall) {
    std::string const what = stall.function ? stall.function : "a collective call";
    return what + (stall.file.empty() ? "" : " on " + stall.file) + " waits for " +
           (stall.awaits_calls ? awaited(stall) : words_of(stall.reason));
}

}  // namespace sluice
