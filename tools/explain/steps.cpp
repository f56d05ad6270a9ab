// Ops in words, as the glossary has them. See steps.hpp.
#include "tools/explain/steps.hpp"

#include "schedule/describe.hpp"
#include "tools/simulate/report.hpp"

#include <algorithm>

namespace sluice::tools {
namespace {

constexpr std::size_t peers_shown = 3, edges_shown = 3;

class Teller {
public:
    Teller(Schedule const& schedule, Topology const& topology, Plan const& plan)
        : topology_(topology),
          plan_(plan),
          uses_cb_buffer_(std::any_of(schedule.ops.begin(), schedule.ops.end(), [](Op const& op) {
              return op.source == Memory::cb_buffer || op.target == Memory::cb_buffer ||
                     op.target == Memory::coverage;
          })) {}

    std::string tell(Op const& op) {
        switch (op.kind) {
        case OpKind::await:
            return wait(op);
        case OpKind::notify:
            return announce(op);
        case OpKind::copy:
            return copy(op);
        case OpKind::send:
            return "sends " + content(op.channel) + " to " + who(op.peer) +
                   (op.synchronous ? ", which must have asked for it" : "");
        case OpKind::recv:
            return "receives " + content(op.channel) + " of " + who(op.peer) + ", at most " +
                   bytes_text(static_cast<double>(op.bytes));
        case OpKind::write:
            return "writes the collective buffer's bytes to the file, and no others";
        case OpKind::read:
            return "reads the window into the collective buffer";
        case OpKind::clear:
            return "clears the marks of the collective buffer, for its next round";
        case OpKind::merge:
        case OpKind::reduce:
            break;
        }
        return describe(op);
    }

private:
    [[nodiscard]] std::string who(Rank rank) const {
        return "rank " + std::to_string(rank) + " (node " +
               std::to_string(topology_.node_of(rank)) + ")";
    }
    static std::string content(Channel channel) {
        if (channel == Channel::want) return "the list of wanted bytes";
        return channel == Channel::answer ? "the bytes read" : "the message";
    }
    [[nodiscard]] std::string wait(Op const& op) const {
        std::string const value = std::to_string(op.count);
        switch (op.counter) {
        case CounterKind::turn:
            if (op.count % 2 != 0)
                return "waits until the window's bytes are in the collective buffer";
            if (!uses_cb_buffer_)
                return "passes the collective buffer by: nothing of its node goes through it";
            return op.count == 0 ? "takes the collective buffer, which nobody has used yet"
                                 : "waits until the collective buffer is free of an earlier round";
        case CounterKind::posted:
            if (op.count == 0) return "waits for no rank of its node: none has bytes here";
            return "waits for the posts of its node's ranks, " + value + " in all";
        default:
            return "waits until " + value +
                   (op.count == 1 ? " earlier message is" : " earlier messages are") +
                   " dealt with: at most " + std::to_string(plan_.data.throttle.messages) +
                   " at once";
        }
    }
    std::string announce(Op const& op) {
        if (op.counter == CounterKind::posted) return "posts that its part is done";
        if (op.counter != CounterKind::turn) return "counts a message as dealt with";
        bool const there = plan_.direction == Direction::read && op.count == 1 && !told_;
        told_ = true;
        return there ? "tells its node that the bytes are in the collective buffer"
                     : "sets the collective buffer free";
    }
    [[nodiscard]] std::string copy(Op const& op) const {
        using enum Memory;
        bool const writes = plan_.direction == Direction::write;
        if (op.source == user && op.target == cb_buffer)
            return "copies its bytes of the window from the program's memory into the collective "
                   "buffer";
        if (op.source == user && op.target == coverage)
            return "marks in the collective buffer which bytes it wants";
        if (op.source == user && op.target == message)
            return writes ? "packs its bytes of the window into a message"
                          : "lists in a message which bytes it wants";
        if (op.source == cb_buffer && op.target == message)
            return "packs its node's bytes into a message";
        if (op.source == coverage) return "lists in a message which bytes its node wants";
        if (op.source == want) return "packs the bytes that " + who(op.peer) + " wants";
        if (op.target == want) return "notes which bytes " + who(op.peer) + " wants";
        if (op.target == cb_buffer)
            return "unpacks the message of " + who(op.peer) + " into the collective buffer";
        return "copies its bytes of the window into the program's memory";
    }

    Topology const& topology_;
    Plan const& plan_;
    bool uses_cb_buffer_;
    bool told_ = false;
};

std::string after(Schedule const& schedule, Op const& op) {
    if (op.edge_count == 0) return "";
    std::string text = ", after ";
    for (std::uint32_t e = 0; e < std::min<std::size_t>(op.edge_count, edges_shown); ++e)
        text += (e > 0 ? ", " : "") + std::to_string(schedule.edges[op.first_edge + e] + 1);
    if (op.edge_count > edges_shown)
        text += " and " + std::to_string(op.edge_count - edges_shown) + " more";
    return text;
}

bool counts_messages(Op const& op) {
    bool const counter = op.kind == OpKind::await || op.kind == OpKind::notify;
    return counter && op.counter >= CounterKind::collected;
}

}  // namespace

std::string steps_text(Schedule const& schedule, Topology const& topology, Plan const& plan) {
    Teller teller(schedule, topology, plan);
    std::string text;
    std::vector<Rank> shown;
    std::size_t left_out = 0;
    auto const tell_left_out = [&] {
        if (left_out > 0)
            text += "    ...  " + std::to_string(left_out) + " steps more of the same kind\n";
        left_out = 0;
    };
    bool known = true;  // The last message that was met.
    for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
        Op const& op = schedule.ops[i];
        if (op.peer >= 0) {
            known = std::find(shown.begin(), shown.end(), op.peer) != shown.end();
            if (!known && shown.size() < peers_shown) shown.push_back(op.peer), known = true;
        }
        bool const of_messages = op.peer >= 0 || counts_messages(op);
        if (of_messages && !known) {
            ++left_out;
            continue;
        }
        tell_left_out();
        std::string number = std::to_string(i + 1) + ".";
        number.insert(0, number.size() < 7 ? 7 - number.size() : 0, ' ');
        text += number + " " + teller.tell(op) + after(schedule, op) + "\n";
    }
    tell_left_out();
    return text;
}

}  // namespace sluice::tools
