// Many nonblocking collective operations at once: on one file and on two, started in different
// orders on different ranks, completed by each call that MPI has for it, in different orders.
// For every way of completion it writes and reads interleaved data with holes, and compares every
// byte of the files and of the memory with the serial model.
#include "outstanding_ways.hpp"

namespace {

using namespace access_form;
using outstanding::Finish;
using outstanding::Operations;

/// What a sub-test varies.
struct Setup {
    int operations = 3;
    int files = 1;
    bool by_pointer = true;      ///< Individual pointer; else explicit offsets.
    bool turned = false;         ///< Ranks start the files' operations in different order.
    bool with_messages = false;  ///< Receives and sends in the same array of requests.
    bool some_nothing = false;
    bool one_late = false;
    int elements = 4000;  ///< Of an operation and rank.
    int piece = 4;        ///< Elements that lie together, one of them a hole.
};

/// Rank r's pieces alternate with the other ranks', and the end of each piece stays a hole.
model::View view_of(Setup const& setup, int rank) {
    int const stride = setup.piece * check::size();
    auto const mine = model::resized(
        model::vector(model::element(MPI_INT), 8, setup.piece - 1, stride), 8 * 4 * stride);
    return {4 * setup.piece * rank, MPI_INT, mine};
}

int count_of(Setup const& setup, int rank, int op) {
    if (setup.some_nothing && (rank + op) % 2 == 1) return 0;
    return setup.elements + 7 * op + rank;
}

model::Request request_of(Setup const& setup, int rank, int op) {
    std::int64_t offset = 0;
    for (int earlier = op % setup.files; earlier < op; earlier += setup.files) {
        offset += count_of(setup, rank, earlier);
    }
    return {view_of(setup, rank), offset, model::element(MPI_INT), count_of(setup, rank, op)};
}

/// The k-th operation that a rank starts. On one file all ranks start in the same order; between
/// files the order is each rank's own.
int started_as(Setup const& setup, int k) {
    if (!setup.turned || setup.files == 1) return k;
    int const in_group = k % setup.files;
    return k - in_group + (in_group + check::rank()) % setup.files;
}

int start(Setup const& setup, Direction direction, MPI_File file, model::Request const& request,
          void* memory, MPI_Request* handle) {
    Form const form = setup.by_pointer ? Form::iall : Form::iat_all;
    auto const at = static_cast<MPI_Offset>(request.offset);
    return direction == Direction::write
               ? start_write(file, form, at, memory, request.count, MPI_INT, nullptr, handle)
               : start_read(file, form, at, memory, request.count, MPI_INT, nullptr, handle);
}

void check_pointers(Setup const& setup, std::vector<MPI_File> const& files) {
    if (!setup.by_pointer) return;
    for (int f = 0; f < setup.files; ++f) {
        auto const end = request_of(setup, check::rank(), setup.operations - 1).offset;
        int const last = setup.operations - 1;
        auto const expected = last % setup.files == f
                                  ? end + count_of(setup, check::rank(), last)
                                  : request_of(setup, check::rank(), last - 1).position_after();
        check::is_equal(static_cast<MPI_Offset>(expected),
                        position(files[static_cast<std::size_t>(f)]), "file pointer");
    }
}

/// Starts all, completes all in the given way, and checks statuses and pointers.
void run_all(Setup const& setup, Direction direction, Finish const& finish_all,
             std::vector<MPI_File> const& files, std::vector<model::Bytes>& memory) {
    if (setup.one_late && check::rank() == check::size() - 1) check::sleep_ms(50);
    Operations all(setup.with_messages);
    for (int k = 0; k < setup.operations; ++k) {
        int const op = started_as(setup, k);
        auto const request = request_of(setup, check::rank(), op);
        auto const file = files[static_cast<std::size_t>(op % setup.files)];
        MPI_Request handle = MPI_REQUEST_NULL;
        check::ok(start(setup, direction, file, request,
                        memory[static_cast<std::size_t>(op)].data(), &handle),
                  "start");
        all.add(handle, request.bytes());
    }
    check_pointers(setup, files);
    finish_all(all);
    all.check_finished();
    check_pointers(setup, files);
}

std::vector<MPI_File> open_all(Setup const& setup, std::vector<std::string>& names, bool fresh) {
    std::vector<MPI_File> files;
    for (int f = 0; f < setup.files; ++f) {
        std::string const name = "outstanding" + std::to_string(f) + ".bin";
        if (fresh) names.push_back(check::fresh_file(name, 9999));
        files.push_back(open(names[static_cast<std::size_t>(f)]));
        set_view(files.back(), view_of(setup, check::rank()));
    }
    return files;
}

std::vector<model::Bytes> data_of_all(Setup const& setup, int rank) {
    std::vector<model::Bytes> data;
    data.reserve(static_cast<std::size_t>(setup.operations));
    for (int op = 0; op < setup.operations; ++op) {
        data.push_back(model::data_of(3, rank, op, request_of(setup, rank, op).bytes()));
    }
    return data;
}

void compare_files(Setup const& setup, std::vector<std::string> const& names) {
    for (int f = 0; f < setup.files; ++f) {
        model::File expected(9999);
        for (int rank = 0; rank < check::size(); ++rank) {
            auto const data = data_of_all(setup, rank);
            for (int op = f; op < setup.operations; op += setup.files) {
                expected.write(request_of(setup, rank, op).in_file(),
                               data[static_cast<std::size_t>(op)]);
            }
        }
        check::compare_and_remove(names[static_cast<std::size_t>(f)], expected);
    }
}

void write_and_read(Setup const& setup, Finish const& finish_all) {
    std::vector<std::string> names;
    auto const data = data_of_all(setup, check::rank());
    auto memory = data;
    auto files = open_all(setup, names, true);
    run_all(setup, Direction::write, finish_all, files, memory);
    for (auto& file : files) close(file);
    for (std::size_t op = 0; op < data.size(); ++op) {
        check::same_bytes(data[op], memory[op], "memory after the write");
        std::fill(memory[op].begin(), memory[op].end(), model::untouched);
    }
    files = open_all(setup, names, false);
    run_all(setup, Direction::read, finish_all, files, memory);
    for (auto& file : files) close(file);
    for (std::size_t op = 0; op < data.size(); ++op) {
        check::same_bytes(data[op], memory[op], "memory after the read");
    }
    compare_files(setup, names);
}

/// MPI_Request_free before completion: the data must still arrive before the file is closed. (MPI
/// forbids it for the collectives of a communicator, and says nothing for those of a file.)
void freed_requests(bool sync) {
    Setup const setup{.operations = 4};
    std::vector<std::string> names;
    auto memory = data_of_all(setup, check::rank());
    auto files = open_all(setup, names, true);
    for (int op = 0; op < setup.operations; ++op) {
        MPI_Request handle = MPI_REQUEST_NULL;
        auto const request = request_of(setup, check::rank(), op);
        check::ok(start(setup, Direction::write, files[0], request,
                        memory[static_cast<std::size_t>(op)].data(), &handle));
        check::ok(MPI_Request_free(&handle), "MPI_Request_free");
        check::is_true(handle == MPI_REQUEST_NULL, "handle is null after MPI_Request_free");
    }
    if (sync) check::ok(MPI_File_sync(files[0]), "MPI_File_sync");
    if (sync) {
        MPI_Barrier(MPI_COMM_WORLD);
        auto const now = check::posix_read(names[0]);
        check::is_true(now.size() > 9999, "the data is in the file after MPI_File_sync");
    }
    close(files[0]);
    compare_files(setup, names);
}

/// A write and the read of other bytes of the same file, both outstanding.
void writes_and_reads() {
    auto const name = check::fresh_file("outstanding0.bin", 200000);
    model::File expected(200000);
    MPI_File file = open(name);
    std::int64_t const read_at = 100000 + 1000 * check::rank();
    model::Bytes out = model::data_of(3, check::rank(), 0, 5000), in(1000);
    MPI_Request handles[]{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    check::ok(MPI_File_iwrite_at_all(file, 5000 * check::rank(), out.data(), 5000, MPI_BYTE,
                                     &handles[0]));
    check::ok(MPI_File_iread_at_all(file, static_cast<MPI_Offset>(read_at), in.data(), 1000,
                                    MPI_BYTE, &handles[1]));
    check::ok(MPI_Wait(&handles[1], MPI_STATUS_IGNORE));
    check::same_bytes(expected.read({{read_at, 1000}}), in, "memory after the read");
    check::ok(MPI_Wait(&handles[0], MPI_STATUS_IGNORE));
    close(file);
    for (int r = 0; r < check::size(); ++r) {
        expected.write({{5000 * r, 5000}}, model::data_of(3, r, 0, 5000));
    }
    check::compare_and_remove(name, expected);
}

std::vector<check::Test> make_tests() {
    std::vector<std::pair<std::string, Setup>> const setups{
        {"one", {.operations = 1}},
        {"two", {.operations = 2}},
        {"three", {}},
        {"eight", {.operations = 8, .elements = 1500}},
        {"offsets", {.operations = 4, .by_pointer = false}},
        {"two_files", {.operations = 6, .files = 2, .turned = true}},
        {"messages", {.operations = 3, .with_messages = true}},
        {"nothing", {.operations = 4, .some_nothing = true}},
        {"late", {.operations = 2, .one_late = true}},
        {"large", {.operations = 3, .elements = 1000000, .piece = 2500}}};
    std::vector<check::Test> tests;
    for (auto const& [name, setup] : setups) {
        for (auto const& way : outstanding::all_ways()) {
            tests.push_back(
                {way.name + "/" + name, [s = setup, f = way.finish] { write_and_read(s, f); }});
        }
    }
    tests.push_back({"freed/close", [] { freed_requests(false); }});
    tests.push_back({"freed/sync", [] { freed_requests(true); }});
    tests.push_back({"writes_and_reads", writes_and_reads});
    return tests;
}

}  // namespace

int main(int argc, char** argv) {
    return check::run_suite(argc, argv, "outstanding_test", make_tests);
}
