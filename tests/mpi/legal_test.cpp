// Legal programs that deadlock or go wrong with a careless library: ranks that depend on each
// other's messages between the start and the completion of an operation, files on different
// communicators, many files at once, files left open, and threads.
#include "legal_files.hpp"

namespace {

using namespace access_form;

constexpr int tag = 11;

/// What every rank writes here: `bytes` at rank * bytes.
void expect_blocks(std::string const& name, model::File expected, int bytes, int op) {
    for (int r = 0; r < check::size(); ++r) {
        expected.write({{static_cast<std::int64_t>(r) * bytes, bytes}},
                       model::data_of(5, r, op, bytes));
    }
    check::compare_and_remove(name, expected);
}

/// Rank 0 starts, writes alone, and only then lets the others start: starting must be local, and
/// an independent call must not wait for a collective one.
void start_is_local() {
    auto const name = check::fresh_file("legal.bin", 300000);
    MPI_File file = open(name);
    auto const data = model::data_of(5, check::rank(), 0, 20000);
    auto const extra = model::data_of(5, 99, 0, 100);
    if (check::rank() != 0) {
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    auto const at = MPI_Offset{20000} * check::rank();
    MPI_Request handle = MPI_REQUEST_NULL;
    check::ok(MPI_File_iwrite_at_all(file, at, data.data(), 20000, MPI_BYTE, &handle));
    if (check::rank() == 0) {
        check::ok(MPI_File_write_at(file, 250000, extra.data(), 100, MPI_BYTE, MPI_STATUS_IGNORE));
        for (int r = 1; r < check::size(); ++r) {
            MPI_Send(nullptr, 0, MPI_BYTE, r, tag, MPI_COMM_WORLD);
        }
    }
    check::ok(MPI_Wait(&handle, MPI_STATUS_IGNORE));
    close(file);
    model::File expected(300000);
    expected.write({{250000, 100}}, extra);
    expect_blocks(name, expected, 20000, 0);
}

/// Every rank has started before any of them calls MPI again: they tell each other by way of POSIX.
/// Open MPI takes a lock of the whole span at the start, and frees it in later calls.
void start_needs_no_calls() {
    auto const name = check::fresh_file("legal.bin", 0);
    auto const started = [&](int rank) { return name + ".started" + std::to_string(rank); };
    MPI_File file = open(name);
    MPI_Datatype view = MPI_DATATYPE_NULL;
    MPI_Type_vector(100, 50, 50 * check::size(), MPI_BYTE, &view);
    MPI_Type_commit(&view);
    check::ok(MPI_File_set_view(file, MPI_Offset{50} * check::rank(), MPI_BYTE, view, "native",
                                MPI_INFO_NULL));
    MPI_Type_free(&view);
    auto const data = model::data_of(5, check::rank(), 0, 5000);
    MPI_Request handle = MPI_REQUEST_NULL;
    MPI_Barrier(MPI_COMM_WORLD);
    check::ok(MPI_File_iwrite_all(file, data.data(), 5000, MPI_BYTE, &handle));
    check::posix_write(started(check::rank()), {});
    auto const all_started = [&] {
        for (int r = 0; r < check::size(); ++r) {
            if (::access(started(r).c_str(), F_OK) != 0) return false;
        }
        return true;
    };
    for (int waits = 0; waits < 500 && !all_started(); ++waits) check::sleep_ms(10);
    check::is_true(all_started(), "all have started within 5 s");
    check::ok(MPI_Wait(&handle, MPI_STATUS_IGNORE));
    close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    ::unlink(started(check::rank()).c_str());
    if (check::rank() == 0) ::unlink(name.c_str());
    MPI_Barrier(MPI_COMM_WORLD);
}

/// The others take rank 0's large message (sent by rendezvous) before they start: waiting for the
/// file operation alone must still move the message.
void wait_moves_messages(bool blocking) {
    constexpr int message_bytes = 8 << 20;
    auto const name = check::fresh_file("legal.bin", 10);
    MPI_File file = open(name);
    auto const data = model::data_of(5, check::rank(), 0, 30000);
    auto message = model::data_of(6, 0, 0, message_bytes);
    std::vector<MPI_Request> sends;
    if (check::rank() == 0) {
        for (int r = 1; r < check::size(); ++r) {
            MPI_Isend(message.data(), message_bytes, MPI_BYTE, r, tag, MPI_COMM_WORLD,
                      &sends.emplace_back());
        }
    } else {
        auto const sent = message;
        std::fill(message.begin(), message.end(), model::untouched);
        MPI_Recv(message.data(), message_bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        check::same_bytes(sent, message, "message");
    }
    auto const at = MPI_Offset{30000} * check::rank();
    if (blocking) {
        check::ok(MPI_File_write_at_all(file, at, data.data(), 30000, MPI_BYTE, MPI_STATUS_IGNORE));
    } else {
        MPI_Request handle = MPI_REQUEST_NULL;
        check::ok(MPI_File_iwrite_at_all(file, at, data.data(), 30000, MPI_BYTE, &handle));
        check::ok(MPI_Wait(&handle, MPI_STATUS_IGNORE));
    }
    MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
    close(file);
    expect_blocks(name, model::File(10), 30000, 0);
}

/// An answer that is only sent after the operation has been started everywhere, and is needed
/// before anyone waits: nothing may happen that needs all ranks at the start.
void messages_between() {
    auto const name = check::fresh_file("legal.bin", 10);
    MPI_File file = open(name);
    auto const data = model::data_of(5, check::rank(), 0, 5000);
    MPI_Request handle = MPI_REQUEST_NULL;
    int token = 0;
    int const last = check::size() - 1;
    if (check::rank() != 0) {
        MPI_Recv(&token, 1, MPI_INT, check::rank() - 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    auto const at = MPI_Offset{5000} * check::rank();
    check::ok(MPI_File_iwrite_at_all(file, at, data.data(), 5000, MPI_BYTE, &handle));
    ++token;
    int const next = check::rank() == last ? 0 : check::rank() + 1;
    if (check::size() > 1) MPI_Send(&token, 1, MPI_INT, next, tag, MPI_COMM_WORLD);
    if (check::rank() == 0 && check::size() > 1) {
        MPI_Recv(&token, 1, MPI_INT, last, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        check::is_equal(check::size(), token, "token after the ring");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check::ok(MPI_Wait(&handle, MPI_STATUS_IGNORE));
    close(file);
    expect_blocks(name, model::File(10), 5000, 0);
}

/// Two outstanding operations (on two handles) whose holes are each other's data, and each rank's
/// own writes into the holes of both: no library may write a byte that it was not asked to write.
void write_into_holes() {
    constexpr int cells = 2000, part = 10;
    std::int64_t const row = static_cast<std::int64_t>(3 * part) * check::size();
    auto const name = check::fresh_file("legal.bin", 50);
    auto const third_of_cells = [=](int rank, int third) -> model::Request {
        auto const mine = model::resized(model::contiguous(model::element(MPI_BYTE), part), row);
        return {
            {(3 * rank + third) * part, MPI_BYTE, mine}, 0, model::element(MPI_BYTE), cells * part};
    };
    MPI_File files[2];
    MPI_Request handles[]{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    model::Bytes data[3];
    for (int op = 0; op < 3; ++op) data[op] = model::data_of(5, check::rank(), op, cells * part);
    for (int op = 0; op < 2; ++op) {
        files[op] = open(name);
        set_view(files[op], third_of_cells(check::rank(), op).view);
    }
    for (int op = 0; op < 2; ++op) {
        check::ok(
            MPI_File_iwrite_all(files[op], data[op].data(), cells * part, MPI_BYTE, &handles[op]));
    }
    MPI_File alone = open(name, MPI_MODE_WRONLY, MPI_COMM_SELF);
    int done = 0;
    for (auto const& hole : third_of_cells(check::rank(), 2).in_file()) {
        check::ok(MPI_File_write_at(alone, static_cast<MPI_Offset>(hole.offset),
                                    data[2].data() + done, part, MPI_BYTE, MPI_STATUS_IGNORE));
        done += part;
    }
    check::ok(MPI_Waitall(2, handles, MPI_STATUSES_IGNORE));
    close(alone);
    for (auto& file : files) close(file);
    model::File expected(50);
    for (int r = 0; r < check::size(); ++r) {
        for (int op = 0; op < 3; ++op) {
            expected.write(third_of_cells(r, op).in_file(), model::data_of(5, r, op, cells * part));
        }
    }
    check::compare_and_remove(name, expected);
}

/// The same on one handle: two operations far apart in a view with holes, and writes into the
/// holes by MPI_File_write_at on a handle with a plain view.
void write_into_own_holes() {
    constexpr int cells = 1000, part = 20;
    int const ranks = check::size();
    auto const name = check::fresh_file("legal.bin", 50);
    auto const layout =
        model::resized(model::contiguous(model::element(MPI_BYTE), part), 2LL * part * ranks);
    auto const request_of = [=](int rank, int op) -> model::Request {
        return {{2 * part * rank, MPI_BYTE, layout},
                op * cells * part,
                model::element(MPI_BYTE),
                cells * part};
    };
    MPI_File file = open(name), plain = open(name, MPI_MODE_RDWR);
    set_view(file, request_of(check::rank(), 0).view);
    model::Bytes data[2];
    MPI_Request handles[]{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    for (int op = 0; op < 2; ++op) {
        data[op] = model::data_of(5, check::rank(), op, cells * part);
        check::ok(MPI_File_iwrite_all(file, data[op].data(), cells * part, MPI_BYTE, &handles[op]));
    }
    auto const byte_of = [](int rank) { return model::data_of(5, rank, 2, 1); };
    std::int64_t const step = 2LL * part * ranks, inside = part + 3;
    for (int i = 0; i < cells; ++i) {
        auto const at = step * i + 2LL * part * check::rank() + inside;
        check::ok(MPI_File_write_at(plain, static_cast<MPI_Offset>(at),
                                    byte_of(check::rank()).data(), 1, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    check::ok(MPI_Waitall(2, handles, MPI_STATUSES_IGNORE));
    close(plain);
    close(file);
    model::File expected(50);
    for (int r = 0; r < ranks; ++r) {
        for (int op = 0; op < 2; ++op) {
            expected.write(request_of(r, op).in_file(), model::data_of(5, r, op, cells * part));
        }
        for (int i = 0; i < cells; ++i) {
            expected.write({{step * i + 2LL * part * r + inside, 1}}, byte_of(r));
        }
    }
    check::compare_and_remove(name, expected);
}

/// Libraries duplicate a communicator for each file, and free it before or after they close it.
void communicator_for_each_file() {
    MPI_File before = MPI_FILE_NULL;
    std::string names[6];
    for (int i = 0; i < 6; ++i) {
        names[i] = check::fresh_file("dup" + std::to_string(i) + ".bin", 0);
        MPI_Comm own = MPI_COMM_NULL;
        MPI_Comm_dup(MPI_COMM_WORLD, &own);
        MPI_File file = open(names[i], MPI_MODE_RDWR, own);
        if (i % 2 == 0) MPI_Comm_free(&own);
        if (before != MPI_FILE_NULL) close(before);  // Some are open together.
        auto const data = model::data_of(4, check::rank(), i, 3000);
        MPI_Datatype view = MPI_DATATYPE_NULL;
        MPI_Type_vector(30, 100, 100 * check::size(), MPI_BYTE, &view);
        MPI_Type_commit(&view);
        check::ok(MPI_File_set_view(file, MPI_Offset{100} * check::rank(), MPI_BYTE, view, "native",
                                    MPI_INFO_NULL));
        MPI_Type_free(&view);
        check::ok(MPI_File_write_all(file, data.data(), 3000, MPI_BYTE, MPI_STATUS_IGNORE));
        if (own != MPI_COMM_NULL) MPI_Comm_free(&own);
        before = file;
    }
    close(before);
    for (int i = 0; i < 6; ++i) {
        model::File expected;
        for (int r = 0; r < check::size(); ++r) {
            auto const data = model::data_of(4, r, i, 3000);
            for (int piece = 0; piece < 30; ++piece) {
                auto const from = data.begin() + 100 * piece;
                expected.write({{100 * (check::size() * piece + r), 100}},
                               model::Bytes(from, from + 100));
            }
        }
        check::compare_and_remove(names[i], expected);
    }
}

std::string value_of(MPI_Info info, char const* key) {
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
    return found ? value : "";
}

/// MPI_File_get_info tells the values in force, those that were never set among them.
void info_in_force() {
    if (check::state().options.plain) return;
    auto const name = check::fresh_file("info.bin", 0);
    MPI_Info given = MPI_INFO_NULL, told = MPI_INFO_NULL;
    MPI_Info_create(&given);
    MPI_Info_set(given, "cb_buffer_size", "65536");
    MPI_Info_set(given, "sluice_close", "durable");
    MPI_File file = open(name, MPI_MODE_RDWR, MPI_COMM_WORLD, given);
    MPI_Info_set(given, "romio_cb_write", "enable");
    check::ok(MPI_File_set_info(file, given));
    MPI_Info_free(&given);
    check::ok(MPI_File_get_info(file, &told));
    check::is_equal(std::string("65536"), value_of(told, "cb_buffer_size"), "cb_buffer_size");
    check::is_equal(std::string("durable"), value_of(told, "sluice_close"), "sluice_close");
    check::is_equal(std::string("enable"), value_of(told, "romio_cb_write"), "romio_cb_write");
    check::is_equal(std::string("automatic"), value_of(told, "romio_cb_read"), "romio_cb_read");
    check::is_true(std::stoi(value_of(told, "cb_nodes")) >= 1, "cb_nodes is at least 1");
    MPI_Info_free(&told);
    close(file);
    check::compare_and_remove(name, model::File(0));
}

/// MPI_Cancel cancels nothing, and harms nothing: the standard leaves it to the implementation.
void cancel_harms_nothing() {
    auto const name = check::fresh_file("cancel.bin", 0);
    MPI_File file = open(name);
    auto const data = model::data_of(5, check::rank(), 0, 5000);
    MPI_Request request = MPI_REQUEST_NULL;
    auto const at = MPI_Offset{5000} * check::rank();
    check::ok(MPI_File_iwrite_at_all(file, at, data.data(), 5000, MPI_BYTE, &request));
    if (check::rank() % 2 == 0) check::ok(MPI_Cancel(&request), "MPI_Cancel");
    MPI_Status status{};
    check::ok(MPI_Wait(&request, &status));
    int cancelled = 1;
    MPI_Test_cancelled(&status, &cancelled);
    check::is_equal(0, cancelled, "cancelled");
    close(file);
    expect_blocks(name, model::File(), 5000, 0);
}

/// Contiguous bytes go straight to the file, so the blocking call waits for this rank's bytes
/// alone: rank 0 returns from `calls` of them before any other rank begins its first. MPI does not
/// promise this, but a program whose ranks compute for different times loses by anything else.
void returns_with_own_bytes() {
    if (!check::has_helper()) return;  // Then blocking calls wait for all ranks.
    constexpr int bytes = 1 << 20, calls = 2;
    auto const name = check::fresh_file("legal.bin", 0);
    MPI_File file = open(name);
    if (check::rank() != 0) {
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    model::File expected;
    model::Bytes read(bytes);
    for (int call = 0; call < calls; ++call) {
        auto const data = model::data_of(5, check::rank(), call, bytes);
        auto const at = MPI_Offset{bytes} * (check::rank() * calls + call);
        MPI_Status status{};
        check::ok(MPI_File_write_at_all(file, at, data.data(), bytes, MPI_BYTE, &status));
        check::ok(MPI_File_read_at_all(file, at, read.data(), bytes, MPI_BYTE, &status));
        int count = 0;
        MPI_Get_count(&status, MPI_BYTE, &count);
        check::is_equal(bytes, count, "count");
        check::same_bytes(data, read, "what this rank wrote");
    }
    if (check::rank() == 0) {
        for (int r = 1; r < check::size(); ++r) {
            MPI_Send(nullptr, 0, MPI_BYTE, r, tag, MPI_COMM_WORLD);
        }
    }
    close(file);
    for (int r = 0; r < check::size(); ++r) {
        for (int call = 0; call < calls; ++call) {
            expected.write({{std::int64_t{bytes} * (r * calls + call), bytes}},
                           model::data_of(5, r, call, bytes));
        }
    }
    check::compare_and_remove(name, expected);
}

std::vector<check::Test> make_tests() {
    std::vector<check::Test> tests{
        {"returns_with_own_bytes", returns_with_own_bytes},
        {"start_is_local", start_is_local},
        {"start_needs_no_calls", start_needs_no_calls},
        {"wait_moves_messages/nonblocking", [] { wait_moves_messages(false); }},
        {"wait_moves_messages/blocking", [] { wait_moves_messages(true); }},
        {"messages_between", messages_between},
        {"info_in_force", info_in_force},
        {"communicator_for_each_file", communicator_for_each_file},
        {"cancel_harms_nothing", cancel_harms_nothing},
        {"write_into_holes", write_into_holes},
        {"write_into_own_holes", write_into_own_holes}};
    for (auto const& test : legal::file_tests()) tests.push_back(test);
    return tests;
}

}  // namespace

int main(int argc, char** argv) { return check::run_suite(argc, argv, "legal_test", make_tests); }
