// How long the schedules of all ranks take, by events: the machine that the model of prices has in
// mind, but played through op by op. Ranks lie on the nodes in blocks.
#pragma once
#include "collective/algorithm_choice.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <tuple>

namespace sluice::testing {

class CollectiveClock {
public:
    CollectiveClock(std::vector<CollectiveSchedule> const& schedules, CollectiveWorld const& world)
        : schedules_(schedules),
          world_(world),
          crowd_(std::max(1.0, static_cast<double>(world.most_on_a_node) / world.cores_a_node)),
          ranks_(schedules.size()),
          out_(static_cast<std::size_t>(world.nodes)),
          in_(static_cast<std::size_t>(world.nodes)) {}

    /// Until the last op has ended; negative: some never do.
    double run() {
        for (std::size_t r = 0; r < schedules_.size(); ++r) prepare(r);
        while (!events_.empty()) {
            Event const event = events_.top();
            events_.pop();
            now_ = event.time;
            happen(event);
        }
        return left_ == 0 ? now_ : -1;
    }

private:
    enum class What : std::uint8_t { crosses, comes, worked, ends };
    struct Work {
        std::size_t rank, op;
        std::size_t sender = 0, send = 0;  ///< Of receives.
    };
    struct Event {
        double time;
        std::size_t order;
        What what;
        Work work;
        bool operator<(Event const& other) const {
            return std::tie(other.time, other.order) < std::tie(time, order);
        }
    };
    struct State {
        std::vector<std::uint32_t> waits;
        std::vector<std::vector<std::size_t>> next;
        std::deque<Work> starts, receives;  ///< What waits for the CPU.
        bool busy = false;
        std::map<std::size_t, double> readers;  ///< Ranks that move bytes from here: until when.
    };
    using Key = std::tuple<std::size_t, std::size_t, std::int64_t>;

    std::size_t node_of(std::size_t rank) const {
        return rank / static_cast<std::size_t>(world_.most_on_a_node);
    }
    bool is_near(std::size_t a, std::size_t b) const { return node_of(a) == node_of(b); }
    Op const& op(std::size_t rank, std::size_t i) const { return schedules_[rank].schedule.ops[i]; }
    void plan(double time, What what, Work const& work) {
        events_.push({time, order_++, what, work});
    }

    void prepare(std::size_t r) {
        auto const& schedule = schedules_[r].schedule;
        State& state = ranks_[r];
        left_ += schedule.ops.size();
        state.waits.resize(schedule.ops.size());
        state.next.resize(schedule.ops.size());
        for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
            Op const& one = schedule.ops[i];
            state.waits[i] = one.edge_count;
            for (std::uint32_t e = 0; e < one.edge_count; ++e) {
                state.next[schedule.edges[one.first_edge + e]].push_back(i);
            }
            if (one.edge_count == 0) start(r, i);
        }
    }

    void start(std::size_t r, std::size_t i) {
        Op const& one = op(r, i);
        if (one.kind == OpKind::recv) {
            Key const key{static_cast<std::size_t>(one.peer), r, one.number};
            recvs_[key].push({r, i});
            return match(key);
        }
        ranks_[r].starts.push_back({r, i});
        work(r);
    }

    void happen(Event const& event) {
        Work const& work_done = event.work;
        Op const& one = op(work_done.rank, work_done.op);
        switch (event.what) {
        case What::crosses: {  // Its first byte is at the link of the receiver's node.
            double& link = in_[node_of(static_cast<std::size_t>(one.peer))];
            link = std::max(link, now_) + world_.between.byte * static_cast<double>(one.bytes);
            return plan(link, What::comes, work_done);
        }
        case What::comes:
            return post(work_done);
        case What::worked:
            ranks_[work_done.rank].busy = false;
            one.kind == OpKind::send ? leave(work_done) : end(work_done);
            return work(work_done.rank);
        case What::ends:
            return end(work_done);
        }
    }

    /// The CPU takes what can be started before it looks for messages.
    void work(std::size_t r) {
        State& state = ranks_[r];
        if (state.busy) return;
        auto& queue = state.starts.empty() ? state.receives : state.starts;
        if (queue.empty()) return;
        Work const next = queue.front();
        queue.pop_front();
        state.busy = true;
        plan(now_ + seconds_of(next), What::worked, next);
    }

    double seconds_of(Work const& next) {
        Op const& one = op(next.rank, next.op);
        auto const bytes = static_cast<double>(one.bytes);
        switch (one.kind) {
        case OpKind::send:
            return is_near(next.rank, static_cast<std::size_t>(one.peer))
                       ? world_.within.start / 2 * crowd_
                       : world_.between.start / 2;
        case OpKind::recv:
            if (!is_near(next.rank, next.sender)) return world_.between.start / 2;
            return read_seconds(next, bytes);
        default:
            return (one.kind == OpKind::copy ? world_.copy_byte : world_.combine_byte) * bytes *
                   crowd_;
        }
    }

    /// Who reads at the same time from the same rank is disturbed.
    double read_seconds(Work const& next, double bytes) {
        auto& readers = ranks_[next.sender].readers;
        std::erase_if(readers, [&](auto const& read) { return read.second <= now_; });
        double const others = static_cast<double>(readers.size());
        double const seconds =
            (world_.within.start / 2 + world_.within.byte * bytes * (1 + others * disturbance)) *
            crowd_;
        readers[next.rank] = now_ + seconds;
        return seconds;
    }

    /// A message has been started. Long ones of a node end when they have been received.
    void leave(Work const& sent) {
        Op const& one = op(sent.rank, sent.op);
        if (is_near(sent.rank, static_cast<std::size_t>(one.peer))) {
            if (one.bytes <= eager_most) end(sent);
            return post(sent);
        }
        double& link = out_[node_of(sent.rank)];
        double const begin = std::max(link, now_);
        link = begin + world_.between.byte * static_cast<double>(one.bytes);
        plan(begin, What::crosses, sent);
        plan(link, What::ends, sent);
    }

    void post(Work const& sent) {
        Op const& one = op(sent.rank, sent.op);
        Key const key{sent.rank, static_cast<std::size_t>(one.peer), one.number};
        sends_[key].push(sent);
        match(key);
    }

    void match(Key const& key) {
        auto& sends = sends_[key];
        auto& recvs = recvs_[key];
        if (sends.empty() || recvs.empty()) return;
        Work matched = recvs.front();
        matched.sender = sends.front().rank, matched.send = sends.front().op;
        sends.pop(), recvs.pop();
        ranks_[matched.rank].receives.push_back(matched);
        work(matched.rank);
    }

    void end(Work const& done) {
        --left_;
        Op const& one = op(done.rank, done.op);
        if (one.kind == OpKind::recv && is_near(done.rank, done.sender) && one.bytes > eager_most) {
            end({done.sender, done.send});
        }
        State& state = ranks_[done.rank];
        for (std::size_t const later : state.next[done.op]) {
            if (--state.waits[later] == 0) start(done.rank, later);
        }
    }

    static constexpr Bytes eager_most = 4096;
    static constexpr double disturbance = 0.125;  ///< Of each other reader.

    std::vector<CollectiveSchedule> const& schedules_;
    CollectiveWorld const& world_;
    double crowd_;
    std::vector<State> ranks_;
    std::vector<double> out_, in_;  ///< Links of nodes: until when each is busy.
    std::priority_queue<Event> events_;
    std::map<Key, std::queue<Work>> sends_, recvs_;
    std::size_t order_ = 0, left_ = 0;
    double now_ = 0;
};

/// Seconds of a call in which all ranks bring the same.
inline double played_seconds(CollectiveCall const& call, Algorithm algorithm, Bytes segment,
                             CollectiveWorld const& world) {
    std::vector<CollectiveSchedule> schedules;
    for (Rank r = 0; r < world.ranks; ++r) {
        schedules.push_back(make_collective(call, algorithm, r, world.ranks, segment));
    }
    return CollectiveClock(schedules, world).run();
}

}  // namespace sluice::testing
