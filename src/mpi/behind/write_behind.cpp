// When a write may be delayed, and how independent ones are. See write_behind.hpp.
#include "mpi/behind/write_behind.hpp"

#include "file/plan/overlap.hpp"
#include "file/run/user_copies.hpp"
#include "mpi/behind/keepers.hpp"
#include "mpi/behind/rank_journal.hpp"
#include "mpi/errors.hpp"
#include "mpi/file/storages.hpp"
#include "mpi/progress/progress.hpp"
#include "system/launcher.hpp"
#include "system/log.hpp"
#include "system/mapping.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

/// This rank's share of the memory of its node, for all files; the first file fixes it. Null where
/// the system has none.
std::shared_ptr<BoundedMemory> const& memory_of_writes(Bytes rank_bytes) {
    static auto const* const only =
        new std::shared_ptr<BoundedMemory>(BoundedMemory::create(rank_bytes));
    return *only;
}

/// A mark that other ranks see, until the last who keeps it is gone. A checkpoint may outlive the
/// file for a moment.
std::shared_ptr<void> hold_mark(std::shared_ptr<UnfinishedMarks> const& marks, Span range) {
    return {marks.get(), [marks, range](UnfinishedMarks* held) { held->release(range); }};
}

/// Where a copy would end the process by a signal the call writes by itself, and the system gives
/// the error. Of memory with holes it is not known which pages the program means.
bool is_readable(Call const& call) noexcept {
    Request const& request = call.request;
    return request.bytes == 0 || call.user.device || !request.memory->is_contiguous() ||
           can_be_read(call.user.data, static_cast<std::size_t>(request.bytes));
}

}  // namespace

WriteBehind::WriteBehind(DelayedFile const& file)
    : file_(file),
      ranks_(file.team->topology->rank_count()),
      all_take_part_(ranks_ == launched().ranks),
      is_alone_(launched().ranks == 1),
      speed_(file.rules.rank_bytes > 0 ? file.fd : -1, file.rules.speed),
      long_(std::make_shared<std::atomic<int>>(0)),
      independent_([this](IndependentWrite& write) { run(write); }) {}

/// The file system is asked again when half of what it had is used.
bool WriteBehind::has_room_in_file(Bytes bytes) {
    std::lock_guard const lock(mutex_);
    Bytes const of_all = bytes > endless / ranks_ ? endless : bytes * ranks_;
    if (room_ < of_all) room_ = file_.storage->room() / 2;
    if (room_ < of_all) return false;
    room_ -= of_all;
    return true;
}

Bytes WriteBehind::of_all_ranks(Request const& request, bool collective) const noexcept {
    return collective ? request.bytes * ranks_ : request.bytes;
}

/// Counts a delayed write, if it is long, until what comes back is released.
std::shared_ptr<void> WriteBehind::count(Bytes of_all) const {
    if (!StorageSpeed::is_long(of_all)) return nullptr;
    ++*long_;
    return {long_.get(), [kept = long_](std::atomic<int>* held) { --*held; }};
}

bool WriteBehind::takes_disjoint() const {
    return file_.rules.rank_bytes > 0 && !file_.rules.order &&
           (journal_of_rank(file_.rules.rank_bytes) != nullptr || !all_take_part_);
}

NumberedCall WriteBehind::call_of(bool collective) const noexcept {
    if (!collective || !file_.rules.order) return {};
    return file_.rules.order->call(static_cast<std::int64_t>(collective_calls_) + 1);
}

void WriteBehind::number(Call& call) const {
    if (!file_.rules.order) return;
    // A pointer: so the function has no memory of its own. The file outlives its operations.
    call.note_agreed = [order = file_.rules.order.get(), number = call_of(true).number] {
        order->note_complete(number);
    };
}

std::optional<WriteBehind::Memory> WriteBehind::take_memory(Request const& request,
                                                            bool collective) {
    if (auto const& journal = journal_of_rank(file_.rules.rank_bytes)) {
        std::shared_ptr<Journal::Entry> entry =
            journal->take(request, file_.journaled, reach_of(request), call_of(collective));
        if (!entry) {
            ask_for_checkpoint();
            return std::nullopt;
        }
        return Memory{entry->data(), entry, entry->all(), entry.get()};
    }
    auto const& memory = memory_of_writes(file_.rules.rank_bytes);
    auto part = memory->take(request.bytes);
    if (!part) return std::nullopt;
    return Memory{part->data, std::move(part->hold), memory->all()};
}

/// Nothing where there will never be room.
std::optional<WriteBehind::Memory> WriteBehind::wait_for_memory(Request const& request,
                                                                bool collective) {
    auto const& journal = journal_of_rank(file_.rules.rank_bytes);
    auto const could = [&] {
        if (journal) return journal->could_take(request, file_.journaled);
        auto const& memory = memory_of_writes(file_.rules.rank_bytes);
        return delays_without_journal() && memory && request.bytes <= memory->bytes();
    };
    if (!could()) return std::nullopt;
    auto taken = take_memory(request, collective);
    if (taken) return taken;
    SteadyClock clock;
    double const began = clock.now();
    auto const over = [&] {
        return taken || (taken = take_memory(request, collective)).has_value() ||
               (journal && journal->failure());
    };
    Progress::instance().drive(
        {.done = over, .poke = [&] { file_.team->poke(); }, .reason = TraceWait::memory});
    std::lock_guard const lock(mutex_);
    statistics_.blocked_for_memory += clock.now() - began;
    return taken;
}

/// All ranks that take part in a collective write know of it; the others are told when all of these
/// have called. Nobody can know when a journal is done with it.
Span WriteBehind::mark_of(Request const& request, bool collective) const {
    if (is_alone_) return {};
    if (!collective || ranks_ == 1) return reach_of(request);
    bool const marks = wants_durable_journal() && request.bytes > 0;
    return marks ? mark_of_call(collective_calls_) : Span{};
}

Span WriteBehind::mark_of_call(std::uint64_t number) const noexcept {
    constexpr int number_bits = 20, opening_bits = 40;
    auto const part = [](std::uint64_t value, int bits) {
        return static_cast<Offset>(value & ((std::uint64_t{1} << bits) - 1));
    };
    Offset const at = UnfinishedMarks::of_calls +
                      (part(file_.opening, opening_bits) << number_bits) +
                      part(number, number_bits);
    return {at, at + 1};
}

std::shared_ptr<UnfinishedMarks> const& WriteBehind::marks() {
    std::call_once(marks_wanted_, [this] {
        marks_ =
            std::make_shared<UnfinishedMarks>(marks_of_node(), file_.fd, file_.journaled.identity);
    });
    return marks_;
}

/// False where others cannot be told.
bool WriteBehind::hold(Span range, std::shared_ptr<void>& mark) {
    if (range.empty()) return true;
    if (!marks()->hold(range)) return false;
    mark = hold_mark(marks(), range);
    return true;
}

std::shared_ptr<void> WriteBehind::handed() {
    int const in_file = marks()->descriptor_of_file();
    std::lock_guard const lock(mutex_);
    bool const has_all = in_file < 0 || marks_are_handed_;
    if (handed_ && has_all) return handed_;
    handed_ = hand_over(file_.journaled.identity, file_.fd, in_file);
    marks_are_handed_ = handed_ && in_file >= 0;
    return handed_;
}

/// The write may outlive this process. Without that it is the call's own.
bool WriteBehind::secure(Memory const& memory, KeptWrite& kept) {
    if (!memory.entry) return true;
    auto keeper_has_file = handed();
    if (Error const error = memory.entry->commit()) {
        log_error(file_.journaled.path + ": delaying a write; none is delayed any more", error);
        return false;
    }
    if (!memory.entry->is_durable()) return true;
    memory.entry->keep(std::move(kept.mark));
    memory.entry->keep(std::move(keeper_has_file));
    return true;
}

/// Ranks that have no part in a collective write cannot know when a journal is done with it. A
/// journal in a folder is wanted for what it outlives, not for speed.
bool WriteBehind::may_take(Call const& call, bool collective) const noexcept {
    bool const durable = wants_durable_journal();
    bool const told = !collective || ranks_ == 1 || all_take_part_ || !durable;
    Bytes const of_all = of_all_ranks(call.request, collective);
    return file_.rules.rank_bytes > 0 && told && call.status == Status::ok &&
           !call.request.atomic && (durable || speed_.pays_to_delay(of_all, *long_ > 0));
}

std::shared_ptr<KeptWrite> WriteBehind::take(Call& call, bool collective) {
    Bytes const bytes = call.request.bytes;
    if (bytes == 0 && !collective) return nullptr;  // Nothing of it could be waited for.
    if (!may_take(call, collective) || !is_readable(call) || !has_room_in_file(bytes) ||
        !Progress::instance().can_help())
        return nullptr;
    auto memory = bytes > 0 ? wait_for_memory(call.request, collective) : Memory();
    if (!memory) return nullptr;
    auto kept = std::make_shared<KeptWrite>();
    kept->reach = reach_of(call.request);
    kept->counted = count(of_all_ranks(call.request, collective));
    if (!hold(mark_of(call.request, collective), kept->mark)) return nullptr;
    if (bytes > 0) {  // Memory of nothing has no places.
        TracedCopy const traced(bytes);
        // Where a device fails the call meets the same by itself.
        if (copy_user(call.user, Direction::write, *call.request.memory, memory->data, bytes,
                      memory->all))
            return nullptr;
    }
    if (!secure(*memory, *kept)) return nullptr;
    kept->memory = std::move(memory->hold);
    kept->traced.begin(bytes);
    call.keeps = kept;
    expect_checkpoint();
    call.user = memory->data;
    call.request.memory = Layout::contiguous();
    call.may_block = false;
    std::lock_guard const lock(mutex_);
    statistics_.writes += 1;
    statistics_.bytes += bytes;
    return kept;
}

/// Where not all ranks know of it; or where a keeper may write the bytes at any time, as it does
/// not know which calls others know to be complete. Between nodes marks would be locks of the file
/// for each call, which cost more than most writes.
bool WriteBehind::tells_collective() const {
    if (ranks_ == 1) return false;
    if (!all_take_part_) return true;
    bool const one_node = file_.team->topology->node_count() == 1;
    return one_node && !file_.rules.order && !wants_durable_journal() &&
           journal_of_rank(file_.rules.rank_bytes);
}

bool WriteBehind::tell_others(Operation const& operation, KeptWrite& kept) {
    if (!tells_collective()) return true;
    bool complete = false;
    auto const told = [&] {
        complete = operation.complete();
        return complete || operation.all_have_called();
    };
    Progress::instance().drive({.done = told, .poke = [&] { file_.team->poke(); }});
    return complete || hold(kept.reach, kept.mark);
}

/// A storage thread logs an error as soon as it is met: this rank's next call may be far off. How
/// long it took is noted, or one slow write would have all later ones delayed, however fast the
/// storage is again.
void WriteBehind::run(IndependentWrite& write) {
    SteadyClock clock;
    double const began = clock.now();
    run_transfer(write.transfer, [&] { file_.storage->run(write.transfer); });
    if (!write.transfer.error) note_speed(write.transfer.bytes, clock.now() - began);
    if (write.transfer.error)
        log_error(file_.journaled.path + ": independent write", write.transfer.error);
}

void WriteBehind::wait_for_others(Span reach) {
    if (reach.empty() || is_alone_) return;
    Delayed::wait_for_marks(*marks(), reach, [&] { file_.team->poke(); });
}

void WriteBehind::note_collective(std::shared_ptr<Operation> const& operation,
                                  std::uint64_t record) {
    std::uint64_t const number = collective_calls_++;
    if (!wants_durable_journal()) return;
    withdraw_overwritten();
    forget_void_calls();
    std::lock_guard const lock(mutex_);
    noted_.push_back({number, operation, record});
}

/// As long as the journal had not given up, the writers waited until its records were void.
void WriteBehind::withdraw_overwritten() const {
    std::lock_guard const lock(mutex_);
    for (auto const& [number, operation, record] : noted_) {
        if (operation->complete())
            sluice::withdraw_overwritten(file_.journaled.identity,
                                         operation->summary_exchange().reach, record);
    }
}

/// In the order of the calls: the others stay until those before them go.
void WriteBehind::forget_void_calls() {
    std::lock_guard const lock(mutex_);
    for (int most = 2; most > 0 && !noted_.empty(); --most) {
        NotedCall const& first = noted_.front();
        if (!first.operation->complete() || marks()->is_held_by_others(mark_of_call(first.number)))
            return;
        noted_.pop_front();
    }
}

/// A rank marks its part before it takes part. So where the operation is complete, all marks are
/// there that will be.
void WriteBehind::wait_until_void_on_others(Span reach) {
    std::deque<NotedCall> calls;
    {
        std::lock_guard const lock(mutex_);
        calls = noted_;
    }
    for (NotedCall const& call : calls) {
        auto const& operation = call.operation;
        Progress::instance().drive({.done = [&] { return !operation->may_touch(reach); },
                                    .poke = [&] { file_.team->poke(); }});
        bool const touches =
            operation->complete() && !clip(operation->summary_exchange().reach, reach).empty();
        if (touches) wait_for_others(mark_of_call(call.number));
    }
}

void WriteBehind::note_speed(Bytes bytes, double seconds) noexcept { speed_.note(bytes, seconds); }

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
