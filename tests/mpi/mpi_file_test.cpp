// The engine `mpi` by itself: what the conformance test asks of every storage, of the MPI's own
// file. Each rank has files of its own.
#include "../unit/conformance_faults.hpp"
#include "check.hpp"
#include "storage/mpi_file.hpp"

namespace {

namespace conformance = sluice::conformance;
using sluice::MpiFile;
using sluice::StoredFile;

constexpr int pool_threads = 2;

#ifdef OPEN_MPI  // Its own component for files takes "ufs:name" for a name.
constexpr bool prefixes_name_drivers = false;
#else
constexpr bool prefixes_name_drivers = true;
#endif

/// `by_path`: the file has a path beside its name.
void conforms(conformance::Case const& what, bool by_path, char const* prefix) {
    check::is_equal(int{MPI_THREAD_MULTIPLE}, check::state().provided, "thread level");
    auto const folder = check::path("rank" + std::to_string(check::rank()));
    std::filesystem::create_directory(folder);
    conformance::OrderedFaults faults;
    sluice::WorkerPool pool(pool_threads);
    auto const open = [&](std::string const& path, sluice::AccessMode mode, auto finished) {
        std::unique_ptr<StoredFile> same;
        if (by_path) {
            same = std::make_unique<sluice::PosixFile>(
                path, mode, sluice::PosixWay{.pool = pool, .faults = &faults}, finished);
        }
        sluice::MpiWay const way{MPI_COMM_WORLD, pool, &faults};
        return std::make_unique<MpiFile>(prefix + path, mode, way, std::move(same), finished);
    };
    conformance::Subject subject{
        .open = open,
        .folder = folder,
        .fail = [](std::string const& text) { check::fail(text, check::Where::current()); },
        .faults = &faults};
    what.run(subject);
    MPI_Barrier(MPI_COMM_WORLD);
}

/// Where the name begins with a driver's prefix that POSIX calls cannot replace, nothing takes the
/// lock: better no atomic mode than one that is none.
void no_path_no_lock() {
    auto const name = check::path("lock" + std::to_string(check::rank()));
    conformance::make_file(name, sluice::Buffer(100));
    sluice::WorkerPool pool(pool_threads);
    MpiFile file(name, sluice::AccessMode::both, {MPI_COMM_WORLD, pool}, nullptr, [] {});
    sluice::Buffer memory(10);
    sluice::ListTransfer write(sluice::Direction::write, {{0, memory.data(), 10}});
    write.exclusive = {0, 10};
    file.run(write);
    check::is_true(write.status() == sluice::Status::unsupported, "refused");
}

/// A handle that was given back serves no more, and says so.
void released() {
    auto const name = check::path("released" + std::to_string(check::rank()));
    conformance::make_file(name, sluice::Buffer(100));
    sluice::WorkerPool pool(pool_threads);
    MpiFile file(name, sluice::AccessMode::both, {MPI_COMM_WORLD, pool}, nullptr, [] {});
    sluice::Buffer memory(10, std::byte{7});
    sluice::ListTransfer before(sluice::Direction::write, {{0, memory.data(), 10}});
    file.run(before);
    check::is_true(before.status() == sluice::Status::ok, "works");
    file.release();
    sluice::ListTransfer after(sluice::Direction::write, {{50, memory.data(), 10}});
    file.run(after);
    check::is_true(after.status() == sluice::Status::bad_file, "is told");
    check::is_true(conformance::content_of(name)[50] == std::byte{0}, "writes nothing");
}

/// A file that was opened to be read, and one that is not there.
void refused() {
    auto const name = check::path("refused" + std::to_string(check::rank()));
    sluice::Buffer const content(100, std::byte{3});
    conformance::make_file(name, content);
    sluice::WorkerPool pool(pool_threads);
    sluice::Buffer memory(10);
    for (bool const there : {true, false}) {
        MpiFile file(there ? name : name + ".not", sluice::AccessMode::read, {MPI_COMM_WORLD, pool},
                     nullptr, [] {});
        sluice::ListTransfer write(sluice::Direction::write, {{0, memory.data(), 10}});
        file.run(write);
        check::is_true(write.status() != sluice::Status::ok, "a write is refused");
        check::is_true(there || write.status() == sluice::Status::no_such_file, "no such file");
    }
    check::is_true(conformance::content_of(name) == content, "nothing was written");
}

std::vector<check::Test> make_tests() {
    std::vector<check::Test> tests{
        {"no_path_no_lock", no_path_no_lock}, {"released", released}, {"refused", refused}};
    auto all = conformance::cases();
    all.insert(all.end(), conformance::fault_cases().begin(), conformance::fault_cases().end());
    for (auto const& what : all) {
        tests.push_back({std::string(what.name) + "/path", [=] { conforms(what, true, ""); }});
        if (!prefixes_name_drivers) continue;
        tests.push_back({std::string(what.name) + "/ufs", [=] { conforms(what, true, "ufs:"); }});
    }
    return tests;
}

}  // namespace

int main(int argc, char** argv) {
    return check::run_suite(argc, argv, "mpi_file_test", make_tests);
}
