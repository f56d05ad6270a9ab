// Runs all ranks' schedules on symbolic memory and compares with what MPI says. One order of starts
// is enough: order_fault() shows that all others read the same bytes and match the same messages.
// A send here ends only with its receive, so what ends here ends with any network.
#include "simulate/proof/collective_check.hpp"

#include "schedule/describe.hpp"
#include "schedule/schedule_check.hpp"
#include "simulate/proof/order.hpp"
#include "simulate/proof/semantics.hpp"

#include <array>
#include <deque>
#include <unordered_map>

namespace sluice {
namespace {

using Id = std::uint32_t;

std::string at_op(Rank rank, Id index, Op const& op) {
    return "rank " + std::to_string(rank) + ", op " + std::to_string(index) + " (" + describe(op) +
           "): ";
}

char const* shape_fault(Op const& op) noexcept {
    auto const is_stream = [](Memory memory) {
        return memory == Memory::input || memory == Memory::output || memory == Memory::scratch;
    };
    bool const reads = op.kind != OpKind::recv, writes = op.kind != OpKind::send;
    bool const is_message = !reads || !writes;
    if (op.channel != Channel::collective) return "not of a collective";
    if (!is_message && op.kind != OpKind::copy && op.kind != OpKind::reduce) return "no such kind";
    if (reads && !is_stream(op.source)) return "reads no stream";
    if (writes && !is_stream(op.target)) return "writes no stream";
    if (op.target == Memory::input) return "writes the input";
    if (is_message && op.number > 63) return "no such number of a message";
    if (op.bytes < 0 || (op.bytes == 0 && !is_message)) return "moves nothing";
    bool const apart =
        op.source_at + op.bytes <= op.target_at || op.target_at + op.bytes <= op.source_at;
    if (!is_message && op.source == op.target && !apart) return "reads what it writes";
    return nullptr;
}

/// Calls `visit(offset, bytes, Content, Content)` for what both have in common; both are as long.
template <class Visit>
void for_each_common(std::vector<ContentPiece> const& a, std::vector<ContentPiece> const& b,
                     Visit&& visit) {
    Bytes offset = 0, a_begin = 0, b_begin = 0;
    for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
        Bytes const a_end = a_begin + x->bytes, b_end = b_begin + y->bytes;
        Bytes const until = std::min(a_end, b_end);
        visit(offset, until - offset, x->content.after(offset - a_begin),
              y->content.after(offset - b_begin));
        offset = until;
        if (until == a_end) a_begin = until, ++x;
        if (until == b_end) b_begin = until, ++y;
    }
}

/// Which ranks an op knows to have begun: what a barrier is about.
class Heard {
public:
    Heard(std::size_t ops, std::size_t ranks) : words_((ranks + 63) / 64), bits_(ops * words_) {}
    void add(Id op, Heard const& other, Id of) noexcept {
        for (std::size_t w = 0; w < words_; ++w) {
            bits_[op * words_ + w] |= other.bits_[of * words_ + w];
        }
    }
    void add(Id op, Rank rank) noexcept {
        auto const r = static_cast<std::size_t>(rank);
        bits_[op * words_ + r / 64] |= std::uint64_t{1} << r % 64;
    }
    /// The first rank that no op has heard of; -1: none.
    [[nodiscard]] Rank missing(std::size_t ranks) const noexcept {
        for (std::size_t r = 0; r < ranks; ++r) {
            std::uint64_t any = 0;
            for (std::size_t i = r / 64; i < bits_.size(); i += words_) any |= bits_[i];
            if ((any >> r % 64 & 1) == 0) return static_cast<Rank>(r);
        }
        return -1;
    }

private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

/// One rank while the schedules run.
struct Runner {
    CollectiveSchedule const* made;
    std::array<SymbolicMemory, 3> memory;  ///< Input, output, scratch.
    std::vector<Id> waits;                 ///< For how many ops.
    std::vector<std::vector<Id>> next;     ///< Who waits for it.
    std::size_t undone = 0;
    Heard heard;

    Runner(CollectiveSchedule const& m, CollectiveCall const& call, Rank self, Rank ranks)
        : made(&m),
          memory{SymbolicMemory(input_bytes(call, self, ranks)),
                 SymbolicMemory(output_bytes(call, self, ranks)), SymbolicMemory(m.scratch)},
          waits(ops().size()),
          next(ops().size()),
          undone(ops().size()),
          heard(call.kind == CollectiveKind::barrier ? ops().size() : 0,
                static_cast<std::size_t>(ranks)) {
        Bytes const brought = of(Memory::input).bytes();
        if (brought > 0) of(Memory::input).write(0, {{brought, {self, 0}}});
        for (Expected const& e : brought_in_output(call, self, ranks)) {
            of(Memory::output).write(e.at, {{e.bytes, e.content}});
        }
        for (Id i = 0; i < ops().size(); ++i) {
            waits[i] = ops()[i].edge_count;
            for (Id const before : edges(i)) next[before].push_back(i);
        }
    }
    [[nodiscard]] std::vector<Op> const& ops() const noexcept { return made->schedule.ops; }
    [[nodiscard]] std::span<Id const> edges(Id op) const noexcept {
        return std::span(made->schedule.edges).subspan(ops()[op].first_edge, ops()[op].edge_count);
    }
    [[nodiscard]] SymbolicMemory& of(Memory role) noexcept {
        return memory[role == Memory::input ? 0 : role == Memory::output ? 1 : 2];
    }
};

class Check {
public:
    Check(std::span<CollectiveCall const> calls, std::span<CollectiveSchedule const> schedules)
        : calls_(calls),
          schedules_(schedules),
          ranks_(static_cast<Rank>(calls.size())),
          contributors_(ranks_, !calls.front().commutative) {}

    std::string run() {
        for (Rank r = 0; r < ranks_ && fault_.empty(); ++r) look_at(r);
        if (!fault_.empty()) return fault_;
        for (Rank r = 0; r < ranks_; ++r) {
            for (Id i = 0; i < at(r).ops().size(); ++i) {
                if (at(r).waits[i] == 0) ready_.emplace_back(r, i);
            }
        }
        for (; !ready_.empty() && fault_.empty(); ready_.pop_front()) {
            start(ready_.front().first, ready_.front().second);
        }
        look_for_messages();
        for (Rank r = 0; r < ranks_ && fault_.empty(); ++r) look_at_end(r);
        return fault_;
    }

private:
    struct Waiting {
        std::vector<Id> sends, receives;  ///< Begun and not met yet, of one of the two.
    };

    [[nodiscard]] Runner& at(Rank rank) noexcept {
        return runners_[static_cast<std::size_t>(rank)];
    }
    [[nodiscard]] CollectiveCall const& call(Rank rank) const noexcept {
        return calls_[static_cast<std::size_t>(rank)];
    }
    void fail(Rank rank, Id op, std::string const& what) {
        if (fault_.empty()) fault_ = at_op(rank, op, at(rank).ops()[op]) + what;
    }

    void look_at(Rank rank);
    void look_at_op(Rank rank, Id op);
    void start(Rank rank, Id op);
    void post(Rank rank, Id op);
    void complete(Rank rank, Id op);
    std::vector<ContentPiece> read(Rank rank, Id op, Memory memory, Bytes position);
    void write(Rank rank, Id op, std::vector<ContentPiece> pieces);
    void combine(Rank rank, Id op);
    void look_for_messages();
    void look_at_end(Rank rank);
    void compare_output(Rank rank);

    std::span<CollectiveCall const> calls_;
    std::span<CollectiveSchedule const> schedules_;
    Rank ranks_;
    Contributors contributors_;
    std::vector<Runner> runners_;
    std::deque<std::pair<Rank, Id>> ready_;
    std::unordered_map<std::uint64_t, Waiting> messages_;  ///< By (from, to, value).
    std::string fault_;
};

/// Before anything runs.
void Check::look_at(Rank rank) {
    auto const& made = schedules_[static_cast<std::size_t>(rank)];
    std::string const name = "rank " + std::to_string(rank) + ": ";
    if (auto text = first_fault(made.schedule); !text.empty()) {
        fault_ = name + text;
        return;
    }
    runners_.emplace_back(made, call(rank), rank, ranks_);
    for (Id i = 0; i < made.schedule.ops.size(); ++i) look_at_op(rank, i);
    if (auto text = order_fault(made.schedule); fault_.empty() && !text.empty()) {
        fault_ = name + text;
    }
}

void Check::look_at_op(Rank rank, Id index) {
    Op const& op = at(rank).ops()[index];
    if (char const* what = shape_fault(op)) return fail(rank, index, what);
    auto const outside = [&](Memory memory, Bytes position) {
        return memory != Memory::none &&
               (position < 0 || position + op.bytes > at(rank).of(memory).bytes());
    };
    if (outside(op.source, op.source_at)) fail(rank, index, "reads behind the end");
    if (outside(op.target, op.target_at)) fail(rank, index, "writes behind the end");
    bool const is_message = op.kind == OpKind::send || op.kind == OpKind::recv;
    if (is_message && (op.peer >= ranks_ || op.peer == rank)) fail(rank, index, "no such peer");
    if (op.kind == OpKind::reduce && op.bytes % call(rank).element != 0) {
        fail(rank, index, "divides an element");
    }
}

void Check::start(Rank rank, Id index) {
    Op const& op = at(rank).ops()[index];
    if (op.kind == OpKind::send || op.kind == OpKind::recv) return post(rank, index);
    if (op.kind == OpKind::copy) {
        write(rank, index, read(rank, index, op.source, op.source_at));
    } else {
        combine(rank, index);
    }
    complete(rank, index);
}

/// A message moves once both sides have begun.
void Check::post(Rank rank, Id index) {
    Op const& op = at(rank).ops()[index];
    bool const sends = op.kind == OpKind::send;
    Rank const from = sends ? rank : op.peer, to = sends ? op.peer : rank;
    auto const key = static_cast<std::uint64_t>(from) << 35 | static_cast<std::uint64_t>(to) << 6 |
                     static_cast<std::uint64_t>(op.number);
    Waiting& waiting = messages_[key];
    (sends ? waiting.sends : waiting.receives).push_back(index);
    if (waiting.sends.empty() || waiting.receives.empty()) return;
    Id const send = waiting.sends.front(), recv = waiting.receives.front();
    waiting.sends.erase(waiting.sends.begin());
    waiting.receives.erase(waiting.receives.begin());
    Op const& sent = at(from).ops()[send];
    if (sent.bytes != at(to).ops()[recv].bytes) {
        return fail(to, recv, "what is sent has " + std::to_string(sent.bytes) + " bytes");
    }
    write(to, recv, read(from, send, sent.source, sent.source_at));
    complete(from, send);
    if (call(to).kind == CollectiveKind::barrier) at(to).heard.add(recv, at(from).heard, send);
    complete(to, recv);
}

void Check::complete(Rank rank, Id index) {
    Runner& runner = at(rank);
    if (call(rank).kind == CollectiveKind::barrier) {
        runner.heard.add(index, rank);
        for (Id const before : runner.edges(index)) runner.heard.add(index, runner.heard, before);
    }
    --runner.undone;
    for (Id const next : runner.next[index]) {
        if (--runner.waits[next] == 0) ready_.emplace_back(rank, next);
    }
}

std::vector<ContentPiece> Check::read(Rank rank, Id index, Memory memory, Bytes position) {
    auto pieces = at(rank).of(memory).read(position, at(rank).ops()[index].bytes);
    for (ContentPiece const& piece : pieces) {
        if (piece.content.who == Contributors::nobody) {
            fail(rank, index, "reads what is not there yet");
        }
    }
    return pieces;
}

void Check::write(Rank rank, Id index, std::vector<ContentPiece> pieces) {
    Op const& op = at(rank).ops()[index];
    SymbolicMemory& memory = at(rank).of(op.target);
    if (op.target == Memory::output && !reduces(call(rank).kind)) {
        for (ContentPiece const& old : memory.read(op.target_at, op.bytes)) {
            if (old.content.written) fail(rank, index, "writes what was written before");
        }
    }
    for (ContentPiece& piece : pieces) piece.content.written = true;
    memory.write(op.target_at, pieces);
}

void Check::combine(Rank rank, Id index) {
    Op const& op = at(rank).ops()[index];
    auto const left = read(rank, index, op.source, op.source_at);
    auto const right = read(rank, index, op.target, op.target_at);
    std::vector<ContentPiece> pieces;
    if (!fault_.empty()) return;
    for_each_common(left, right, [&](Bytes, Bytes bytes, Content const& l, Content const& r) {
        auto const who = contributors_.combine(l.who, r.who);
        if (l.at != r.at) fail(rank, index, "combines different elements");
        if (l.at % call(rank).element != 0) fail(rank, index, "divides an element");
        if (!who) {
            fail(rank, index,
                 "combines ranks " + contributors_.describe(l.who) + " with ranks " +
                     contributors_.describe(r.who));
        }
        pieces.push_back({bytes, {who.value_or(Contributors::nobody), l.at}});
    });
    write(rank, index, pieces);
}

void Check::look_for_messages() {
    for (auto const& [key, waiting] : messages_) {
        bool const sends = !waiting.sends.empty();
        if (!sends && waiting.receives.empty()) continue;
        auto const whose = static_cast<Rank>((sends ? key >> 35 : key >> 6) & 0x1fffffff);
        return fail(whose, sends ? waiting.sends.front() : waiting.receives.front(),
                    "nobody does the other side of it");
    }
}

void Check::look_at_end(Rank rank) {
    Runner& runner = at(rank);
    for (Id i = 0; i < runner.ops().size() && runner.undone > 0; ++i) {
        if (runner.waits[i] > 0) return fail(rank, i, "never starts");
    }
    if (call(rank).kind == CollectiveKind::barrier && ranks_ > 1) {
        Rank const missing = runner.heard.missing(static_cast<std::size_t>(ranks_));
        if (missing < 0) return;
        fault_ =
            "rank " + std::to_string(rank) + ": does not wait for rank " + std::to_string(missing);
    }
    compare_output(rank);
}

void Check::compare_output(Rank rank) {
    Runner& runner = at(rank);
    Bytes const bytes = runner.of(Memory::output).bytes();
    SymbolicMemory wanted(bytes);
    for (Expected const& e : brought_in_output(call(rank), rank, ranks_)) {
        wanted.write(e.at, {{e.bytes, e.content}});
    }
    for (Expected const& e : expected_output(calls_, rank, contributors_)) {
        if (e.bytes == 0) continue;
        wanted.write(e.at, {{e.bytes, {e.content.who, e.content.at, true}}});
    }
    auto const name = [&](Content const& c) {
        return contributors_.describe(c.who) + "@" + std::to_string(c.at);
    };
    for_each_common(wanted.read(0, bytes), runner.of(Memory::output).read(0, bytes),
                    [&](Bytes offset, Bytes, Content const& want, Content const& have) {
                        if (want.who == have.who && want.at == have.at) return;
                        if ((!want.written && may_spoil(call(rank))) || !fault_.empty()) return;
                        fault_ = "rank " + std::to_string(rank) + ": output@" +
                                 std::to_string(offset) + " is " + name(have) + ", not " +
                                 name(want);
                    });
}

}  // namespace

std::string first_fault(std::span<CollectiveCall const> calls,
                        std::span<CollectiveSchedule const> schedules) {
    if (calls.empty() || calls.size() != schedules.size()) return "a schedule for each call";
    return Check(calls, schedules).run();
}

}  // namespace sluice
