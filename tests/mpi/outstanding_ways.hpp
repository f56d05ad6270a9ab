// The ways in which MPI lets a program complete an array of requests, each written so that ranks
// complete in different orders wherever MPI allows it.
#pragma once
#include "access.hpp"

#include <numeric>

namespace outstanding {

/// The requests of one rank, in the order of their start, among them messages if asked for.
class Operations {
public:
    explicit Operations(bool with_messages) {
        if (with_messages) start_messages();
    }

    void add(MPI_Request handle, std::int64_t bytes) {
        check::is_true(handle != MPI_REQUEST_NULL, "the start returns a request");
        requests.push_back(handle);
        bytes_.push_back(bytes);
        finished_.push_back(0);
    }
    int count() const { return static_cast<int>(requests.size()); }

    /// Called once for each request that a completing call reports.
    void finished(int index, MPI_Status const& status) {
        auto const i = static_cast<std::size_t>(index);
        if (index < 0 || i >= requests.size()) {
            check::fail("completed index " + std::to_string(index) + " is none", {});
            return;
        }
        ++finished_[i];
        if (bytes_[i] < 0) return;
        MPI_Count found = -1;
        MPI_Get_elements_x(&status, MPI_BYTE, &found);
        check::is_equal(static_cast<MPI_Count>(bytes_[i]), found, "bytes in the status");
    }

    void check_finished() const {
        for (std::size_t i = 0; i < requests.size(); ++i) {
            check::is_equal(1, finished_[i], "completions of request " + std::to_string(i));
            check::is_true(requests[i] == MPI_REQUEST_NULL, "request is null when complete");
        }
        if (!message_in_.empty()) {
            int const from = (check::rank() + check::size() - 1) % check::size();
            check::same_bytes(model::data_of(4, from, 0, 3000), message_in_, "message");
        }
    }

    std::vector<MPI_Request> requests;

private:
    /// A receive and a send around the ring: they complete independently of the files.
    void start_messages() {
        int const size = check::size(), rank = check::rank();
        message_in_.resize(3000);
        message_out_ = model::data_of(4, rank, 0, 3000);
        requests.resize(2);
        MPI_Irecv(message_in_.data(), 3000, MPI_BYTE, (rank + size - 1) % size, 7, MPI_COMM_WORLD,
                  &requests[0]);
        MPI_Isend(message_out_.data(), 3000, MPI_BYTE, (rank + 1) % size, 7, MPI_COMM_WORLD,
                  &requests[1]);
        bytes_.assign(2, -1);
        finished_.assign(2, 0);
    }

    std::vector<std::int64_t> bytes_;  ///< Expected in the status; negative: a message.
    std::vector<int> finished_;
    model::Bytes message_in_, message_out_;
};

using Finish = std::function<void(Operations&)>;

inline void wait_for(Operations& all, int index) {
    MPI_Status status{};
    check::ok(MPI_Wait(&all.requests[static_cast<std::size_t>(index)], &status), "MPI_Wait");
    all.finished(index, status);
}

inline void wait_forward(Operations& all) {
    for (int i = 0; i < all.count(); ++i) wait_for(all, i);
}

inline void wait_reverse(Operations& all) {
    for (int i = all.count(); i-- > 0;) wait_for(all, i);
}

/// Half of the ranks go forward and half backward.
inline void wait_opposite(Operations& all) {
    check::rank() % 2 == 0 ? wait_forward(all) : wait_reverse(all);
}

/// Each rank hands its requests over in an order of its own.
inline void waitall_rotated(Operations& all) {
    int const n = all.count();
    std::vector<MPI_Request> turned;
    for (int i = 0; i < n; ++i) {
        turned.push_back(all.requests[static_cast<std::size_t>((i + check::rank()) % n)]);
    }
    std::vector<MPI_Status> statuses(turned.size());
    check::ok(MPI_Waitall(n, turned.data(), statuses.data()), "MPI_Waitall");
    for (int i = 0; i < n; ++i) {
        auto const from = static_cast<std::size_t>((i + check::rank()) % n);
        all.requests[from] = turned[static_cast<std::size_t>(i)];
        all.finished(static_cast<int>(from), statuses[static_cast<std::size_t>(i)]);
    }
}

inline void waitall(Operations& all) {
    std::vector<MPI_Status> statuses(all.requests.size());
    check::ok(MPI_Waitall(all.count(), all.requests.data(), statuses.data()), "MPI_Waitall");
    for (int i = 0; i < all.count(); ++i) all.finished(i, statuses[static_cast<std::size_t>(i)]);
}

inline void waitany(Operations& all) {
    for (int done = 0; done < all.count(); ++done) {
        int index = -1;
        MPI_Status status{};
        check::ok(MPI_Waitany(all.count(), all.requests.data(), &index, &status), "MPI_Waitany");
        all.finished(index, status);
    }
    int index = -1;
    MPI_Waitany(all.count(), all.requests.data(), &index, MPI_STATUS_IGNORE);
    check::is_equal(int{MPI_UNDEFINED}, index, "MPI_Waitany when nothing is left");
}

/// One call of MPI_Waitsome or MPI_Testsome; returns how many were reported.
inline int take_some(Operations& all, bool wait) {
    std::vector<int> indices(all.requests.size());
    std::vector<MPI_Status> statuses(all.requests.size());
    int found = 0;
    check::ok(wait ? MPI_Waitsome(all.count(), all.requests.data(), &found, indices.data(),
                                  statuses.data())
                   : MPI_Testsome(all.count(), all.requests.data(), &found, indices.data(),
                                  statuses.data()),
              wait ? "MPI_Waitsome" : "MPI_Testsome");
    if (found == MPI_UNDEFINED) return -1;
    for (int i = 0; i < found; ++i) {
        auto const at = static_cast<std::size_t>(i);
        all.finished(indices[at], statuses[at]);
    }
    return found;
}

inline void waitsome(Operations& all) {
    for (int left = all.count(); left > 0;) {
        int const found = take_some(all, true);
        check::is_true(found > 0, "MPI_Waitsome reports something");
        left -= std::max(found, 1);
    }
    check::is_equal(-1, take_some(all, true), "MPI_Waitsome when nothing is left");
}

inline void testsome(Operations& all) {
    for (int left = all.count(); left > 0;) {
        int const found = take_some(all, false);
        if (found < 0) break;
        if (found == 0) check::sleep_ms(1);
        left -= found;
    }
}

/// Tests one request after another; on each rank beginning with another one.
inline void test_round_robin(Operations& all) {
    int left = all.count();
    for (int turn = check::rank(); left > 0; ++turn) {
        int const index = turn % all.count();
        auto& request = all.requests[static_cast<std::size_t>(index)];
        if (request == MPI_REQUEST_NULL) continue;
        int flag = 0;
        MPI_Status status{};
        check::ok(MPI_Test(&request, &flag, &status), "MPI_Test");
        if (flag != 0) {
            all.finished(index, status);
            --left;
        }
    }
}

inline void testall(Operations& all) {
    std::vector<MPI_Status> statuses(all.requests.size());
    for (int flag = 0; flag == 0;) {
        check::ok(MPI_Testall(all.count(), all.requests.data(), &flag, statuses.data()),
                  "MPI_Testall");
        if (flag == 0) check::sleep_ms(1);
    }
    for (int i = 0; i < all.count(); ++i) all.finished(i, statuses[static_cast<std::size_t>(i)]);
}

inline void testany(Operations& all) {
    for (int left = all.count(); left > 0;) {
        int index = -1, flag = 0;
        MPI_Status status{};
        check::ok(MPI_Testany(all.count(), all.requests.data(), &index, &flag, &status),
                  "MPI_Testany");
        if (flag == 0) continue;
        if (index == MPI_UNDEFINED) break;
        all.finished(index, status);
        --left;
    }
}

/// MPI_Request_get_status must show completion, more than once, and leave the request alone.
inline void get_status(Operations& all) {
    for (int i = 0; i < all.count(); ++i) {
        auto const request = all.requests[static_cast<std::size_t>(i)];
        for (int seen = 0; seen < 2;) {
            int flag = 0;
            MPI_Status status{};
            check::ok(MPI_Request_get_status(request, &flag, &status), "MPI_Request_get_status");
            if (flag != 0)
                ++seen;
            else
                check::sleep_ms(1);
        }
        wait_for(all, i);
    }
}

/// Nothing is asked of MPI for a while: the operations should be over when the first call comes.
inline void sleep_then_wait(Operations& all) {
    check::sleep_ms(30);
    wait_opposite(all);
}

/// Statuses are not wanted.
inline void ignored_statuses(Operations& all) {
    check::ok(MPI_Waitall(all.count(), all.requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
    for (auto const request : all.requests) {
        check::is_true(request == MPI_REQUEST_NULL, "request is null when complete");
    }
    all.requests.clear();  // so that nobody asks for their counts
}

struct Way {
    std::string name;
    Finish finish;
};

inline std::vector<Way> all_ways() {
    return {{"wait_forward", wait_forward},
            {"wait_reverse", wait_reverse},
            {"wait_opposite", wait_opposite},
            {"waitall", waitall},
            {"waitall_rotated", waitall_rotated},
            {"ignored_statuses", ignored_statuses},
            {"waitany", waitany},
            {"waitsome", waitsome},
            {"test_round_robin", test_round_robin},
            {"testall", testall},
            {"testany", testany},
            {"testsome", testsome},
            {"get_status", get_status},
            {"sleep_then_wait", sleep_then_wait}};
}

}  // namespace outstanding
