// Communicators of all origins, new and freed, under way at once and in any order: what is sent on
// one is never taken for what belongs to another. And no message of the MPI's helps with that, as
// long as the library has ways of its own between all ranks.
#pragma once
#include "collective_legal.hpp"
#include "message_count.hpp"

#include <thread>

namespace collective_test {

/// Communicators that this rank is in; all ranks make them in the same order.
class Origins {
public:
    Origins() {
        children_of(MPI_COMM_WORLD);
        children_of(all_.front());  // Their children have names that follow from its.
        duplicates_at_once();
        of_some_members();
        of_two_groups();
    }
    ~Origins() {
        for (MPI_Comm& one : all_) MPI_Comm_free(&one);
    }
    Origins(Origins const&) = delete;
    Origins& operator=(Origins const&) = delete;
    [[nodiscard]] std::vector<MPI_Comm> const& all() const { return all_; }

private:
    template <class Make> void add(Make make) {
        MPI_Comm made = MPI_COMM_NULL;
        check::ok(make(&made), "a communicator");
        if (made != MPI_COMM_NULL) all_.push_back(made);
    }
    void children_of(MPI_Comm parent) {
        int const rank = check::rank(), ranks = check::size();
        int const periodic = 1, next = (rank + 1) % ranks, last = (rank + ranks - 1) % ranks;
        add([=](MPI_Comm* made) { return MPI_Comm_dup(parent, made); });
        add([=](MPI_Comm* made) { return MPI_Comm_dup_with_info(parent, MPI_INFO_NULL, made); });
        add([=](MPI_Comm* made) { return MPI_Comm_split(parent, rank % 2, -rank, made); });
        add([=](MPI_Comm* made) {
            return MPI_Comm_split(parent, rank == 0 ? MPI_UNDEFINED : 1, 0, made);
        });
        add([=](MPI_Comm* made) {
            return MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, made);
        });
        MPI_Group group = MPI_GROUP_NULL;
        MPI_Comm_group(parent, &group);
        add([=](MPI_Comm* made) { return MPI_Comm_create(parent, group, made); });
        MPI_Group_free(&group);
        add([&](MPI_Comm* made) { return MPI_Cart_create(parent, 1, &ranks, &periodic, 0, made); });
        MPI_Comm const ring = all_.back();
        add([&](MPI_Comm* made) { return MPI_Cart_sub(ring, &periodic, made); });
        add([&](MPI_Comm* made) {
            return MPI_Dist_graph_create_adjacent(parent, 1, &last, MPI_UNWEIGHTED, 1, &next,
                                                  MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made);
        });
    }
    /// Which of them is ready first may differ. Of several under way Open MPI 5.0.11 may fail to
    /// agree on their numbers on a busy machine, without Sluice as well: there it is one.
    void duplicates_at_once() {
#ifdef OPEN_MPI
        constexpr int count = 1;
#else
        constexpr int count = 3;
#endif
        MPI_Comm made[count];
        MPI_Request requests[count];
        for (int i = 0; i < count; ++i)
            check::ok(MPI_Comm_idup(MPI_COMM_WORLD, &made[i], &requests[i]));
        bool const turned = check::rank() % 2 == 1;
        for (int i = 0; i < count; ++i)
            check::ok(MPI_Wait(&requests[turned ? count - 1 - i : i], MPI_STATUS_IGNORE));
        all_.insert(all_.end(), made, made + count);
        add([&](MPI_Comm* again) { return MPI_Comm_dup(made[count / 2], again); });
    }
    /// Only the even ranks call anything; then all again, whose parent has made more on some.
    void of_some_members() {
        MPI_Group all = MPI_GROUP_NULL, even = MPI_GROUP_NULL;
        MPI_Comm_group(MPI_COMM_WORLD, &all);
        int range[3] = {0, check::size() - 1, 2};
        MPI_Group_range_incl(all, 1, &range, &even);
        for (int i = 0; i < 2 && check::rank() % 2 == 0; ++i) {
            add([&](MPI_Comm* made) {
                return MPI_Comm_create_group(MPI_COMM_WORLD, even, 5, made);
            });
        }
        add([](MPI_Comm* made) { return MPI_Comm_dup(MPI_COMM_WORLD, made); });
        MPI_Group_free(&even);
        MPI_Group_free(&all);
    }
    void of_two_groups() {
        if (check::size() < 2) return;
        MPI_Comm half = MPI_COMM_NULL, both = MPI_COMM_NULL;
        int const side = check::rank() % 2;
        MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
        if (side == 1) add([&](MPI_Comm* made) { return MPI_Comm_dup(half, made); });
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &both);
        for (int i = 0; i < 2; ++i)
            add([&](MPI_Comm* made) { return MPI_Intercomm_merge(both, side, made); });
        MPI_Comm const merged = all_.back();
        add([=](MPI_Comm* made) { return MPI_Comm_dup(merged, made); });
        MPI_Comm_free(&both);
        MPI_Comm_free(&half);
    }

    std::vector<MPI_Comm> all_;
};

/// The sums over all of them, begun in any order; `number` tells one time from another.
inline void sum_on_all(std::vector<MPI_Comm> const& all, int number, bool turned) {
    std::vector<int> mine(all.size()), found(all.size()), expected(all.size());
    std::vector<MPI_Request> requests(all.size(), MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < all.size(); ++i) {
        mine[i] = check::rank() + 1 + 100 * number + 10000 * static_cast<int>(i);
        check::ok(MPI_Allreduce(&mine[i], &expected[i], 1, MPI_INT, MPI_SUM, all[i]));
    }
    for (std::size_t place = 0; place < all.size(); ++place) {
        std::size_t const i = turned ? all.size() - 1 - place : place;
        check::ok(MPI_Iallreduce(&mine[i], &found[i], 1, MPI_INT, MPI_SUM, all[i], &requests[i]));
    }
    check::ok(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    for (std::size_t i = 0; i < all.size(); ++i)
        check::is_equal(expected[i], found[i], "sum on communicator " + std::to_string(i));
}

inline void names_of_all_origins() {
    Origins const origins;
    for (int time = 0; time < 3; ++time)
        sum_on_all(origins.all(), time, (check::rank() + time) % 2 == 1);
}

/// The MPI uses handles again; the operation outlives its communicator.
inline void names_of_freed_communicators() {
    for (int time = 0; time < 40; ++time) {
        MPI_Comm made = MPI_COMM_NULL;
        check::ok(time % 3 ? MPI_Comm_dup(MPI_COMM_WORLD, &made)
                           : MPI_Comm_split(MPI_COMM_WORLD, 0, -check::rank(), &made));
        int const mine = check::rank() + time;
        int sum = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        check::ok(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, made, &request));
        check::ok(MPI_Comm_free(&made));
        wait(request);
        int const ranks = check::size();
        check::is_equal(ranks * (ranks - 1) / 2 + ranks * time, sum, "sum");
    }
}

/// Each thread has a communicator of its own to begin with.
inline void names_by_two_threads() {
    if (check::state().provided < MPI_THREAD_MULTIPLE) return;
    std::vector<MPI_Comm> base(2, MPI_COMM_NULL);
    for (MPI_Comm& one : base) MPI_Comm_dup(MPI_COMM_WORLD, &one);
    auto const work = [&](std::size_t thread) {
        for (int time = 0; time < 20; ++time) {
            std::vector<MPI_Comm> made(2, MPI_COMM_NULL);
            MPI_Group group = MPI_GROUP_NULL;
            MPI_Comm_group(base[thread], &group);
            check::ok(MPI_Comm_dup(base[thread], made.data()));
            check::ok(MPI_Comm_create_group(base[thread], group, 1, &made[1]));
            MPI_Group_free(&group);
            sum_on_all(made, time + static_cast<int>(thread) * 50, check::rank() % 2 == 1);
            for (MPI_Comm& one : made) MPI_Comm_free(&one);
        }
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    for (MPI_Comm& one : base) MPI_Comm_free(&one);
}

/// No call for a message of the MPI's from the first collective of each communicator to its end.
inline void names_need_no_messages() {
    Origins const origins;
    auto const& all = origins.all();
    std::vector<int> found(all.size());
    std::vector<MPI_Request> requests(2 * all.size(), MPI_REQUEST_NULL);
    int const mine = 1;
    check::ok(MPI_Barrier(MPI_COMM_WORLD));
    long const before = message_count::calls;
    check::is_true(before > 0, "calls are counted");
    for (std::size_t i = 0; i < all.size(); ++i) {
        check::ok(MPI_Iallreduce(&mine, &found[i], 1, MPI_INT, MPI_SUM, all[i], &requests[2 * i]));
        check::ok(MPI_Ibarrier(all[i], &requests[2 * i + 1]));
    }
    check::ok(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
    check::is_equal(0L, message_count::calls - before, "calls for messages of the MPI's");
    for (std::size_t i = 0; i < all.size(); ++i) {
        int ranks = 0;
        MPI_Comm_size(all[i], &ranks);
        check::is_equal(ranks, found[i], "ranks of communicator " + std::to_string(i));
    }
}

/// `no_messages`: the library has ways of its own between all ranks.
inline std::vector<check::Test> name_tests(bool no_messages) {
    std::vector<check::Test> tests{{"names/all_origins", names_of_all_origins},
                                   {"names/freed_communicators", names_of_freed_communicators},
                                   {"names/two_threads", names_by_two_threads}};
    if (no_messages) tests.push_back({"names/need_no_messages", names_need_no_messages});
    return tests;
}

}  // namespace collective_test
