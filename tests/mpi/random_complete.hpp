// All ways in which a program may complete requests, among them null ones and messages.
#pragma once
#include "random_transfer.hpp"

namespace random_test {

enum class Completion {
    wait,
    waitall,
    waitany,
    waitsome,
    test,
    testall,
    testany,
    testsome,
    get_status
};
inline constexpr std::array completion_names{"wait",    "waitall", "waitany",  "waitsome",  "test",
                                             "testall", "testany", "testsome", "get_status"};

/// Some pending requests, as the array that a program hands over.
class Requests {
public:
    Requests(PendingList chosen, std::uint64_t seed, int nulls)
        : chosen_(std::move(chosen)),
          seed_(seed) {
        for (auto const& pending : chosen_) handles_.push_back(pending->request);
        handles_.insert(handles_.end(), static_cast<std::size_t>(nulls), MPI_REQUEST_NULL);
        statuses_.resize(handles_.size());
        indices_.resize(handles_.size());
    }

    void complete(Completion way) {
        while (left() > 0) {
            if (!attempt(way)) ::usleep(20);  // others want the core
        }
    }

    /// One call; returns whether something was completed.
    bool attempt(Completion way) {
        switch (way) {
        case Completion::wait:
        case Completion::test:
        case Completion::get_status:
            return one_by_one(way);
        case Completion::waitall:
        case Completion::testall:
            return all(way == Completion::waitall);
        case Completion::waitany:
        case Completion::testany:
            return any(way == Completion::waitany);
        default:
            return some(way == Completion::waitsome);
        }
    }

private:
    int size() const { return static_cast<int>(handles_.size()); }
    long left() const {
        return std::count_if(chosen_.begin(), chosen_.end(),
                             [](auto const& pending) { return !pending->done; });
    }

    void take(int index, MPI_Status& status) {
        auto const i = static_cast<std::size_t>(index);
        if (index >= 0 && i >= chosen_.size() && i < handles_.size()) return;  // a null request
        if (index < 0 || i >= chosen_.size() || chosen_[i]->done) {
            check::fail("completed index " + std::to_string(index) + " is none", {});
            MPI_Abort(MPI_COMM_WORLD, 4);  // it would never end
        }
        Pending& pending = *chosen_[i];
        pending.done = true;
        std::string const here = check::state().test;
        now_at(seed_, pending.step, pending.name);
        check::is_true(handles_[i] == MPI_REQUEST_NULL, "a complete request is null");
        pending.finished(status);
        now_at(here);
    }

    /// The first one that is left.
    bool one_by_one(Completion way) {
        std::size_t i = 0;
        while (chosen_[i]->done) ++i;
        MPI_Status status{};
        int flag = 1;
        if (way == Completion::get_status) {
            check::ok(MPI_Request_get_status(handles_[i], &flag, &status), "get_status");
            check::is_true(handles_[i] != MPI_REQUEST_NULL, "get_status leaves the request");
            if (!flag) return false;
        }
        if (way == Completion::test) {
            check::ok(MPI_Test(&handles_[i], &flag, &status), "MPI_Test");
            if (!flag) return false;
        } else {
            check::ok(MPI_Wait(&handles_[i], &status), "MPI_Wait");
        }
        take(static_cast<int>(i), status);
        return true;
    }

    bool all(bool wait) {
        int flag = 1;
        check::ok(wait ? MPI_Waitall(size(), handles_.data(), statuses_.data())
                       : MPI_Testall(size(), handles_.data(), &flag, statuses_.data()),
                  wait ? "MPI_Waitall" : "MPI_Testall");
        if (!flag) return false;
        for (int i = 0; i < size(); ++i) {
            auto const at = static_cast<std::size_t>(i);
            if (at < chosen_.size() && chosen_[at]->done) continue;
            take(i, statuses_[at]);
        }
        return true;
    }

    bool any(bool wait) {
        int flag = 1, index = MPI_UNDEFINED;
        MPI_Status status{};
        check::ok(wait ? MPI_Waitany(size(), handles_.data(), &index, &status)
                       : MPI_Testany(size(), handles_.data(), &index, &flag, &status),
                  wait ? "MPI_Waitany" : "MPI_Testany");
        if (!flag) return false;
        take(index, status);
        return true;
    }

    bool some(bool wait) {
        int found = 0;
        check::ok(
            wait ? MPI_Waitsome(size(), handles_.data(), &found, indices_.data(), statuses_.data())
                 : MPI_Testsome(size(), handles_.data(), &found, indices_.data(), statuses_.data()),
            wait ? "MPI_Waitsome" : "MPI_Testsome");
        check::is_true(found != MPI_UNDEFINED && (found > 0 || !wait), "some are reported");
        for (int i = 0; i < found; ++i) {
            auto const at = static_cast<std::size_t>(i);
            take(indices_[at], statuses_[at]);
        }
        return found > 0;
    }

    PendingList chosen_;
    std::uint64_t seed_;
    std::vector<MPI_Request> handles_;
    std::vector<MPI_Status> statuses_;
    std::vector<int> indices_;
};

/// What is pending on this rank, and its completion.
class PendingRequests {
public:
    PendingRequests(std::uint64_t seed, bool tracing) : seed_(seed), tracing_(tracing) {}

    void add(Pending pending) { all_.push_back(std::make_shared<Pending>(std::move(pending))); }

    template <class Which> PendingList those(Which which) const {
        PendingList result;
        std::copy_if(all_.begin(), all_.end(), std::back_inserter(result),
                     [&](auto const& pending) { return which(*pending); });
        return result;
    }
    PendingList of_file(int file) const {
        return those([file](Pending const& pending) { return pending.file == file; });
    }
    PendingList all() const { return all_; }

    void complete(PendingList chosen, Random& random, int step) {
        if (chosen.empty()) return;
        random.shuffle(chosen);
        auto const way = static_cast<Completion>(random.below(completion_names.size()));
        say(chosen, way, step);
        Requests(chosen, seed_, random.chance(10) ? 2 : 0).complete(way);
        forget();
    }

    /// One call that may complete something or nothing.
    void poke(PendingList chosen, Random& random, int step) {
        if (chosen.empty()) return;
        random.shuffle(chosen);
        auto const way = random.one_of(
            {Completion::test, Completion::testall, Completion::testany, Completion::testsome});
        say(chosen, way, step);
        Requests requests(chosen, seed_, 0);
        requests.attempt(way);
        forget();
    }

    void forget() {
        std::erase_if(all_, [](auto const& pending) { return pending->done; });
    }

private:
    void say(PendingList const& chosen, Completion way, int step) const {
        if (!tracing_) return;
        std::ostringstream text;
        text << completion_names[static_cast<std::size_t>(way)] << " of steps";
        for (auto const& pending : chosen) text << ' ' << pending->step;
        trace(true, step, text.str());
    }

    std::uint64_t seed_;
    bool tracing_;
    PendingList all_;
};

}  // namespace random_test
