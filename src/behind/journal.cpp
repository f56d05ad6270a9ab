// Each step that a crash may end leaves a journal that says no more and no less than what was
// acknowledged and is not yet safe elsewhere. See journal.hpp.
#include "behind/journal.hpp"

#include "behind/journal_claim.hpp"
#include "behind/journal_peers.hpp"

#include <algorithm>
#include <unistd.h>

namespace sluice {
namespace {

Bytes bytes_of(Request const& request, JournaledFile const& file, std::size_t runs) noexcept {
    return record_head_bytes(file.path.size(), runs) + request.bytes;
}

std::size_t count_of_runs(Request const& request) {
    std::size_t runs = 0;
    if (!request.view.filetype->is_contiguous())
        request.view.filetype->for_each_run([&](Run const&) { ++runs; });
    return runs;
}

}  // namespace

Journal::Entry::Entry(std::shared_ptr<Journal> journal, std::uint64_t number, std::byte* at,
                      Bytes head_bytes) noexcept
    : journal_(std::move(journal)),
      number_(number),
      at_(at),
      head_bytes_(head_bytes) {}

Error Journal::Entry::commit() { return journal_->commit(number_); }
Journal::Entry::~Entry() { journal_->end(number_); }

void Journal::Entry::keep(std::shared_ptr<void> hold) {
    std::lock_guard const lock(journal_->mutex_);
    journal_->items_.at(number_).holds.push_back(std::move(hold));
}

std::shared_ptr<Journal> Journal::create(int fd, Bytes bytes, JournalEffects effects) {
    auto front = Mapping::of(fd, {0, journal_records});
    if (bytes <= journal_records || !front || !front->open({0, journal_records})) return nullptr;
    std::span const all(front->data(), static_cast<std::size_t>(bytes));
    bool const is_new = reinterpret_cast<JournalHeader const*>(front->data())->mark == 0;
    if (is_new) format_journal(all, {}, effects.sync != nullptr);
    if (!header_of(all)) return nullptr;
    auto memory = BoundedMemory::create(fd, {journal_records, bytes});
    if (!memory) return nullptr;
    return std::shared_ptr<Journal>(
        new Journal(fd, std::move(*front), std::move(memory), std::move(effects)));
}

Journal::Journal(int fd, Mapping front, std::shared_ptr<BoundedMemory> memory,
                 JournalEffects effects)
    : fd_(fd),
      front_(std::move(front)),
      memory_(std::move(memory)),
      effects_(std::move(effects)) {
    for (std::size_t i = journal_slots; i-- > 0;) free_slots_.push_back(i);
    next_number_ = std::max<std::uint64_t>(1, header().void_below);
    std::atomic_ref(header().goes_on).store(0);  // Another process may have had the journal.
    peers_written_ = std::atomic_ref(header().peers_written).load();
}

std::atomic<std::uint64_t>& Journal::slot(std::size_t number) const noexcept {
    return journal_slot(front_.data(), number);
}

JournalHeader& Journal::header() const noexcept {
    return *reinterpret_cast<JournalHeader*>(front_.data());
}

/// A list of pieces that is half as long as the bytes themselves is too dear.
bool Journal::could_take(Request const& request, JournaledFile const& file) const {
    Bytes const all = bytes_of(request, file, count_of_runs(request));
    return all - request.bytes <= 4096 + request.bytes / 2 && all <= memory_->bytes() && !failure();
}

std::unique_ptr<Journal::Entry> Journal::take(Request const& request, JournaledFile const& file,
                                              Span reach, NumberedCall const& call) {
    Bytes const all = bytes_of(request, file, count_of_runs(request));
    auto part = memory_->take(all);
    if (!part) return nullptr;
    std::byte* const at = part->data;
    std::uint64_t number = 0;
    {
        std::lock_guard const lock(mutex_);
        if (free_slots_.empty() || failure_) return nullptr;
        number = next_number_++;
        items_[number] = {std::move(*part), all, free_slots_.back(), file, reach, {}, false};
        free_slots_.pop_back();
        used_ += all;
    }
    write_record_head(at, request, file, number, call);
    return std::make_unique<Entry>(shared_from_this(), number, at, all - request.bytes);
}

/// The slot and the record may reach the device in any order: a record that is not there completely
/// has a wrong checksum. A record whose end is not known to be there is withdrawn, and nothing is
/// taken any more.
Error Journal::commit(std::uint64_t number) {
    std::byte* at = nullptr;
    std::size_t place = 0;
    std::int64_t stamp = 0;
    {
        std::lock_guard const lock(mutex_);
        Item const& item = items_.at(number);
        at = item.part.data;
        place = item.slot;
        if (is_durable()) stamp = last_stamp_ = std::max(effects_.clock(), last_stamp_ + 1);
    }
    if (is_durable()) seal_record(at, stamp);
    slot(place).store(static_cast<std::uint64_t>(journal_records + (at - memory_->all().data())),
                      std::memory_order_release);
    if (!is_durable()) return {};
    Error const error = effects_.sync();
    if (error) slot(place).store(0, std::memory_order_release);
    note(error);
    return error;
}

/// In memory the record ends here.
void Journal::end(std::uint64_t number) {
    {
        std::lock_guard const lock(mutex_);
        items_.at(number).is_in_file = true;
        if (is_durable() && !files_failed_) return;
    }
    if (is_durable())
        let_go();
    else
        remove([=](std::uint64_t other, Item const&) { return other == number; });
}

/// Slots are free again only when nothing names them any more. Nothing that was kept is destroyed
/// under the lock. False: there was none.
bool Journal::remove(std::function<bool(std::uint64_t, Item const&)> const& which) {
    std::vector<Item> ended;
    std::lock_guard const lock(mutex_);
    for (auto item = items_.begin(); item != items_.end();) {
        bool const ends = which(item->first, item->second);
        if (ends) ended.push_back(std::move(item->second));
        item = ends ? items_.erase(item) : std::next(item);
    }
    for (Item const& item : ended) {
        slot(item.slot).store(0, std::memory_order_release);
        free_slots_.push_back(item.slot);
        used_ -= item.bytes;
    }
    return !ended.empty();
}

/// Other ranks wait for what records keep. Where nothing is voided any more, they wait no longer
/// than for the bytes to be in the file.
void Journal::let_go() {
    std::vector<std::shared_ptr<void>> holds;
    std::lock_guard const lock(mutex_);
    for (auto& [number, item] : items_) {
        if (!item.is_in_file) continue;
        holds.insert(holds.end(), item.holds.begin(), item.holds.end());
        item.holds.clear();
    }
}

std::uint64_t Journal::first_under_way() const {
    auto const found =
        std::ranges::find_if(items_, [](auto const& item) { return !item.second.is_in_file; });
    return found == items_.end() ? next_number_ : found->first;
}

/// Each file once.
std::vector<JournaledFile> Journal::files_below(std::uint64_t number) const {
    std::vector<JournaledFile> files;
    for (auto item = items_.begin(); item != items_.end() && item->first < number; ++item) {
        JournaledFile const& file = item->second.file;
        bool const is_new = std::ranges::none_of(
            files, [&](JournaledFile const& other) { return other.identity == file.identity; });
        if (is_new) files.push_back(file);
    }
    return files;
}

Error Journal::checkpoint() {
    std::lock_guard const one(checkpoint_mutex_);
    std::uint64_t limit = 0;
    std::vector<JournaledFile> files;
    {
        std::lock_guard const lock(mutex_);
        if (files_failed_) return failure_;
        limit = first_under_way();
        files = files_below(limit);
    }
    if (files.empty()) return {};
    for (JournaledFile const& file : files) {
        if (Error const error = file.sync()) return give_up(error);
    }
    return void_below(limit);
}

/// The room is used again only when the journal's device knows that the records are void: else a
/// crash could leave half of a new record in the place of one that counts. Where the device fails,
/// nothing is taken any more, so no room is used.
Error Journal::void_below(std::uint64_t number) {
    store_void_below(header(), number);
    Error const error = effects_.sync();
    note(error);
    remove([=](std::uint64_t other, Item const&) { return other < number; });
    return error;
}

/// What the system could not write it may have dropped: a later success would say nothing.
Error Journal::give_up(Error const& error) {
    note(error);
    {
        std::lock_guard const lock(mutex_);
        files_failed_ = true;
        untold_ = files_below(next_number_);
    }
    let_go();
    return error;
}

void Journal::withdraw(FileIdentity const& file, Span reach, std::uint64_t below) {
    bool const any = remove([&](std::uint64_t number, Item const& item) {
        return number < below && item.is_in_file && item.is_of(file, reach);
    });
    if (any) note(effects_.sync());
}

std::uint64_t Journal::next_number() const {
    std::lock_guard const lock(mutex_);
    return next_number_;
}

void Journal::note(Error const& error) {
    std::lock_guard const lock(mutex_);
    failure_ = first_of(failure_, error);
}

bool Journal::holds(FileIdentity const& file, Span reach, std::uint64_t below) const {
    std::lock_guard const lock(mutex_);
    return std::ranges::any_of(items_, [&](auto const& item) {
        return item.first < below && item.second.is_of(file, reach);
    });
}

bool Journal::is_due() const {
    std::lock_guard const lock(mutex_);
    return !files_failed_ && !items_.empty() && items_.begin()->second.is_in_file;
}

bool Journal::is_empty() const {
    std::lock_guard const lock(mutex_);
    return items_.empty();
}

Bytes Journal::used() const {
    std::lock_guard const lock(mutex_);
    return used_;
}

JournalPeer Journal::as_peer() const noexcept {
    return {header().keeper, static_cast<std::int32_t>(getpid()), fd_};
}

void Journal::introduce(std::span<JournalPeer const> peers) {
    std::lock_guard const lock(mutex_);
    store_journal_peers({front_.data(), static_cast<std::size_t>(journal_records)}, peers);
}

std::vector<JournalPeer> Journal::peers() const {
    return journal_peers({front_.data(), static_cast<std::size_t>(journal_records)});
}

void Journal::await_keepers_of_the_dead() {
    auto const all = peers();
    if (all.empty()) return;
    std::atomic_ref(header().goes_on).store(1);
    await_keepers(all);
}

bool Journal::goes_on() const noexcept { return std::atomic_ref(header().goes_on).load() != 0; }

std::optional<std::size_t> Journal::begin_calls(std::uint64_t opening) {
    return completed().begin(opening);
}

void Journal::end_calls(std::size_t place) { completed().end(place); }

/// The keeper of a rank that has ended counts up before it looks which calls are complete, and here
/// it is the other way round: either it sees this call, or it is seen here.
void Journal::note_complete(std::size_t place, std::int64_t call) {
    completed().note(place, call);
    std::uint32_t const written = std::atomic_ref(header().peers_written).load();
    if (written == peers_written_) return;
    await_keepers_of_the_dead();
    peers_written_ = written;
}

CompletedCalls Journal::completed() const noexcept {
    return completed_calls({front_.data(), static_cast<std::size_t>(journal_records)});
}

void Journal::note_active() noexcept { store_active(header(), effects_.clock()); }

Error Journal::failure() const {
    std::lock_guard const lock(mutex_);
    return failure_;
}

bool Journal::take_untold(FileIdentity const& file) {
    std::lock_guard const lock(mutex_);
    return std::erase_if(untold_, [&](auto const& one) { return one.identity == file; }) > 0;
}

bool Journal::has_given_up() const {
    std::lock_guard const lock(mutex_);
    return files_failed_;
}

void Journal::release() {
    if (is_empty()) release_journal(header());
}

}  // namespace sluice
