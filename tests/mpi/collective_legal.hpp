// What the standard allows beside the bytes: who waits for whom, what may be freed, which errors
// are told; and that no calls are needed.
#pragma once
#include "collective_elements.hpp"
#include "collective_helper.hpp"
#include "sluice/sluice.h"

namespace collective_test {

struct Fresh {
    Fresh() {
        MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
        MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
    }
    ~Fresh() {
        if (communicator != MPI_COMM_NULL) MPI_Comm_free(&communicator);
    }
    Fresh(Fresh const&) = delete;
    Fresh& operator=(Fresh const&) = delete;
    MPI_Comm communicator = MPI_COMM_NULL;
};

inline void wait(MPI_Request& request) { check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE), "Wait"); }

/// The first rank's start must return though the second one waits for what follows it.
inline void start_needs_nobody() {
    Fresh const fresh;
    MPI_Request request = MPI_REQUEST_NULL;
    int word = check::rank();
    if (check::rank() == 1)
        MPI_Recv(&word, 1, MPI_INT, 0, 0, fresh.communicator, MPI_STATUS_IGNORE);
    check::ok(MPI_Ibarrier(fresh.communicator, &request), "Ibarrier");
    if (check::rank() == 0 && check::size() > 1)
        MPI_Send(&word, 1, MPI_INT, 1, 0, fresh.communicator);
    wait(request);
}

inline void orders_of_communicators_differ() {
    Fresh const one, other;
    MPI_Request requests[2]{};
    bool const turned = check::rank() % 2 == 1;
    int const mine = check::rank() + 1;
    int sums[2]{};
    for (int i = 0; i < 2; ++i) {
        int const which = turned ? 1 - i : i;
        check::ok(MPI_Iallreduce(&mine, &sums[which], 1, MPI_INT, MPI_SUM,
                                 which ? other.communicator : one.communicator, &requests[which]));
    }
    for (int i = 0; i < 2; ++i) wait(requests[turned ? i : 1 - i]);
    int const expected = check::size() * (check::size() + 1) / 2;
    check::is_equal(expected, sums[0], "sum");
    check::is_equal(expected, sums[1], "sum of the other");
}

inline void communicator_freed() {
    MPI_Comm gone = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &gone);
    std::vector<int> all(static_cast<std::size_t>(check::size()), -1);
    int const mine = check::rank() * 3;
    MPI_Request request = MPI_REQUEST_NULL;
    check::ok(MPI_Iallgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, gone, &request));
    MPI_Comm_free(&gone);
    wait(request);
    for (int i = 0; i < check::size(); ++i)
        check::is_equal(i * 3, all[static_cast<std::size_t>(i)], "gathered");
}

/// A message that needs its receiver must go on while its sender waits for a collective, too.
inline void waits_with_messages() {
    Fresh const fresh;
    std::vector<char> memory(4 << 20, static_cast<char>(check::rank()));
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    auto const count = static_cast<int>(memory.size());
    if (check::rank() == 0 && check::size() > 1)
        MPI_Isend(memory.data(), count, MPI_CHAR, 1, 0, fresh.communicator, &requests[0]);
    if (check::rank() == 1)
        MPI_Recv(memory.data(), count, MPI_CHAR, 0, 0, fresh.communicator, MPI_STATUS_IGNORE);
    check::ok(MPI_Ibarrier(fresh.communicator, &requests[1]), "Ibarrier");
    check::ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE), "Waitall");
}

/// The same, waiting for the collective alone.
inline void messages_go_on() {
    Fresh const fresh;
    std::vector<char> memory(4 << 20, static_cast<char>(check::rank()));
    MPI_Request message = MPI_REQUEST_NULL, barrier = MPI_REQUEST_NULL;
    auto const count = static_cast<int>(memory.size());
    if (check::rank() == 0 && check::size() > 1)
        MPI_Isend(memory.data(), count, MPI_CHAR, 1, 0, fresh.communicator, &message);
    if (check::rank() == 1)
        MPI_Recv(memory.data(), count, MPI_CHAR, 0, 0, fresh.communicator, MPI_STATUS_IGNORE);
    check::ok(MPI_Ibarrier(fresh.communicator, &barrier), "Ibarrier");
    wait(barrier);
    wait(message);
}

/// Many messages that the MPI has not sent yet: more than any of its queues holds.
struct QueuedMessages {
    explicit QueuedMessages(MPI_Comm communicator) {
        if (check::rank() != 0) return;
        for (auto& request : requests)
            MPI_Isend(memory.data(), each, MPI_CHAR, 1, 0, communicator, &request);
    }
    ~QueuedMessages() { MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE); }
    QueuedMessages(QueuedMessages const&) = delete;
    QueuedMessages& operator=(QueuedMessages const&) = delete;

    static void take(MPI_Comm communicator) {
        std::vector<char> memory(each);
        for (int i = 0; i < count; ++i)
            MPI_Recv(memory.data(), each, MPI_CHAR, 0, 0, communicator, MPI_STATUS_IGNORE);
    }

    static constexpr int count = 4000, each = 4000;
    std::vector<char> memory = std::vector<char>(each);
    std::vector<MPI_Request> requests = std::vector<MPI_Request>(count, MPI_REQUEST_NULL);
};

/// A rank that only tests a collective lets its messages go on.
inline void tests_move_messages() {
    if (check::size() < 2) return;
    Fresh const fresh;
    sluice_request own = SLUICE_REQUEST_NULL;
    check::ok(sluice_ibarrier(fresh.communicator, &own));  // Whatever the first one sets up.
    check::ok(sluice_wait(own, MPI_STATUS_IGNORE));
    MPI_Barrier(fresh.communicator);
    QueuedMessages const messages(fresh.communicator);
    if (check::rank() == 1) QueuedMessages::take(fresh.communicator);
    check::ok(sluice_ibarrier(fresh.communicator, &own));
    for (int done = 0; !done;) check::ok(sluice_test(own, &done, MPI_STATUS_IGNORE));
}

/// So does one that waits for a collective whose communicator is freed.
inline void waits_without_communicator_move_messages() {
    if (check::size() < 2) return;
    Fresh const fresh;
    Fresh gone;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    for (auto& request : requests) check::ok(MPI_Ibarrier(gone.communicator, &request));
    check::ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    QueuedMessages const messages(fresh.communicator);
    if (check::rank() == 1) QueuedMessages::take(fresh.communicator);
    for (auto& request : requests) check::ok(MPI_Ibarrier(gone.communicator, &request));
    MPI_Comm_free(&gone.communicator);
    check::ok(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

/// One rank starts and calls nothing for a while; the others are done before it comes back.
inline void needs_no_calls() {
    Fresh const fresh;
    int const each = 256 << 10;
    auto const ranks = static_cast<std::size_t>(check::size());
    std::vector<char> sent(ranks * each, static_cast<char>(check::rank())), got(ranks * each);
    MPI_Request request = MPI_REQUEST_NULL;
    check::ok(MPI_Ibarrier(fresh.communicator, &request));  // Whatever the first one sets up.
    wait(request);
    MPI_Barrier(fresh.communicator);
    double const began = MPI_Wtime();
    check::ok(MPI_Ialltoall(sent.data(), each, MPI_CHAR, got.data(), each, MPI_CHAR,
                            fresh.communicator, &request));
    if (check::rank() == 0) check::sleep_ms(2000);
    wait(request);
    double const seconds = MPI_Wtime() - began;
    // Without a helper it may take as long as rank 0 sleeps.
    if (check::rank() != 0 && check::has_helper())
        check::is_true(seconds < 1.5, "done while one rank sleeps");
    for (std::size_t i = 0; i < ranks; ++i)
        check::is_equal(static_cast<int>(static_cast<char>(i)), int{got[i * each]}, "block");
}

inline int handler_calls = 0;
inline int handler_class = MPI_SUCCESS;
inline void count_error(MPI_Comm*, int* code, ...) {
    ++handler_calls;
    handler_class = check::class_of(*code);
}

/// `call` returns a class, after one call of the handler.
template <class Call> void expect(int error_class, char const* what, Call&& call) {
    handler_calls = 0;
    int const code = call();
    check::is_equal(check::class_name(error_class), check::class_name(check::class_of(code)), what);
    check::is_equal(1, handler_calls, std::string(what) + ": calls of the handler");
    check::is_equal(error_class, handler_class, std::string(what) + ": what the handler is told");
}

inline void errors_are_told() {
    Fresh const fresh;
    MPI_Comm const c = fresh.communicator;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(count_error, &handler);
    MPI_Comm_set_errhandler(c, handler);
    MPI_Request request = MPI_REQUEST_NULL;
    sluice_request own = SLUICE_REQUEST_NULL;
    std::vector<int> a(64), b(64);
    MPI_Datatype raw = MPI_DATATYPE_NULL;
    MPI_Type_vector(2, 1, 2, MPI_INT, &raw);
    expect(MPI_ERR_COUNT, "negative count",
           [&] { return MPI_Ibcast(a.data(), -1, MPI_INT, 0, c, &request); });
    expect(MPI_ERR_TYPE, "null datatype",
           [&] { return MPI_Ibcast(a.data(), 1, MPI_DATATYPE_NULL, 0, c, &request); });
    expect(MPI_ERR_TYPE, "uncommitted datatype",
           [&] { return MPI_Ibcast(a.data(), 1, raw, 0, c, &request); });
    expect(MPI_ERR_ROOT, "root",
           [&] { return MPI_Ibcast(a.data(), 1, MPI_INT, check::size(), c, &request); });
    expect(MPI_ERR_OP, "null operation", [&] {
        return MPI_Iallreduce(a.data(), b.data(), 1, MPI_INT, MPI_OP_NULL, c, &request);
    });
    expect(MPI_ERR_BUFFER, "equal buffers",
           [&] { return MPI_Iallreduce(a.data(), a.data(), 1, MPI_INT, MPI_SUM, c, &request); });
    expect(MPI_ERR_COUNT, "negative count, own",
           [&] { return sluice_ibcast(a.data(), -1, MPI_INT, 0, c, &own); });
    expect(MPI_ERR_ROOT, "root, persistent",
           [&] { return sluice_bcast_init(a.data(), 1, MPI_INT, -1, c, &own); });
    expect(MPI_ERR_TOPOLOGY, "no topology", [&] {
        return sluice_ineighbor_allgather(a.data(), 1, MPI_INT, b.data(), 1, MPI_INT, c, &own);
    });
    check::is_equal(MPI_ERR_COMM, sluice_ibarrier(MPI_COMM_NULL, &own), "no communicator");
    check::is_equal(MPI_ERR_ARG, sluice_ibarrier(c, nullptr), "no request");
    check::is_true(own == SLUICE_REQUEST_NULL, "no request of failed calls");
    MPI_Type_free(&raw);
    MPI_Errhandler_free(&handler);
}

inline void requests_are_kept() {
    Fresh const fresh;
    sluice_request own = SLUICE_REQUEST_NULL;
    check::ok(sluice_ibarrier(fresh.communicator, &own));
    sluice_request kept = own;
    check::is_equal(MPI_ERR_REQUEST, sluice_request_free(&kept), "freed while active");
    check::is_equal(MPI_ERR_REQUEST, sluice_start(own), "started while active");
    check::ok(sluice_wait(own, MPI_STATUS_IGNORE));
    int sum = 0;
    int const mine = 1;
    check::ok(sluice_allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, fresh.communicator, &own));
    check::ok(sluice_wait(own, MPI_STATUS_IGNORE), "inactive");
    check::is_equal(0, sum, "before the start");
    check::ok(sluice_start(own));
    check::is_equal(MPI_ERR_REQUEST, sluice_start(own), "started twice");
    check::is_equal(MPI_ERR_REQUEST, sluice_request_free(&own), "persistent, freed while active");
    check::ok(sluice_wait(own, MPI_STATUS_IGNORE));
    check::is_equal(check::size(), sum, "sum");
    check::ok(sluice_request_free(&own));
}

/// The MPI serves these, in the same way to call them.
inline void between_groups() {
    if (check::size() < 2) return;
    MPI_Comm half = MPI_COMM_NULL, both = MPI_COMM_NULL;
    int const side = check::rank() % 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, check::rank(), &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 0, &both);
    int others = 0, expected = 0;
    int const mine = 1;
    MPI_Comm_remote_size(both, &expected);
    sluice_request own = SLUICE_REQUEST_NULL;
    check::ok(sluice_iallreduce(&mine, &others, 1, MPI_INT, MPI_SUM, both, &own));
    check::ok(sluice_wait(own, MPI_STATUS_IGNORE));
    check::is_equal(expected, others, "ranks of the other group");
    check::ok(sluice_allreduce_init(&mine, &others, 1, MPI_INT, MPI_SUM, both, &own));
    for (int time = 0; time < 2; ++time) {
        others = 0;
        check::ok(sluice_start(own));
        check::ok(sluice_wait(own, MPI_STATUS_IGNORE));
        check::is_equal(expected, others, "again");
    }
    check::ok(sluice_request_free(&own));
    MPI_Request request = MPI_REQUEST_NULL;
    check::ok(MPI_Ibarrier(both, &request));
    wait(request);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

inline std::vector<check::Test> legal_tests() {
    return {{"legal/start_needs_nobody", start_needs_nobody},
            {"legal/orders_of_communicators_differ", orders_of_communicators_differ},
            {"legal/communicator_freed", communicator_freed},
            {"legal/waits_with_messages", waits_with_messages},
            {"legal/messages_go_on", messages_go_on},
            {"legal/tests_move_messages", tests_move_messages},
            {"legal/waits_without_communicator_move_messages",
             waits_without_communicator_move_messages},
            {"legal/needs_no_calls", needs_no_calls},
            {"legal/helper_preempts_for_devices_only", helper_preempts_for_devices_only},
            {"legal/errors_are_told", errors_are_told},
            {"legal/requests_are_kept", requests_are_kept},
            {"legal/between_groups", between_groups}};
}

}  // namespace collective_test
