// The promise that the library is built on: an operation moves all its bytes and completes while
// the program computes, with no call of MPI in between. Each rank computes on a core, starts one
// operation on a storage device that takes a while (SLUICE_TEST with `device`), and looks at the
// file or at its memory until the bytes are there.
//
// With SLUICE_TEST=helper=off nothing may move without a call, so the same sub-tests must find
// bytes missing: that is checked as well, since a test that could not fail would prove nothing.
// Then calls of MPI_Test must bring them.
#include "access.hpp"

#include <algorithm>
#include <chrono>

namespace {

using namespace access_form;

constexpr int piece = 4096, pieces = 1024;  // 4 MiB a rank: 70 ms of the device and more.
constexpr double longest = 30;   ///< Seconds; with a helper only a failing test takes that long.
constexpr double in_vain = 0.5;  ///< Seconds, when nothing may move: several times what the device
                                 ///< would need.

bool moves_without_calls() { return check::has_helper(); }

/// Collective. Hosts are found by the MPI, pretended nodes by the library's settings.
bool all_share_memory() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int size = 0;
    MPI_Comm_size(node, &size);
    MPI_Comm_free(&node);
    return size == check::size() && check::is_one_node();
}

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Computes, and calls nothing of MPI, not even for the time.
void compute(double seconds) {
    double volatile sum = 0;
    double const end = now() + seconds;
    while (now() < end)
        for (int i = 0; i < 10000; ++i) sum = sum * 0.5 + i;
}

/// Returns whether the bytes were there before the time was over.
bool compute_until(std::function<bool()> const& are_there, double seconds) {
    double const end = now() + seconds;
    while (!are_there()) {
        if (now() > end) return false;
        compute(0.005);
    }
    return true;
}

/// Rank r has every size-th piece.
model::Request request_of(int rank) {
    auto const row = model::contiguous(model::element(MPI_BYTE), piece);
    auto const view = model::resized(row, std::int64_t{piece} * check::size());
    return {
        {std::int64_t{piece} * rank, MPI_BYTE, view}, 0, model::element(MPI_BYTE), piece * pieces};
}

model::Bytes data_of(int rank, int op) {
    return model::data_of(21, rank, op, request_of(rank).bytes());
}

model::File expected_file(int op) {
    model::File file(0);
    for (int r = 0; r < check::size(); ++r) file.write(request_of(r).in_file(), data_of(r, op));
    return file;
}

/// One operation from its start to the end of the computation, then its completion.
class Unattended {
public:
    Unattended(Form form, Direction direction) : form_(form), direction_(direction) {
        std::span<unsigned char const> const nothing;
        if (check::rank() == 0) check::posix_write(name_, is_read() ? expected_.bytes() : nothing);
        MPI_Barrier(MPI_COMM_WORLD);
        file_ = open(name_);
        set_view(file_, request_.view);
        memory_ = is_read() ? model::Bytes(data_.size(), model::untouched) : data_;
        MPI_Barrier(MPI_COMM_WORLD);
    }

    void run() {
        int const bytes = piece * pieces;
        auto* const p = memory_.data();
        check::ok(is_read() ? start_read(file_, form_, 0, p, bytes, MPI_BYTE, &status_, &handle_)
                            : start_write(file_, form_, 0, p, bytes, MPI_BYTE, &status_, &handle_),
                  "start");
        bool const at_once = are_there();
        bool const moved = compute_until([this] { return are_there(); },
                                         moves_without_calls() ? longest : in_vain);
        if (moves_without_calls()) {
            check::is_true(moved, "all bytes have moved while the rank computed");
        } else {
            check::is_true(!at_once, "the start returns before the bytes have moved");
            check::is_true(!moved, "without a helper bytes are missing after the computation");
            check::is_true(advance_by_tests(), "without a helper MPI_Test brings all bytes");
        }
    }

    void finish() {
        if (handle_ != MPI_REQUEST_NULL && moves_without_calls()) {
            compute(afterwards_);
            test();
            check::is_true(is_complete_, "the first MPI_Test after the computation finds the end");
        }
        if (!is_complete_)
            check::ok(
                access_form::finish(file_, form_, direction_, memory_.data(), &status_, &handle_),
                "completion");
        check_status(status_, request_, MPI_BYTE, request_.bytes(), check::Where::current());
        check::same_bytes(data_, memory_, "memory");
        close(file_);
        check::compare_and_remove(name_, expected_);
    }

private:
    void test() {
        int flag = 0;
        check::ok(MPI_Test(&handle_, &flag, &status_), "MPI_Test");
        is_complete_ = flag != 0;
    }
    /// A split collective has no request: MPI_Test of any other one advances it too.
    bool advance_by_tests() {
        int flag = 0;
        MPI_Request message = MPI_REQUEST_NULL;
        MPI_Irecv(nullptr, 0, MPI_BYTE, 0, 1, MPI_COMM_SELF, &message);
        double const end = now() + longest;
        while (!are_there() && now() < end) {
            compute(0.001);
            if (handle_ != MPI_REQUEST_NULL)
                test();
            else
                check::ok(MPI_Test(&message, &flag, MPI_STATUS_IGNORE), "MPI_Test of a message");
        }
        MPI_Send(nullptr, 0, MPI_BYTE, 0, 1, MPI_COMM_SELF);
        check::ok(MPI_Wait(&message, MPI_STATUS_IGNORE));
        return are_there();
    }
    [[nodiscard]] bool is_read() const { return direction_ == Direction::read; }
    [[nodiscard]] bool are_there() const {
        return is_read() ? memory_ == data_
                         : std::ranges::equal(check::posix_read(name_), expected_.bytes());
    }

    Form form_;
    Direction direction_;
    int op_ = static_cast<int>(form_) * 2 + (direction_ == Direction::read ? 1 : 0);
    std::string name_ = check::path("progress.bin");
    model::Request request_ = request_of(check::rank());
    model::Bytes data_ = data_of(check::rank(), op_), memory_;
    model::File expected_ = expected_file(op_);
    /// Seconds for the ranks to agree that all is complete. Between nodes that takes messages, and
    /// with more ranks than cores each waits for a helper's turn: 50 to 100 ms with 3 ranks on 2
    /// cores.
    double afterwards_ = all_share_memory() ? 0.2 : 2;
    MPI_File file_ = MPI_FILE_NULL;
    MPI_Request handle_ = MPI_REQUEST_NULL;
    MPI_Status status_{};
    bool is_complete_ = false;  ///< A test said so.
};

std::string mark_of(int rank) { return check::path("ended" + std::to_string(rank)); }

bool others_have_ended() {
    for (int r = 1; r < check::size(); ++r)
        if (::access(mark_of(r).c_str(), F_OK) != 0) return false;
    return true;
}

/// Rank 0 computes for as long as the others wait for theirs.
void one_rank_computes() {
    auto const name = check::fresh_file("progress.bin", 0);
    MPI_File file = open(name);
    auto const request = request_of(check::rank());
    auto const data = data_of(check::rank(), 0);
    set_view(file, request.view);
    MPI_Request handle = MPI_REQUEST_NULL;
    check::ok(MPI_File_iwrite_all(file, data.data(), request.count, MPI_BYTE, &handle));
    if (check::rank() == 0) {
        bool const ended =
            compute_until(others_have_ended, moves_without_calls() ? longest : in_vain);
        bool const expected = moves_without_calls() || check::size() == 1;
        check::is_equal(expected, ended, "the others end while rank 0 computes");
    }
    check::ok(MPI_Wait(&handle, MPI_STATUS_IGNORE));
    if (check::rank() > 0) check::posix_write(mark_of(check::rank()), {});
    close(file);
    ::unlink(mark_of(check::rank()).c_str());
    check::compare_and_remove(name, expected_file(0));
}

std::vector<check::Test> make_tests() {
    std::vector<check::Test> tests{{"one_rank_computes", one_rank_computes}};
    for (auto const direction : {Direction::write, Direction::read})
        for (auto const& [form, name] :
             {std::pair{Form::iall, "iall"}, std::pair{Form::iat_all, "iat_all"},
              std::pair{Form::split_all, "split_all"}})
            tests.push_back({std::string(direction == Direction::write ? "write/" : "read/") + name,
                             [form = form, direction] {
                                 Unattended operation(form, direction);
                                 operation.run();
                                 operation.finish();
                             }});
    return tests;
}

}  // namespace

int main(int argc, char** argv) {
    return check::run_suite(argc, argv, "progress_test", make_tests);
}
