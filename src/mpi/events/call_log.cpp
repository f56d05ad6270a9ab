// How a rank's log begins, is written and ends, and how datatypes and communicators get their
// numbers. See call_log.hpp.
#include "mpi/events/call_log.hpp"

#include "base/flatten.hpp"
#include "base/type_tree_bounds.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/ranks.hpp"
#include "system/environment.hpp"
#include "system/launcher.hpp"
#include "system/library_thread.hpp"
#include "system/log.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace sluice::record {
namespace {

constexpr std::size_t kept_bytes_most = std::size_t{64} << 20;  ///< Of type trees.

/// What prepare() has opened, until MPI has begun.
std::optional<PartFile>& prepared() {
    static auto* const only = new std::optional<PartFile>;
    return *only;
}

std::int64_t wall_clock() noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

std::string library_of_mpi() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
    int length = 0;
    PMPI_Get_library_version(text.data(), &length);
    std::string const all = text.data();
    std::string first;
    for (char const c : all.substr(0, all.find('\n'))) {
        bool const blank = c == ' ' || c == '\t';
        if (!blank || !first.ends_with(' ')) first.push_back(blank ? ' ' : c);
    }
    return first;
}

std::string host() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

/// The command line, shortened.
std::string program() {
    constexpr std::size_t most = 400;
    std::ifstream file("/proc/self/cmdline");
    std::string words{std::istreambuf_iterator<char>(file), {}};
    for (char& c : words)
        if (c == '\0') c = ' ';
    if (words.ends_with(' ')) words.pop_back();
    return words.size() > most ? words.substr(0, most) + " ..." : words;
}

/// The same file wherever the program goes.
std::string log_path() {
    std::error_code error;
    auto const path = std::filesystem::absolute(settings().record, error);
    return error ? settings().record : path.string();
}

/// What readers ask for most, so that they need not flatten it. The layout of what is contiguous
/// has no end; what the MPI tells of its extent is its size then.
void write_shape(LineWriter& line, TypeTree const& type_tree) {
    auto const layout = flatten(type_tree);
    bool const dense = layout->is_contiguous();
    line.field("size", dense ? type_tree.extent : layout->tile_bytes());
    line.field("extent", dense ? type_tree.extent : layout->tile_extent());
    line.field("pieces", dense ? 1 : layout->piece_count(0, layout->tile_bytes()));
}

bool is_spawned() {
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    return parent != MPI_COMM_NULL;
}

void tell(std::string const& why) {
    warn("nothing is recorded: " + why + ". The job goes on; set SLUICE_RECORD to another file");
}

}  // namespace

std::atomic<CallLog*> CallLog::active_{nullptr};

void CallLog::prepare() {
    if (settings().record.empty() || launched().rank > 0 || prepared()) return;
    PartFile part(log_kind);
    std::string why = part.open(log_path(), 0);
    if (why.empty()) why = part.clear_others();
    if (why.empty())
        prepared() = std::move(part);
    else if (launched().rank == 0)
        tell(why);
}

void CallLog::start(int rank, int ranks) {
    if (settings().record.empty() || active() || is_spawned()) return;
    PartFile part(log_kind);
    if (prepared() && rank == 0) {
        part = std::move(*prepared());
    } else if (launched().rank != 0) {
        std::string why = part.open(log_path(), rank);
        if (why.empty() && rank == 0) why = part.clear_others();
        if (!why.empty()) return tell(why);
    }
    if (!part.is_open()) return;
    auto* const made = new CallLog(std::move(part));
    made->write_head(rank, ranks);
    active_.store(made, std::memory_order_release);
    std::atexit([] {  // A program may end without MPI_Finalize.
        CallLog* const still = active();
        if (!still) return;
        std::lock_guard const lock(still->mutex_);
        still->flush(still->flushed_);
    });
}

void CallLog::stop() {
    CallLog* const ending = active_.exchange(nullptr);
    if (ending) ending->finish();  // It stays: another thread may still look at it.
}

CallLog::CallLog(PartFile part) noexcept
    : part_(std::move(part)),
      start_(clock_now()),
      flushed_(start_) {}

void CallLog::write_head(int rank, int ranks) {
    std::lock_guard const lock(mutex_);
    text_.reserve(buffer_bytes + buffer_bytes / 4);
    LineWriter line(text_);
    line.name(signature).number(version).end();
    line.name("rank").number(rank).field("ranks", ranks).field("start", wall_clock());
    line.field("node", host()).field("mpi", library_of_mpi()).field("program", program());
    line.field("cores", thread_core_count());
    line.field("sluice", settings().enabled ? SLUICE_VERSION : "off");
    for (char const* const name : {"SLUICE_HINTS", "ROMIO_HINTS", "SLUICE_WRITE_BEHIND"}) {
        char const* const value = std::getenv(name);
        if (value && *value) line.field("env." + std::string(name), value);
    }
    line.end();
    flush(start_);
}

void CallLog::flush(std::int64_t now) {
    flushed_ = now;
    if (text_.empty() || failed_) return;
    std::string const why = part_.append(text_);
    text_.clear();
    if (text_.capacity() > 4 * buffer_bytes) text_.shrink_to_fit();
    if (why.empty()) return;
    failed_ = true;
    warn("rank " + std::to_string(world_rank()) + " records no more: " + why +
             ". The job goes on; what was recorded so far can be read",
         true);
}

void CallLog::give_up() noexcept {
    if (!failed_.exchange(true))
        std::fputs("sluice: a rank records no more, as there is no memory for it\n", stderr);
}

void CallLog::finish() {
    std::lock_guard const lock(mutex_);
    std::int64_t const now = clock_now();
    LineWriter(text_).name("end").number(since_start(now)).end();
    flush(now);
    if (failed_) return;
    std::string const why = part_.move_into_file();
    if (!why.empty())
        warn("what rank " + std::to_string(world_rank()) +
                 " recorded stays in a file of its own, which is read along: " + why,
             true);
}

std::int64_t CallLog::type_number(MPI_Datatype type) {
    if (type == MPI_DATATYPE_NULL) return -1;
    return kept_number(type, [&] {
        auto const type_tree = capture(type, Representation::native);
        return type_tree ? write_type(*type_tree) : write_unknown_type(type);
    });
}

std::int64_t CallLog::write_unknown_type(MPI_Datatype type) {
    MPI_Count lower = 0, extent = 0;
    PMPI_Type_get_extent_x(type, &lower, &extent);
    LineWriter line(text_);
    line.name("type").number(types_).field("size", size_of(type)).field("extent", extent);
    line.end();
    return types_++;
}

std::int64_t CallLog::write_type(TypeTree const& type_tree) {
    auto const [begin, end] = known_types_.equal_range(type_tree.hash());
    for (auto known = begin; known != end; ++known) {
        auto const& [tree, number] = known->second;
        bool const same = tree->form == type_tree.form && *tree == type_tree;
        if (same) return number;
    }
    std::vector<std::int64_t> parts;
    for (auto const& part : type_tree.parts) parts.push_back(write_type(*part));
    LineWriter line(text_);
    line.name("type").number(types_);
    if (is_in_range(type_tree)) write_shape(line, type_tree);
    write_type_tree(line, type_tree, parts);
    line.end();
    if (kept_bytes_ > kept_bytes_most) known_types_.clear(), kept_bytes_ = 0;
    auto kept = std::make_shared<TypeTree const>(type_tree);
    kept_bytes_ += kept->bytes();
    known_types_.emplace(type_tree.hash(), std::pair(std::move(kept), types_));
    return types_++;
}

std::int64_t CallLog::group_number(MPI_Comm communicator) {
    auto world = ranks_in(MPI_COMM_WORLD, communicator);
    for (std::size_t i = 0; i < groups_.size(); ++i)
        if (groups_[i] == world) return static_cast<std::int64_t>(i);
    LineWriter line(text_);
    line.name("group").number(std::ssize(groups_)).list("ranks", std::span<int const>(world));
    line.end();
    groups_.push_back(std::move(world));
    return std::ssize(groups_) - 1;
}

std::int64_t CallLog::file_of(MPI_File handle) {
    auto const found = open_.find(handle);
    return found == open_.end() ? -1 : found->second;
}

std::int64_t CallLog::add_file(MPI_File handle) { return open_[handle] = files_++; }

void CallLog::forget_file(MPI_File handle) { open_.erase(handle); }

std::int64_t CallLog::add_request(MPI_Request request) {
    live_[request] = {.number = requests_made_};
    live_requests_.store(std::ssize(live_), std::memory_order_relaxed);
    return requests_made_++;
}

std::vector<CallLog::Live> CallLog::find_requests(int count, MPI_Request const* requests) {
    std::vector<Live> found;
    std::lock_guard const lock(mutex_);
    for (int i = 0; i < count; ++i) {
        if (requests[i] == MPI_REQUEST_NULL) continue;
        auto const one = live_.find(requests[i]);
        if (one != live_.end()) found.push_back({i, requests[i], one->second.number});
    }
    return found;
}

void CallLog::count_tests(std::vector<Live> const& tried) {
    std::lock_guard const lock(mutex_);
    for (Live const& one : tried) {
        auto const found = live_.find(one.request);
        if (found != live_.end()) ++found->second.tests;
    }
}

std::int64_t CallLog::forget_request(Live const& completed) {
    auto const found = live_.find(completed.request);
    if (found == live_.end() || found->second.number != completed.number) return 0;
    std::int64_t const tests = found->second.tests;
    live_.erase(found);
    live_requests_.store(std::ssize(live_), std::memory_order_relaxed);
    return tests;
}

}  // namespace sluice::record
