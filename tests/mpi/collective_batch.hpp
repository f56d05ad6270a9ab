// Several calls under way at once, completed in any order, compared with the MPI's own blocking
// answers.
#pragma once
#include "collective_oracle.hpp"
#include "collective_places.hpp"
#include "collective_watch.hpp"

#include <algorithm>

namespace collective_test {

enum class Way { interposed, own, persistent };
inline constexpr char const* way_names[] = {"MPI_I*", "sluice_i*", "sluice_*_init"};

/// A call, the memory it works on, and the MPI's answer.
struct Trial {
    Call call;
    Memory send, receive, expected;
    MPI_Request in_mpi = MPI_REQUEST_NULL;
    sluice_request own = SLUICE_REQUEST_NULL;
};

/// Bytes that nothing is said of are made equal.
inline void forgive(Call const& call, Memory& found, Memory& expected) {
    if (found.bytes().empty()) return;
    auto const copy = [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) found.base()[i] = expected.base()[i];
    };
    copy(call.rest_begin, call.rest_end);
    if (call.gap_begin == call.gap_end) return;
    auto const whole = static_cast<MPI_Aint>(found.bytes().size()) - found.origin();
    for (std::size_t at = 0; at + call.element <= static_cast<std::size_t>(whole);
         at += call.element) {
        copy(at + call.gap_begin, at + call.gap_end);
    }
}

class Batch {
public:
    Batch(std::uint64_t seed, std::int64_t first, Places const& places, Way way, bool breaks)
        : way_(way),
          breaks_(breaks),
          own_(seed, {first, 9, check::rank()}) {
        Random same(seed, {first, 8});
        int const calls = same.between(1, 6);
        std::size_t const only = same.below(places.size());
        bool const one_place = same.chance(40);
        frees_early_ =
            same.chance(50) && way != Way::persistent;  // Whose starts need the datatypes.
        for (int i = 0; i < calls; ++i) {
            Place const& place = places[one_place ? only : same.below(places.size())];
            if (place.communicator == MPI_COMM_NULL) continue;
            trials_.push_back({Maker(seed, first * 8 + i, place).make(), {}, {}, {}});
        }
    }

    void run() {
        if (!trials_.empty()) Watch::begin(way_name() + trials_.front().call.text);
        for (Trial& trial : trials_) ask_mpi(trial);
        if (way_ == Way::interposed) {
            start_all([](Trial& t, Arguments const& a) { return call_nonblocking(a, &t.in_mpi); });
            complete_in_mpi();
            compare_all();
        } else if (way_ == Way::own) {
            start_all([](Trial& t, Arguments const& a) { return call_own(a, &t.own); });
            complete_own();
            compare_all();
        } else {
            start_all([](Trial& t, Arguments const& a) { return call_init(a, &t.own); });
            for (int time = 0; time < 3; ++time) again();
            for (Trial& t : trials_) check::ok(sluice_request_free(&t.own), t.call.text);
        }
        for (Trial& trial : trials_) trial.call.free_handles();
        Watch::end();
    }

private:
    [[nodiscard]] std::string way_name() const {
        return std::string(way_names[static_cast<int>(way_)]) + ", ";
    }
    static void ask_mpi(Trial& t) {
        t.expected = t.call.receive;
        t.send = t.call.send;
        check::ok(collective_test::ask_mpi(arguments_of(t.call, t.send, t.expected)), t.call.text);
    }
    template <class Start> void start_all(Start&& start) {
        for (Trial& t : trials_) {
            t.receive = t.call.receive;
            t.send = t.call.send;
            check::ok(start(t, arguments_of(t.call, t.send, t.receive)), t.call.text);
            if (frees_early_) t.call.free_handles();
        }
    }
    /// Persistent ones keep their memory, so it is set to what it was.
    void again() {
        for (Trial& t : trials_) {
            std::copy(t.call.receive.bytes().begin(), t.call.receive.bytes().end(),
                      t.receive.base() - t.receive.origin());
        }
        std::vector<sluice_request> all;
        for (Trial& t : trials_) all.push_back(t.own);
        check::ok(sluice_startall(static_cast<int>(all.size()), all.data()), "startall");
        complete_own();
        compare_all();
    }

    void complete_in_mpi() {
        std::vector<MPI_Request> all;
        for (Trial& t : trials_) all.push_back(t.in_mpi);
        auto const count = static_cast<int>(all.size());
        std::vector<int> indices(all.size());
        std::vector<MPI_Status> statuses(all.size());
        int done = 0, which = 0;
        switch (own_.below(6)) {
        case 0:
            check::ok(MPI_Waitall(count, all.data(), statuses.data()), "Waitall");
            break;
        case 1:
            for (int const i : own_.order_of(count))
                check::ok(MPI_Wait(&all[static_cast<std::size_t>(i)], MPI_STATUS_IGNORE), "Wait");
            break;
        case 2:
            do check::ok(MPI_Waitany(count, all.data(), &which, MPI_STATUS_IGNORE), "Waitany");
            while (which != MPI_UNDEFINED);
            break;
        case 3:
            do
                check::ok(MPI_Waitsome(count, all.data(), &done, indices.data(), statuses.data()),
                          "Waitsome");
            while (done != MPI_UNDEFINED);
            break;
        case 4:
            while (!done)
                check::ok(MPI_Testall(count, all.data(), &done, statuses.data()), "Testall");
            break;
        default:
            for (int const i : own_.order_of(count)) {
                for (done = 0; !done;) {
                    check::ok(MPI_Test(&all[static_cast<std::size_t>(i)], &done, MPI_STATUS_IGNORE),
                              "Test");
                }
            }
        }
    }

    void complete_own() {
        std::vector<sluice_request> all;
        for (Trial& t : trials_) all.push_back(t.own);
        own_.shuffle(all);
        int const how = own_.below(3);
        if (how == 0) {
            check::ok(sluice_waitall(static_cast<int>(all.size()), all.data(), MPI_STATUSES_IGNORE),
                      "sluice_waitall");
            return;
        }
        for (sluice_request const request : all) {
            int done = how == 1;
            if (done) check::ok(sluice_wait(request, MPI_STATUS_IGNORE), "sluice_wait");
            while (!done) check::ok(sluice_test(request, &done, MPI_STATUS_IGNORE), "sluice_test");
        }
    }

    void compare_all() {
        for (Trial& t : trials_) {
            if (breaks_ && !t.receive.bytes().empty()) *t.receive.base() ^= 1U;
            std::string const what = way_name() + t.call.text;
            forgive(t.call, t.receive, t.expected);
            if (t.call.compares)
                check::same_bytes(t.expected.bytes(), t.receive.bytes(), what + ": received");
            check::same_bytes(t.call.send.bytes(), t.send.bytes(), what + ": sent");
        }
    }

    Way way_;
    bool breaks_;  ///< The test itself is tested: it must fail.
    bool frees_early_ = false;
    Random own_;
    std::vector<Trial> trials_;
};

}  // namespace collective_test
