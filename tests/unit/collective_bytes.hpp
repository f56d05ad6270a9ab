// Runs the schedules of all ranks of a collective on real bytes: ops that may run at once do so in
// a random order; messages are buffered or wait for their receiver, as the dice say.
#pragma once
#include "collective/algorithms.hpp"

#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <tuple>

namespace sluice::testing {

using Stream = std::vector<std::byte>;
/// right[i] = left[i] op right[i].
using Combine = std::function<void(std::byte const* left, std::byte* right, Bytes bytes)>;

struct RankMemory {
    Stream input, output, scratch;
};

class ByteWorld {
public:
    ByteWorld(std::vector<CollectiveSchedule> const& schedules, std::vector<RankMemory>& memory,
              Combine combine, std::uint64_t seed)
        : schedules_(schedules),
          memory_(memory),
          combine_(std::move(combine)),
          random_(seed),
          waits_(schedules.size()),
          next_(schedules.size()) {}

    /// What went wrong: nothing.
    std::string run() {
        for (std::size_t r = 0; r < schedules_.size(); ++r) {
            memory_[r].scratch.assign(static_cast<std::size_t>(schedules_[r].scratch),
                                      std::byte{0xdd});
            prepare(r);
        }
        while (!ready_.empty()) {
            std::size_t const pick = random_() % ready_.size();
            std::swap(ready_[pick], ready_.back());
            Event const event = ready_.back();
            ready_.pop_back();
            act(event);
            if (!fault_.empty()) return fault_;
        }
        return left_ == 0 ? "" : std::to_string(left_) + " ops never ended";
    }

private:
    struct Event {
        std::size_t rank, op;
        bool ends = false;  ///< A message's transfer, of its receiver.
        std::size_t sender = 0, send = 0;
        std::ptrdiff_t buffered = -1;
    };
    struct Post {
        std::size_t op;
        std::ptrdiff_t buffered;
    };
    using Key = std::tuple<std::size_t, std::size_t, std::int64_t>;  ///< From, to, value.

    Op const& op(std::size_t rank, std::size_t i) const { return schedules_[rank].schedule.ops[i]; }

    void prepare(std::size_t r) {
        auto const& schedule = schedules_[r].schedule;
        left_ += schedule.ops.size();
        waits_[r].resize(schedule.ops.size());
        next_[r].resize(schedule.ops.size());
        for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
            Op const& one = schedule.ops[i];
            waits_[r][i] = one.edge_count;
            for (std::uint32_t e = 0; e < one.edge_count; ++e) {
                next_[r][schedule.edges[one.first_edge + e]].push_back(i);
            }
            if (one.edge_count == 0) ready_.push_back({r, i});
        }
    }

    void end(std::size_t r, std::size_t i) {
        --left_;
        for (std::size_t const later : next_[r][i]) {
            if (--waits_[r][later] == 0) ready_.push_back({r, later});
        }
    }

    std::byte* at(std::size_t rank, Memory which, Bytes where, Bytes bytes) {
        RankMemory& memory = memory_[rank];
        Stream& stream = which == Memory::input    ? memory.input
                         : which == Memory::output ? memory.output
                                                   : memory.scratch;
        if (where < 0 || where + bytes > static_cast<Bytes>(stream.size())) {
            fault_ = "rank " + std::to_string(rank) + " leaves its memory";
            stream.resize(static_cast<std::size_t>(std::max<Bytes>(where, 0) + bytes));
            return stream.data();
        }
        return stream.data() + where;
    }

    void act(Event const& event) {
        if (event.ends) return transfer(event);
        Op const& one = op(event.rank, event.op);
        if (one.kind == OpKind::send) return start_send(event.rank, event.op);
        if (one.kind == OpKind::recv) return start_recv(event.rank, event.op);
        std::byte const* const from = at(event.rank, one.source, one.source_at, one.bytes);
        std::byte* const to = at(event.rank, one.target, one.target_at, one.bytes);
        if (one.target == Memory::input) fault_ = "the input is written";
        if (!fault_.empty()) return;
        if (one.kind == OpKind::copy) {
            std::memmove(to, from, static_cast<std::size_t>(one.bytes));
        } else {
            combine_(from, to, one.bytes);
        }
        end(event.rank, event.op);
    }

    void start_send(std::size_t rank, std::size_t i) {
        Op const& one = op(rank, i);
        std::ptrdiff_t buffered = -1;
        if (random_() % 2) {
            buffered = static_cast<std::ptrdiff_t>(buffers_.size());
            std::byte const* const from = at(rank, one.source, one.source_at, one.bytes);
            buffers_.emplace_back(from, from + one.bytes);
        }
        Key const key{rank, static_cast<std::size_t>(one.peer), one.number};
        sends_[key].push_back({i, buffered});
        if (buffered >= 0) end(rank, i);
        match(key);
    }

    void start_recv(std::size_t rank, std::size_t i) {
        Op const& one = op(rank, i);
        Key const key{static_cast<std::size_t>(one.peer), rank, one.number};
        recvs_[key].push_back(i);
        match(key);
    }

    void match(Key const& key) {
        auto& sends = sends_[key];
        auto& recvs = recvs_[key];
        if (sends.empty() || recvs.empty()) return;
        Event event{std::get<1>(key), recvs.front(),    true,
                    std::get<0>(key), sends.front().op, sends.front().buffered};
        sends.pop_front(), recvs.pop_front();
        ready_.push_back(event);
    }

    void transfer(Event const& event) {
        Op const& send = op(event.sender, event.send);
        Op const& recv = op(event.rank, event.op);
        if (send.bytes != recv.bytes) fault_ = "a message does not fit its receive";
        std::byte* const to = at(event.rank, recv.target, recv.target_at, recv.bytes);
        std::byte const* const from =
            event.buffered < 0 ? at(event.sender, send.source, send.source_at, send.bytes)
                               : buffers_[static_cast<std::size_t>(event.buffered)].data();
        if (recv.target == Memory::input) fault_ = "the input is written";
        if (!fault_.empty()) return;
        if (send.bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(send.bytes));
        if (event.buffered < 0) end(event.sender, event.send);
        end(event.rank, event.op);
    }

    std::vector<CollectiveSchedule> const& schedules_;
    std::vector<RankMemory>& memory_;
    Combine combine_;
    std::mt19937_64 random_;
    std::vector<std::vector<std::uint32_t>> waits_;
    std::vector<std::vector<std::vector<std::size_t>>> next_;
    std::vector<Event> ready_;
    std::map<Key, std::deque<Post>> sends_;
    std::map<Key, std::deque<std::size_t>> recvs_;
    std::vector<Stream> buffers_;
    std::size_t left_ = 0;
    std::string fault_;
};

}  // namespace sluice::testing
