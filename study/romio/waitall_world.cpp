// How steps follow each other in virtual time. See waitall_world.hpp.
#include "study/romio/waitall_world.hpp"

#include "simulate/index.hpp"

#include <algorithm>
#include <utility>

namespace sluice::simulated {
namespace {

class WaitallWorld final : private Waker, private Handler {
public:
    WaitallWorld(Machine const& machine, WaitallProgram& program, std::uint64_t seed)
        : program_(program),
          time_(seed),
          model_(machine),
          mail_(machine.ranks(), *this, Contents::only_length),
          ranks_(index(machine.ranks())),
          room_(std::make_unique_for_overwrite<std::byte[]>(index(program.longest_message()))) {
        model_.attach(time_, mail_);
    }

    WaitallOutcome run() {
        for (std::size_t r = 0; r < ranks_.size(); ++r) begin_step(static_cast<Rank>(r));
        WaitallOutcome outcome;
        if (!time_.run(events_max)) outcome.fault = "the simulation does not end";
        for (std::size_t r = 0; r < ranks_.size(); ++r) account(static_cast<Rank>(r), outcome);
        if (outcome.fault.empty()) outcome.fault = mail_.first_fault();
        outcome.events = time_.events();
        return outcome;
    }

private:
    static constexpr std::int64_t events_max = 4'000'000'000;
    enum class Event : std::uint32_t { post, look, written };

    struct RankState {
        WaitallStep step;
        std::vector<LetterId> receives, sends;  ///< Posted, not known to be finished.
        double began = 0, ended = 0;
        bool posted = false, awake = false;
        std::vector<double> parts;
    };

    void begin_step(Rank rank) {
        RankState& state = ranks_[index(rank)];
        state.step = WaitallStep{};
        state.posted = false, state.began = time_.now();
        if (!program_.next(rank, state.step)) {
            state.ended = time_.now();
            return;
        }
        double const busy = model_.processor_seconds(state.step.copied, state.step.pieces);
        at(time_.now() + busy, Event::post, rank);
    }

    void post(Rank rank) {
        RankState& state = ranks_[index(rank)];
        WaitallStep const& step = state.step;
        for (Post const& each : step.receives) {
            LetterId const id = mail_.recv(each.peer, rank, 0, room(each.bytes));
            state.receives.push_back(id);
            mail_.post_recv(id);
            model_.posted(id);
        }
        for (Post const& each : step.sends) {
            LetterId const id = mail_.send(rank, each.peer, 0, room(each.bytes), step.synchronous);
            state.sends.push_back(id);
            if (model_.leaves_at_once(each.bytes, step.synchronous)) mail_.keep(id);
            mail_.post_send(id);
            model_.posted(id);
        }
        state.posted = true;
        look(rank);
    }

    /// MPI_Waitall returns when none of the rank's messages is under way.
    void look(Rank rank) {
        RankState& state = ranks_[index(rank)];
        state.awake = false;
        if (!state.posted || mail_.counts(rank).under_way > 0) return;
        Bytes bytes = 0;
        for (LetterId const id : state.receives) (void)mail_.recv_finished(id, bytes);
        for (LetterId const id : state.sends) (void)mail_.send_finished(id);
        state.receives.clear(), state.sends.clear();
        state.posted = false;
        if (state.step.written == 0) return end_step(rank);
        DeviceAccess const call{Direction::write, 0, state.step.offset, state.step.written};
        at(model_.transfer_end({&call, 1}), Event::written, rank);
    }

    void end_step(Rank rank) {
        RankState& state = ranks_[index(rank)];
        if (state.parts.size() <= state.step.part) state.parts.resize(state.step.part + 1);
        state.parts[state.step.part] += time_.now() - state.began;
        begin_step(rank);
    }

    void wake(Rank rank) override {
        RankState& state = ranks_[index(rank)];
        if (!state.posted || mail_.counts(rank).under_way > 0) return;
        if (std::exchange(state.awake, true)) return;
        at(time_.now() + model_.wake_seconds(), Event::look, rank);
    }

    void at(double when, Event event, Rank rank) {
        time_.at(when, *this, static_cast<std::uint32_t>(event), static_cast<std::uint64_t>(rank));
    }

    void happened(std::uint32_t kind, std::uint64_t subject) override {
        auto const rank = static_cast<Rank>(subject);
        switch (static_cast<Event>(kind)) {
        case Event::post:
            return post(rank);
        case Event::look:
            return look(rank);
        case Event::written:
            return end_step(rank);
        }
    }

    [[nodiscard]] std::span<std::byte> room(Bytes bytes) const {
        return {room_.get(), index(bytes)};
    }

    void account(Rank rank, WaitallOutcome& outcome) const {
        RankState const& state = ranks_[index(rank)];
        outcome.seconds = std::max(outcome.seconds, state.ended);
        if (outcome.parts.size() < state.parts.size()) outcome.parts.resize(state.parts.size());
        for (std::size_t i = 0; i < state.parts.size(); ++i)
            outcome.parts[i] = std::max(outcome.parts[i], state.parts[i]);
        outcome.messages += mail_.counts(rank).sent;
        outcome.message_bytes += mail_.counts(rank).bytes_sent;
    }

    WaitallProgram& program_;
    Time time_;
    MachineModel model_;
    Mail mail_;
    std::vector<RankState> ranks_;
    std::unique_ptr<std::byte[]> room_;  ///< Stands for all messages; never touched.
};

}  // namespace

WaitallOutcome run_waitall(Machine const& machine, WaitallProgram& program, std::uint64_t seed) {
    return WaitallWorld(machine, program, seed).run();
}

}  // namespace sluice::simulated
