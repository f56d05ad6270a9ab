// The library's own threads in an MPI program: they sleep while no operation is under way, take no
// signals, and run on the cores that SLUICE_AFFINITY says. Without Sluice there are none.
#include "legal_files.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sched.h>

namespace {

using namespace access_form;

/// What the system says of one of the library's threads.
struct Thread {
    std::map<std::string, std::string> status;  ///< Lines of /proc/self/task/N/status, by name.
    [[nodiscard]] long long number(std::string const& name) const {
        auto const found = status.find(name);
        return found == status.end() ? -1 : std::atoll(found->second.c_str());
    }
    [[nodiscard]] long long switches() const {
        return number("voluntary_ctxt_switches") + number("nonvoluntary_ctxt_switches");
    }
};

std::map<std::string, Thread> library_threads() {
    std::map<std::string, Thread> threads;
    for (auto const& task : std::filesystem::directory_iterator("/proc/self/task")) {
        Thread thread;
        std::ifstream file(task.path() / "status");
        for (std::string line; std::getline(file, line);) {
            auto const colon = std::min(line.find(':'), line.size());
            auto const value = std::min(line.find_first_not_of(": \t", colon), line.size());
            thread.status[line.substr(0, colon)] = line.substr(value);
        }
        auto const name = thread.status["Name"];
        if (name.starts_with("sluice-")) threads[name + " " + task.path().string()] = thread;
    }
    return threads;
}

bool helps() { return !check::state().options.plain && check::has_helper(); }

/// Interleaved, so that windows are exchanged and storage threads write.
class Written {
public:
    Written() : name_(check::fresh_file("threads.bin", 0)), file_(open(name_)) {
        MPI_Datatype view = MPI_DATATYPE_NULL;
        MPI_Type_vector(pieces, piece, piece * check::size(), MPI_BYTE, &view);
        MPI_Type_commit(&view);
        check::ok(MPI_File_set_view(file_, MPI_Offset{piece} * check::rank(), MPI_BYTE, view,
                                    "native", MPI_INFO_NULL));
        MPI_Type_free(&view);
        check::ok(MPI_File_iwrite_all(file_, data_.data(), pieces * piece, MPI_BYTE, &handle_));
    }
    void wait() { check::ok(MPI_Wait(&handle_, MPI_STATUS_IGNORE)); }
    void close() {
        access_form::close(file_);
        model::File expected(0);
        for (int r = 0; r < check::size(); ++r) {
            auto const data = model::data_of(5, r, 0, pieces * piece);
            model::Blocks blocks;
            for (int i = 0; i < pieces; ++i) {
                blocks.push_back({std::int64_t{i * check::size() + r} * piece, piece});
            }
            expected.write(blocks, data);
        }
        check::compare_and_remove(name_, expected);
    }

private:
    static constexpr int piece = 1000, pieces = 2000;
    std::string name_;
    MPI_File file_;
    model::Bytes data_ = model::data_of(5, check::rank(), 0, pieces* piece);
    MPI_Request handle_ = MPI_REQUEST_NULL;
};

/// Whatever the program does meanwhile, half of the time on the core.
void sleep_and_compute(double seconds) {
    double const begin = MPI_Wtime();
    while (MPI_Wtime() < begin + seconds / 2) continue;
    check::sleep_ms(static_cast<int>(500 * seconds));
}

void expect_no_wake_ups() {
    auto const before = library_threads();
    sleep_and_compute(2);
    auto const after = library_threads();
    check::is_equal(before.size(), after.size(), "threads of the library");
    for (auto const& [name, thread] : after) {
        auto const found = before.find(name);
        if (!check::is_true(found != before.end(), "no new thread")) continue;
        long long const more = thread.switches() - found->second.switches();
        if (more > 1) check::is_equal(0, more, "wake-ups of " + name);
    }
}

void idle_after_wait() {
    Written written;
    written.wait();
    MPI_Barrier(MPI_COMM_WORLD);
    check::sleep_ms(check::is_one_node() ? 200 : 1200);  // What was begun, or held back, ends.
    check::is_true(!helps() || !library_threads().empty(), "there are threads of the library");
    expect_no_wake_ups();
    written.close();
}

/// Complete, but the program has not asked yet.
void idle_before_wait() {
    Written written;
    check::sleep_ms(1500);
    if (helps()) expect_no_wake_ups();
    MPI_Barrier(MPI_COMM_WORLD);
    written.wait();
    written.close();
}

/// The mask of SigBlk has a bit for each signal; that of SIGINT is the second.
void no_signals() {
    Written written;
    written.wait();
    for (auto const& [name, thread] : library_threads()) {
        auto const mask = std::strtoull(thread.status.at("SigBlk").c_str(), nullptr, 16);
        check::is_true((mask & 2) != 0, name + " blocks SIGINT");
    }
    written.close();
}

cpu_set_t mask_before_init, mask_at_init;

std::string list_of(cpu_set_t const& mask) {
    std::string list;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (!CPU_ISSET(core, &mask)) continue;
        int last = core;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &mask)) ++last;
        list += (list.empty() ? "" : ",") + std::to_string(core);
        if (last > core) list += "-" + std::to_string(last);
        core = last;
    }
    return list;
}

/// The ranks are bound to the first core where threads are to be spread, see main().
std::string expected_cores() {
    char const* const set = std::getenv("SLUICE_AFFINITY");
    std::string const way = set ? set : "inherit";
    if (way == "inherit" || (way == "spread" && CPU_COUNT(&mask_before_init) == 1)) {
        return list_of(mask_at_init);
    }
    if (way != "spread") return way;
    cpu_set_t others;
    CPU_XOR(&others, &mask_before_init, &mask_at_init);
    return list_of(others);
}

void cores() {
    Written written;
    written.wait();
    for (auto const& [name, thread] : library_threads()) {
        check::is_equal(expected_cores(), thread.status.at("Cpus_allowed_list"), name + ", cores");
    }
    written.close();
}

void bind_to_first_core() {
    cpu_set_t one;
    CPU_ZERO(&one);
    int first = 0;
    while (!CPU_ISSET(first, &mask_before_init)) ++first;
    CPU_SET(first, &one);
    sched_setaffinity(0, sizeof one, &one);
}

std::vector<check::Test> make_tests() {
    // As a program does that binds its own threads: the library's are not meant.
    bind_to_first_core();
    return {{"idle_after_wait", idle_after_wait},
            {"idle_before_wait", idle_before_wait},
            {"no_signals", no_signals},
            {"cores", cores}};
}

}  // namespace

int main(int argc, char** argv) {
    sched_getaffinity(0, sizeof mask_before_init, &mask_before_init);
    char const* const set = std::getenv("SLUICE_AFFINITY");
    if (set && std::string_view(set) == "spread") bind_to_first_core();
    sched_getaffinity(0, sizeof mask_at_init, &mask_at_init);
    int const code = check::run_suite(argc, argv, "threads_test", make_tests);
    sched_setaffinity(0, sizeof mask_before_init, &mask_before_init);
    return code;
}
