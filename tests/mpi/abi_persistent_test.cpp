// Persistent collective accesses of sluice.h: started often, with new data, through views that are
// changed meanwhile, and what is refused. Linked to the library instead of preloading it.
#include "sluice/sluice.h"

#include "access.hpp"

#include <algorithm>
#include <numeric>

namespace {

constexpr int items = 500;

/// Ranks' items alternate in the file.
void set_alternating_view(MPI_File file) {
    MPI_Datatype one = MPI_DATATYPE_NULL, view = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(1, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, static_cast<MPI_Aint>(sizeof(int)) * check::size(), &view);
    MPI_Type_commit(&view);
    auto const at = static_cast<MPI_Offset>(sizeof(int)) * check::rank();
    check::ok(MPI_File_set_view(file, at, MPI_INT, view, "native", MPI_INFO_NULL));
    MPI_Type_free(&view);
    MPI_Type_free(&one);
}

struct Opened {
    explicit Opened(char const* name, int mode = MPI_MODE_CREATE | MPI_MODE_RDWR) {
        check::ok(
            MPI_File_open(MPI_COMM_WORLD, check::path(name).c_str(), mode, MPI_INFO_NULL, &file));
        set_alternating_view(file);
    }
    ~Opened() {
        if (file != MPI_FILE_NULL) MPI_File_close(&file);
    }
    Opened(Opened const&) = delete;
    Opened& operator=(Opened const&) = delete;
    MPI_File file = MPI_FILE_NULL;
};

std::vector<int> values_of(int rank, int time) {
    std::vector<int> all(items);
    std::iota(all.begin(), all.end(), rank * 1000000 + time * 10000);
    return all;
}

/// Every second int of a memory twice as long.
MPI_Datatype spread_type() {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(items, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    return type;
}

void check_count(MPI_Status const& status, int expected) {
    int found = -1;
    MPI_Get_count(&status, MPI_INT, &found);
    check::is_equal(expected, found, "items in the status");
}

void check_file(MPI_File file, MPI_Offset offset, std::vector<int> const& expected) {
    std::vector<int> found(expected.size());
    check::ok(MPI_File_read_at_all(file, offset, found.data(), static_cast<int>(found.size()),
                                   MPI_INT, MPI_STATUS_IGNORE));
    check::is_true(found == expected, "what the file holds");
}

/// The same write again and again, of other values; the datatype is freed at once.
void started_often() {
    Opened const opened("often.bin");
    std::vector<int> memory(2 * items, -1);
    MPI_Datatype type = spread_type();
    sluice_request request = SLUICE_REQUEST_NULL;
    check::ok(sluice_write_at_all_init(opened.file, 7, memory.data(), 1, type, &request));
    MPI_Type_free(&type);
    for (int time = 0; time < 20; ++time) {
        auto const values = values_of(check::rank(), time);
        for (std::size_t i = 0; i < items; ++i) memory[2 * i] = values[i];
        check::ok(sluice_start(request));
        MPI_Status status{};
        int complete = 0;
        while (time % 2 == 1 && !complete) check::ok(sluice_test(request, &complete, &status));
        if (time % 2 == 0) check::ok(sluice_wait(request, &status));
        check_count(status, items);
        check_file(opened.file, 7, values);
    }
    check::ok(sluice_request_free(&request));
    check::is_true(request == SLUICE_REQUEST_NULL, "a freed request is null");
}

/// Reads see what was written since the last start; a later view does not concern them.
void reads_with_another_view() {
    Opened const opened("reads.bin");
    std::vector<int> memory(items);
    sluice_request request = SLUICE_REQUEST_NULL;
    check::ok(sluice_read_at_all_init(opened.file, 3, memory.data(), items, MPI_INT, &request));
    for (int time = 0; time < 6; ++time) {
        auto const values = values_of(check::rank(), time);
        set_alternating_view(opened.file);
        check::ok(MPI_File_write_at_all(opened.file, 3, values.data(), items, MPI_INT,
                                        MPI_STATUS_IGNORE));
        check::ok(MPI_File_set_view(opened.file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
        MPI_Status status{};
        check::ok(sluice_start(request));
        check::ok(sluice_wait(request, &status));
        check_count(status, items);
        check::is_true(memory == values, "what a later start reads");
    }
    check::ok(sluice_request_free(&request));
}

/// Several under way, completed together, in turn with other calls.
void several() {
    Opened const opened("several.bin");
    constexpr int many = 6;
    std::vector<std::vector<int>> memory;
    std::vector<sluice_request> requests(many, SLUICE_REQUEST_NULL);
    for (int i = 0; i < many; ++i) memory.push_back(values_of(check::rank(), i));
    for (int i = 0; i < many; ++i) {
        auto const place = static_cast<std::size_t>(i);
        check::ok(sluice_write_at_all_init(opened.file, i * items, memory[place].data(), items,
                                           MPI_INT, &requests[place]));
    }
    for (int time = 0; time < 3; ++time) {
        for (auto& values : memory)
            std::transform(values.begin(), values.end(), values.begin(),
                           [](int value) { return value + 1; });
        auto const other = values_of(check::rank(), 50 + time);
        MPI_Request beside = MPI_REQUEST_NULL;
        check::ok(sluice_startall(many, requests.data()));
        check::ok(MPI_File_iwrite_at_all(opened.file, many * items, other.data(), items, MPI_INT,
                                         &beside));
        std::vector<MPI_Status> statuses(many);
        check::ok(sluice_waitall(many, requests.data(), statuses.data()));
        for (auto const& status : statuses) check_count(status, items);
        check::ok(MPI_Wait(&beside, MPI_STATUS_IGNORE));
        for (int i = 0; i < many; ++i) {
            check_file(opened.file, i * items, memory[static_cast<std::size_t>(i)]);
        }
        check_file(opened.file, many * items, other);
    }
    for (auto& request : requests) check::ok(sluice_request_free(&request));
}

/// In external32 each start converts the memory as it is then.
void external32() {
    Opened const opened("external.bin");
    check::ok(MPI_File_set_view(opened.file, check::rank() * 10000, MPI_LONG, MPI_LONG,
                                "external32", MPI_INFO_NULL));
    std::vector<long> memory(items), back(items);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(items, MPI_LONG, &type);
    MPI_Type_commit(&type);
    sluice_request write = SLUICE_REQUEST_NULL, read = SLUICE_REQUEST_NULL;
    check::ok(sluice_write_at_all_init(opened.file, 0, memory.data(), 1, type, &write));
    check::ok(sluice_read_at_all_init(opened.file, 0, back.data(), 1, type, &read));
    MPI_Type_free(&type);
    for (int time = 0; time < 4; ++time) {
        std::iota(memory.begin(), memory.end(), time * 1000);
        for (sluice_request const request : {write, read}) {
            check::ok(sluice_start(request));
            check::ok(sluice_wait(request, MPI_STATUS_IGNORE));
        }
        check::is_true(memory == back, "values after both conversions");
    }
    for (sluice_request* const request : {&write, &read}) check::ok(sluice_request_free(request));
}

/// Bad arguments of one rank are told to all; no rank gets a request.
void bad_arguments() {
    Opened const opened("bad.bin");
    std::vector<int> memory(items);
    bool const last = check::rank() == check::size() - 1;
    sluice_request request = SLUICE_REQUEST_NULL;
    int code =
        sluice_write_at_all_init(opened.file, 0, memory.data(), last ? -1 : 1, MPI_INT, &request);
    check::is_equal(MPI_ERR_COUNT, check::class_of(code), "a negative count");
    check::is_true(request == SLUICE_REQUEST_NULL, "no request after an error");
    code =
        sluice_write_at_all_init(opened.file, last ? -5 : 0, memory.data(), 1, MPI_INT, &request);
    check::is_equal(MPI_ERR_ARG, check::class_of(code), "a negative offset");
    code = sluice_read_at_all_init(opened.file, 0, memory.data(), 1,
                                   last ? MPI_DATATYPE_NULL : MPI_INT, &request);
    check::is_equal(MPI_ERR_TYPE, check::class_of(code), "no datatype");
    check::is_equal(MPI_ERR_FILE,
                    sluice_read_at_all_init(MPI_FILE_NULL, 0, memory.data(), 1, MPI_INT, &request),
                    "no file");
}

int seen = 0;
void count_error(MPI_File*, int*, ...) { ++seen; }

/// Calls in the wrong state; the file's handler sees those of a request.
void wrong_states() {
    seen = 0;
    Opened opened("states.bin");
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_File_create_errhandler(count_error, &handler);
    MPI_File_set_errhandler(opened.file, handler);
    std::vector<int> memory(items);
    sluice_request request = SLUICE_REQUEST_NULL;
    int complete = 0;
    check::is_equal(MPI_ERR_REQUEST, sluice_start(request), "start of none");
    check::is_equal(MPI_ERR_REQUEST, sluice_wait(request, MPI_STATUS_IGNORE), "wait for none");
    check::is_equal(MPI_ERR_REQUEST, sluice_test(request, &complete, MPI_STATUS_IGNORE), "a test");
    check::is_equal(MPI_ERR_REQUEST, sluice_request_free(&request), "free of none");
    check::ok(sluice_write_at_all_init(opened.file, 0, memory.data(), items, MPI_INT, &request));
    MPI_Status status{};
    check::ok(sluice_wait(request, &status), "wait for an inactive one");
    check_count(status, 0);
    check::ok(sluice_start(request));
    check::is_equal(0, seen, "calls of the handler so far");
    check::is_equal(MPI_ERR_REQUEST, check::class_of(sluice_start(request)), "a second start");
    check::is_equal(MPI_ERR_REQUEST, check::class_of(sluice_request_free(&request)), "active");
    check::is_equal(2, seen, "calls of the handler");
    check::ok(MPI_File_close(&opened.file));
    check::ok(sluice_wait(request, &status), "wait after the close");
    check_count(status, items);
    check::is_equal(MPI_ERR_FILE, sluice_start(request), "start after the close");
    check::ok(sluice_request_free(&request));
    MPI_Errhandler_free(&handler);
}

std::vector<check::Test> tests() {
    return {
        {"often", started_often},   {"reads", reads_with_another_view}, {"several", several},
        {"external32", external32}, {"bad_arguments", bad_arguments},   {"states", wrong_states}};
}

}  // namespace

int main(int argc, char** argv) {
    return check::run_suite(argc, argv, "abi_persistent_test", tests);
}
