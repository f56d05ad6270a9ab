// How records lie in a journal: a page of slots, each the place of a record or 0, and behind it the
// records: a head, the path, the runs of the file's layout, and the data. See journal.hpp.
#include "storage/journal.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

constexpr std::size_t slot_count = 4096;
constexpr Bytes slots_bytes = slot_count * sizeof(std::uint64_t);
constexpr Bytes unit = 64;
constexpr std::uint64_t mark = 0x31304a6563756c53;  ///< Of a record's head.

struct Head {
    std::uint64_t mark, number, device, inode;
    Offset displacement;
    Bytes tile_extent, position, bytes;
    std::uint64_t path_bytes, run_count;
};

std::vector<Run> runs_of(Layout const& layout) {
    if (layout.is_contiguous()) return {};
    std::vector<Run> runs;
    layout.for_each_run([&](Run const& run) { runs.push_back(run); });
    return runs;
}

Bytes up(Bytes bytes) noexcept { return (bytes + unit - 1) / unit * unit; }

Bytes head_bytes(std::size_t path_bytes, std::size_t runs) noexcept {
    return up(static_cast<Bytes>(sizeof(Head) + path_bytes + runs * sizeof(Run)));
}

/// The head of a record that lies within the journal, as it says.
std::optional<Head> head_at(std::span<std::byte const> journal, std::uint64_t at) {
    Head head{};
    if (at < slots_bytes || at % unit != 0 || at > journal.size() - sizeof head)
        return std::nullopt;
    std::memcpy(&head, journal.data() + at, sizeof head);
    std::uint64_t const left = journal.size() - at;
    bool const fits =
        head.mark == mark && head.bytes >= 0 && head.path_bytes < left &&
        head.run_count < left / sizeof(Run) && static_cast<std::uint64_t>(head.bytes) < left &&
        static_cast<std::uint64_t>(head_bytes(head.path_bytes, head.run_count) + head.bytes) <=
            left;
    return fits ? std::optional(head) : std::nullopt;
}

std::shared_ptr<Layout const> layout_of(std::byte const* runs, Head const& head) {
    if (head.run_count == 0) return Layout::contiguous();
    std::vector<Run> all(head.run_count);
    std::memcpy(all.data(), runs, all.size() * sizeof(Run));
    return std::make_shared<Layout const>(all, head.tile_extent);
}

JournalRecord record_at(std::span<std::byte> journal, std::uint64_t at, Head const& head) {
    std::byte* const path = journal.data() + at + sizeof head;
    JournalRecord record;
    record.file.path.assign(reinterpret_cast<char const*>(path), head.path_bytes);
    record.file.identity = {head.device, head.inode};
    record.request.view.displacement = head.displacement;
    record.request.view.filetype = layout_of(path + head.path_bytes, head);
    record.request.position = head.position;
    record.request.bytes = head.bytes;
    record.data = journal.data() + at + head_bytes(head.path_bytes, head.run_count);
    record.number = head.number;
    return record;
}

std::atomic<std::uint64_t>& slot_in(std::byte* journal, std::size_t number) noexcept {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(journal)[number];
}

}  // namespace

Journal::Entry::Entry(std::shared_ptr<Journal> journal, BoundedMemory::Part part, std::size_t slot,
                      Bytes head_bytes) noexcept
    : journal_(std::move(journal)),
      part_(std::move(part)),
      slot_(slot),
      head_bytes_(head_bytes) {}

void Journal::Entry::commit() noexcept {
    auto const place = static_cast<std::uint64_t>(part_.data - journal_->memory_->data());
    journal_->slot(slot_).store(static_cast<std::uint64_t>(slots_bytes) + place,
                                std::memory_order_release);
}

Journal::Entry::~Entry() {
    journal_->slot(slot_).store(0, std::memory_order_release);
    std::lock_guard const lock(journal_->mutex_);
    journal_->free_slots_.push_back(slot_);
}

std::shared_ptr<Journal> Journal::create(int fd, Bytes bytes) {
    auto slots = Mapping::of(fd, {0, slots_bytes});
    if (bytes <= slots_bytes || !slots || !slots->open({0, slots_bytes})) return nullptr;
    auto memory = BoundedMemory::create(fd, {slots_bytes, bytes});
    if (!memory) return nullptr;
    return std::shared_ptr<Journal>(new Journal(std::move(*slots), std::move(memory)));
}

Journal::Journal(Mapping slots, std::shared_ptr<BoundedMemory> memory) noexcept
    : slots_(std::move(slots)),
      memory_(std::move(memory)) {
    for (std::size_t i = slot_count; i-- > 0;) free_slots_.push_back(i);
}

std::atomic<std::uint64_t>& Journal::slot(std::size_t number) const noexcept {
    return slot_in(slots_.data(), number);
}

std::optional<std::size_t> Journal::take_slot() {
    std::lock_guard const lock(mutex_);
    if (free_slots_.empty()) return std::nullopt;
    std::size_t const last = free_slots_.back();
    free_slots_.pop_back();
    return last;
}

/// A list of pieces that is half as long as the bytes themselves is too dear.
bool Journal::could_take(Request const& request, JournaledFile const& file) const {
    std::size_t runs = 0;
    if (!request.view.filetype->is_contiguous())
        request.view.filetype->for_each_run([&](Run const&) { ++runs; });
    Bytes const head = head_bytes(file.path.size(), runs);
    return head <= 4096 + request.bytes / 2 && head + request.bytes <= memory_->bytes();
}

std::unique_ptr<Journal::Entry> Journal::take(Request const& request, JournaledFile const& file) {
    auto const runs = runs_of(*request.view.filetype);
    Bytes const bytes = head_bytes(file.path.size(), runs.size());
    auto part = memory_->take(bytes + request.bytes);
    if (!part) return nullptr;
    auto const slot = take_slot();
    if (!slot) return nullptr;
    std::uint64_t number = 0;
    {
        std::lock_guard const lock(mutex_);
        number = next_number_++;
    }
    Head const head{mark,
                    number,
                    file.identity.device,
                    file.identity.inode,
                    request.view.displacement,
                    request.view.filetype->tile_extent(),
                    request.position,
                    request.bytes,
                    file.path.size(),
                    runs.size()};
    std::byte* const at = part->data;
    std::memcpy(at, &head, sizeof head);
    std::memcpy(at + sizeof head, file.path.data(), file.path.size());
    if (!runs.empty())
        std::memcpy(at + sizeof head + file.path.size(), runs.data(), runs.size() * sizeof(Run));
    return std::make_unique<Entry>(shared_from_this(), std::move(*part), *slot, bytes);
}

Bytes journal_bytes_for(Bytes bytes) noexcept { return slots_bytes + up(bytes); }

std::vector<JournalRecord> records_of(std::span<std::byte> journal) {
    std::vector<JournalRecord> records;
    if (journal.size() <= static_cast<std::size_t>(slots_bytes)) return records;
    for (std::size_t i = 0; i < slot_count; ++i) {
        std::uint64_t const at = slot_in(journal.data(), i).load(std::memory_order_acquire);
        auto const head = at == 0 ? std::nullopt : head_at(journal, at);
        if (!head) continue;
        records.push_back(record_at(journal, at, *head));
        records.back().slot = i;
    }
    std::ranges::sort(records, {}, &JournalRecord::number);
    return records;
}

void clear(std::span<std::byte> journal, std::size_t slot) noexcept {
    slot_in(journal.data(), slot).store(0, std::memory_order_release);
}

}  // namespace sluice
