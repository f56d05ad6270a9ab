// When a write may be delayed, and how independent ones are. See write_behind.hpp.
#include "mpi/file/write_behind.hpp"

#include "base/copy.hpp"
#include "file/plan/overlap.hpp"
#include "mpi/environment.hpp"
#include "mpi/file/storages.hpp"
#include "mpi/progress/progress.hpp"
#include "system/launcher.hpp"

#include <algorithm>
#include <sys/stat.h>

namespace sluice {
namespace {

/// Storage that takes bytes this fast is a page cache: a copy would cost as much as it hides.
constexpr double fast_bytes_a_second = 1 << 30;
constexpr double fast_seconds = 100e-6;  ///< For what a transfer costs whatever its length.

/// A header of some bytes says nothing of how long the data will take. An index.
std::size_t is_long(Bytes bytes) noexcept { return bytes >= (Bytes{256} << 10) ? 1 : 0; }

/// This rank's share of the memory of its node, for all files; the first file fixes it. Null where
/// the system has none.
std::shared_ptr<BoundedMemory> const& memory_of_rank(Bytes node_bytes) {
    static auto const* const only =
        new std::shared_ptr<BoundedMemory>(BoundedMemory::share_of_node(node_bytes));
    return *only;
}

/// The keeper's memory, where `sluice run` has started one; else null.
std::shared_ptr<Journal> const& journal_of_rank() {
    static auto* const only = [] {
        long const fd = number_in_environment("SLUICE_KEEPER");
        struct stat about{};
        bool const is_there = fd >= 0 && fstat(static_cast<int>(fd), &about) == 0;
        return new std::shared_ptr<Journal>(
            is_there ? Journal::create(static_cast<int>(fd), about.st_size) : nullptr);
    }();
    return *only;
}

}  // namespace

WriteBehind::WriteBehind(int fd, JournaledFile file, Rank ranks, Bytes node_bytes)
    : mark_(fd),
      file_(std::move(file)),
      ranks_(ranks),
      all_take_part_(ranks == launched_ranks()),
      node_bytes_(node_bytes) {}

/// The file system is asked again when half of what it had is used.
bool WriteBehind::has_room_in_file(StoredFile const& storage, Bytes bytes) {
    std::lock_guard const lock(mutex_);
    Bytes const of_all = bytes > endless / ranks_ ? endless : bytes * ranks_;
    if (room_ < of_all) room_ = storage.room() / 2;
    if (room_ < of_all) return false;
    room_ -= of_all;
    return true;
}

bool WriteBehind::takes_disjoint() const { return journal_of_rank() != nullptr || !all_take_part_; }

std::optional<WriteBehind::Memory> WriteBehind::take_memory(Request const& request) {
    if (auto const& journal = journal_of_rank()) {
        std::shared_ptr<Journal::Entry> entry = journal->take(request, file_);
        if (!entry) return std::nullopt;
        return Memory{entry->data(), entry, entry.get()};
    }
    auto part = memory_of_rank(node_bytes_)->take(request.bytes);
    if (!part) return std::nullopt;
    return Memory{part->data, std::move(part->hold)};
}

/// Nothing where there will never be room.
std::optional<WriteBehind::Memory> WriteBehind::wait_for_memory(Request const& request) {
    auto const& journal = journal_of_rank();
    auto const& memory = memory_of_rank(node_bytes_);
    bool const could =
        journal ? journal->could_take(request, file_) : memory && request.bytes <= memory->bytes();
    if (!could) return std::nullopt;
    auto taken = take_memory(request);
    if (taken) return taken;
    SteadyClock clock;
    double const began = clock.now();
    Progress::instance().drive(
        {.done = [&] { return taken || (taken = take_memory(request)).has_value(); }});
    std::lock_guard const lock(mutex_);
    statistics_.blocked_for_memory += clock.now() - began;
    return taken;
}

std::shared_ptr<KeptWrite> WriteBehind::take(Call& call, StoredFile& storage, bool collective) {
    Bytes const bytes = call.request.bytes;
    if (node_bytes_ <= 0 || is_fast_[is_long(collective ? bytes * ranks_ : bytes)] ||
        call.status != Status::ok || call.request.atomic)
        return nullptr;
    if (!has_room_in_file(storage, bytes) || !Progress::instance().can_help()) return nullptr;
    auto memory = wait_for_memory(call.request);
    if (!memory) return nullptr;
    auto kept = std::make_shared<KeptWrite>(std::move(memory->hold), mark_, reach_of(call.request));
    bool const is_own = !collective || ranks_ == 1;
    if (is_own && launched_ranks() != 1 && !kept->mark()) return nullptr;
    if (bytes > 0)  // Memory of nothing has no places.
        copy(Cursor(*Layout::contiguous(), 0), memory->data, Cursor(*call.request.memory, 0),
             call.user, bytes);
    if (memory->entry) memory->entry->commit();
    call.keeps = kept;
    call.user = memory->data;
    call.request.memory = Layout::contiguous();
    call.may_block = false;
    std::lock_guard const lock(mutex_);
    statistics_.writes += 1;
    statistics_.bytes += bytes;
    return kept;
}

bool WriteBehind::tell_others(Operation const& operation, KeptWrite& kept,
                              std::function<void()> const& poke) {
    if (all_take_part_ || ranks_ == 1) return true;
    bool complete = false;
    auto const told = [&] {
        complete = operation.complete();
        return complete || operation.all_have_called();
    };
    Progress::instance().drive({.done = told, .poke = poke});
    return complete || kept.mark();
}

/// A storage thread gives back memory and mark as soon as the bytes are in the file: other
/// processes may wait for that, and this rank's next call may be far off.
void WriteBehind::start(std::shared_ptr<IndependentWrite> const& write, StoredFile& storage) {
    {
        std::lock_guard const lock(mutex_);
        independent_.push_back(write);
    }
    storage_threads().submit([write, &storage] {
        storage.run(write->transfer);
        write->call.keeps.reset();
        write->done.store(true, std::memory_order_release);
        Progress::instance().ring();
    });
}

void WriteBehind::wait_for_independent(Span reach) {
    std::vector<std::shared_ptr<IndependentWrite>> touching;
    {
        std::lock_guard const lock(mutex_);
        for (auto const& write : independent_) {
            if (!clip(reach_of(write->call.request), reach).empty()) touching.push_back(write);
        }
    }
    for (auto const& write : touching) {
        Progress::instance().drive({.done = [&] { return write->done.load(); }});
    }
}

std::vector<std::shared_ptr<IndependentWrite>> WriteBehind::take_ended() {
    std::lock_guard const lock(mutex_);
    auto const under_way = std::ranges::stable_partition(
        independent_, [](auto const& write) { return write->done.load(); });
    std::vector<std::shared_ptr<IndependentWrite>> ended(independent_.begin(), under_way.begin());
    independent_.erase(independent_.begin(), under_way.begin());
    return ended;
}

void WriteBehind::wait_for_others(Span reach, std::function<void()> const& poke) {
    if (reach.empty() || launched_ranks() == 1 || !mark_.is_held_by_others(reach)) return;
    Progress::instance().drive({.mpi_done = [&] { return !mark_.is_held_by_others(reach); },
                                .mpi_often = true,
                                .poke = poke});
}

void WriteBehind::note_speed(Bytes bytes, double seconds) noexcept {
    if (bytes <= 0) return;
    is_fast_[is_long(bytes)] =
        !settings().always_behind &&
        seconds < fast_seconds + static_cast<double>(bytes) / fast_bytes_a_second;
}

/// The exchange and the agreement, which waits for the slowest rank, tell how long all ranks' bytes
/// took; where they went straight before, their transfers do.
void WriteBehind::note_speed(Operation const& operation) noexcept {
    Tally const& tally = operation.tally();
    Summary const& all = operation.summary_exchange();
    note_speed(all.bytes + all.independent.bytes,
               std::max(tally.exchange + tally.agreement, tally.transfers));
}

BehindStatistics WriteBehind::statistics() const {
    std::lock_guard const lock(mutex_);
    return statistics_;
}

}  // namespace sluice
