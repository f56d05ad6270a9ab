// Errors on one rank, in every form of call: every rank must get an error of the same class,
// through the file's error handler, once; nothing may hang, abort, or touch other bytes; and the
// file must work afterwards. A nonblocking call reports at completion, on every rank: its start
// returns MPI_SUCCESS and a request.
#include "errors_cases.hpp"

#include <cstring>

namespace {

using namespace access_form;
using namespace errors;

constexpr std::int64_t prefilled_bytes = 50000;

/// Calls with an error that all ranks agree on, and a correct one afterwards.
void faulty_call(Case const& fault, Form form, Direction direction, bool own_handler) {
    auto const name = check::fresh_file("errors.bin", prefilled_bytes);
    MPI_File file = open(name, fault.mode);
    Handler handler(file, own_handler);
    Outcome const outcome = fault.call(file, form, direction);
    check_outcome(outcome, fault.classes, handler);
    model::File expected(prefilled_bytes);
    if (fault.mode == MPI_MODE_RDWR) write_correctly(file, form, expected);
    close(file);
    check_untouched_or_asked(name, expected, fault.damage);
}

/// MPI_Waitall with a failing operation between two good ones.
void waitall_with_error() {
    auto const name = check::fresh_file("errors.bin", prefilled_bytes);
    MPI_File file = open(name);
    Handler handler(file, true);
    MPI_Request requests[]{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[3];
    model::Bytes data[3];
    for (int op = 0; op < 3; ++op) {
        data[op] = model::data_of(8, check::rank(), op, 1000);
        int const count = op == 1 && check::rank() == 0 ? -1 : 1000;
        auto const at = MPI_Offset{1000} * (op * check::size() + check::rank());
        check::ok(MPI_File_iwrite_at_all(file, at, data[op].data(), count, MPI_BYTE, &requests[op]),
                  "start");
    }
    int const code = MPI_Waitall(3, requests, statuses);
    check::is_equal(int{MPI_ERR_IN_STATUS}, check::class_of(code), "class of MPI_Waitall");
    for (int op : {0, 2}) {
        check::is_equal(int{MPI_SUCCESS}, statuses[op].MPI_ERROR, "MPI_ERROR of a good operation");
    }
    check_class(check::class_of(statuses[1].MPI_ERROR), {MPI_ERR_COUNT, MPI_ERR_ARG});
    check::is_equal(1, handler.calls(), "calls of the error handler");
    close(file);
    model::File expected(prefilled_bytes);
    for (int r = 0; r < check::size(); ++r) {
        for (int op : {0, 2}) {
            expected.write({{1000 * (op * check::size() + r), 1000}},
                           model::data_of(8, r, op, 1000));
        }
    }
    check_untouched_or_asked(name, expected, {{1000 * check::size(), 1000 * check::size()}});
}

/// The call of a rank whose bytes went straight to the file may have returned before another rank
/// fails: that rank gets the error with MPI_File_sync at the latest, once.
Outcome with_late_error(MPI_File file, Outcome outcome) {
    int const late = check::class_of(MPI_File_sync(file));
    if (outcome.final_class == MPI_SUCCESS)
        outcome.final_class = late;
    else
        check::is_equal(int{MPI_SUCCESS}, late, "class of MPI_File_sync");
    return outcome;
}

/// Rank 0 has returned from its call when the others make theirs, with a bad count.
void late_error() {
    constexpr int bytes = 1 << 20;
    if (!check::has_helper()) return;
    auto const name = check::fresh_file("errors.bin", prefilled_bytes);
    MPI_File file = open(name);
    Handler handler(file, true);
    model::Bytes memory(bytes, 1);
    bool const fails = check::rank() != 0;
    if (fails) MPI_Recv(nullptr, 0, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int const code = MPI_File_write_at_all(file, MPI_Offset{region}, memory.data(),
                                           fails ? -1 : bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int r = 1; !fails && r < check::size(); ++r) {
        MPI_Send(nullptr, 0, MPI_BYTE, r, 5, MPI_COMM_WORLD);
    }
    if (!fails) check::is_equal(int{MPI_SUCCESS}, check::class_of(code), "class of the call");
    auto const outcome = with_late_error(file, {MPI_SUCCESS, check::class_of(code)});
    std::vector<int> const right = check::size() > 1 ? std::vector<int>{MPI_ERR_COUNT, MPI_ERR_ARG}
                                                     : std::vector<int>{MPI_SUCCESS};
    check_class(outcome.final_class, right);
    check::is_equal(check::size() > 1 ? 1 : 0, handler.calls(), "calls of the error handler");
    model::File expected(prefilled_bytes);
    write_correctly(file, Form::at_all, expected);
    close(file);
    check_untouched_or_asked(name, expected, {{region, bytes}});
}

/// A file system with less room than the data need; afterwards there is room again.
void full_disk(Form form) {
    if (check::state().options.full_dir.empty()) return;
    constexpr int bytes = 8 << 20;
    auto const name = check::state().options.full_dir + "/full.bin";
    MPI_File file = open(name);
    Handler handler(file, true);
    model::Request const all{
        {}, static_cast<std::int64_t>(check::rank()) * bytes, model::element(MPI_BYTE), bytes};
    auto memory = model::data_of(8, check::rank(), 0, bytes);
    auto outcome = start_and_finish(file, form, Direction::write, all, memory, MPI_BYTE);
    outcome = with_late_error(file, outcome);
    bool const over_quota = check::state().options.over_quota;
    check_outcome(outcome, {over_quota ? MPI_ERR_QUOTA : MPI_ERR_NO_SPACE}, handler);
    if (over_quota) {  // btrfs needs room to cut a file, and has none here: only its end helps.
        close(file);
        MPI_Barrier(MPI_COMM_WORLD);
        if (check::rank() == 0) check::is_equal(0, unlink(name.c_str()), "the file is deleted");
        return;
    }
    check::ok(MPI_File_set_size(file, 0), "MPI_File_set_size");
    MPI_Barrier(MPI_COMM_WORLD);
    model::File expected;
    write_correctly(file, form, expected);
    close(file);
    check::compare_and_remove(name, expected);
}

/// Hints are never a reason to hang: the ranks agree whether the open succeeds, and if so the
/// file works.
void hints(std::string const& key, std::function<std::string(int)> const& value_of) {
    auto const name = check::fresh_file("errors.bin", 10);
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, key.c_str(), value_of(check::rank()).c_str());
    MPI_File file = MPI_FILE_NULL;
    int const code = MPI_File_open(MPI_COMM_WORLD, name.c_str(), MPI_MODE_RDWR, info, &file);
    MPI_Info_free(&info);
    if (!agreed_class(check::class_of(code)) || code != MPI_SUCCESS) return;
    model::File expected(10);
    for (Form const form : {Form::at_all, Form::iat_all}) write_correctly(file, form, expected);
    close(file);
    check::compare_and_remove(name, expected);
}

/// Begun twice, ended without a begin, ended as what was not begun: an error each time, and what
/// was begun still ends as it should.
void split_misused() {
    auto const name = check::fresh_file("errors.bin", prefilled_bytes);
    MPI_File file = open(name);
    auto const data = model::data_of(8, check::rank(), 0, 100);
    model::Bytes other(100);
    auto const at = MPI_Offset{100} * check::rank();
    auto const refused = [](int code) { check_class(check::class_of(code), {MPI_ERR_OTHER}); };
    refused(MPI_File_write_all_end(file, data.data(), MPI_STATUS_IGNORE));
    check::ok(MPI_File_write_at_all_begin(file, at, data.data(), 100, MPI_BYTE));
    refused(MPI_File_read_at_all_begin(file, at, other.data(), 100, MPI_BYTE));
    refused(MPI_File_read_all_end(file, other.data(), MPI_STATUS_IGNORE));
    MPI_Status status{};
    check::ok(MPI_File_write_at_all_end(file, data.data(), &status));
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    check::is_equal(100, count, "count");
    refused(MPI_File_write_at_all_end(file, data.data(), &status));
    model::File expected(prefilled_bytes);
    for (int r = 0; r < check::size(); ++r) {
        expected.write({{100 * r, 100}}, model::data_of(8, r, 0, 100));
    }
    close(file);
    check::compare_and_remove(name, expected);
}

/// After MPI_ERRORS_RETURN is set as the default for new files, and with no handler of its own.
void default_handler() {
    auto const name = check::fresh_file("errors.bin", prefilled_bytes);
    MPI_File file = open(name, MPI_MODE_RDONLY);
    auto const data = model::data_of(8, check::rank(), 0, 100);
    for (int turn = 0; turn < 3; ++turn) {
        int const code = MPI_File_write_all(file, data.data(), 100, MPI_BYTE, MPI_STATUS_IGNORE);
        check_class(check::class_of(code), {MPI_ERR_READ_ONLY, MPI_ERR_ACCESS});
    }
    close(file);
    check::compare_and_remove(name, model::File(prefilled_bytes));
}

void add_cases(std::vector<check::Test>& tests) {
    for (auto const& fault : all_cases()) {
        for (Form const form : {Form::all, Form::at_all, Form::iall, Form::iat_all, Form::split_all,
                                Form::split_at_all}) {
            auto const direction = fault.direction;
            for (bool const own : {false, true}) {
                tests.push_back({fault.name + "/" + name_of(form) + (own ? "/handler" : "/return"),
                                 [=] { faulty_call(fault, form, direction, own); }});
            }
        }
    }
}

std::vector<check::Test> make_tests() {
    std::vector<check::Test> tests{
        {"default_handler", default_handler},
        {"waitall_with_error", waitall_with_error},
        {"split_misused", split_misused},
        {"late_error", late_error},
        {"hints/not_a_number", [] { hints("cb_buffer_size", [](int) { return "abc"; }); }},
        {"hints/negative", [] { hints("cb_nodes", [](int) { return "-3"; }); }},
        {"hints/zero", [] { hints("cb_buffer_size", [](int) { return "0"; }); }},
        {"hints/huge", [] { hints("cb_nodes", [](int) { return "99999999999999999999"; }); }},
        {"hints/empty", [] { hints("cb_buffer_size", [](int) { return " "; }); }},
        {"hints/unknown", [] { hints("no_such_hint", [](int) { return "1"; }); }},
        {"hints/different",
         [] { hints("cb_buffer_size", [](int r) { return std::to_string(65536 * (r + 1)); }); }},
        {"hints/different_switch",
         [] { hints("romio_cb_write", [](int r) { return r == 0 ? "enable" : "disable"; }); }},
        {"full_disk/at_all", [] { full_disk(Form::at_all); }},
        {"full_disk/iat_all", [] { full_disk(Form::iat_all); }},
        {"full_disk/all", [] { full_disk(Form::all); }}};
    add_cases(tests);
    return tests;
}

}  // namespace

int main(int argc, char** argv) { return check::run_suite(argc, argv, "errors_test", make_tests); }
