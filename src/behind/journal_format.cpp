// Nothing that is read is believed: a journal may be any file, and a record may be torn. See
// journal_format.hpp.
#include "behind/journal_format.hpp"

#include "base/crc32c.hpp"
#include "base/round_up.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace sluice {
namespace {

constexpr std::uint64_t header_mark = 0x32306c6a63756c53;
constexpr std::uint64_t record_mark = 0x32304a6563756c53;
constexpr std::uint32_t format_version = 4;

Bytes head_bytes(RecordHead const& head) noexcept {
    return record_head_bytes(head.path_bytes, head.run_count);
}

/// The head of a record that lies within the journal, as it says.
std::optional<RecordHead> head_at(std::span<std::byte const> journal, std::uint64_t at) {
    RecordHead head{};
    if (at < journal_records || at % journal_unit != 0 || journal.size() < sizeof head ||
        at > journal.size() - sizeof head)
        return std::nullopt;
    std::memcpy(&head, journal.data() + at, sizeof head);
    std::uint64_t const left = journal.size() - at;
    bool const fits = head.mark == record_mark && head.bytes >= 0 && head.path_bytes < left &&
                      head.run_count < left / sizeof(Run) &&
                      static_cast<std::uint64_t>(head.bytes) < left &&
                      static_cast<std::uint64_t>(head_bytes(head) + head.bytes) <= left;
    return fits ? std::optional(head) : std::nullopt;
}

/// Of head, path, runs and data, as if the head had no checksum yet.
std::uint32_t checksum_of(std::byte const* at, RecordHead head) noexcept {
    head.checksum = 0;
    std::uint32_t const first = crc32c(std::as_bytes(std::span(&head, 1)));
    auto const all = static_cast<std::size_t>(head_bytes(head) + head.bytes);
    return crc32c({at + sizeof head, all - sizeof head}, first);
}

/// Whether the arithmetic of layouts can be done with it.
bool is_sane(Run const& run) noexcept {
    auto const is_small = [](std::int64_t number) {
        return number > -offset_limit && number < offset_limit;
    };
    Offset reach = 0;
    return is_small(run.offset) && is_small(run.stride) && run.length > 0 && run.count > 0 &&
           is_small(run.length) && is_small(run.count) &&
           !__builtin_mul_overflow(run.stride, run.count, &reach) && is_small(reach) &&
           !__builtin_mul_overflow(run.length, run.count, &reach) && is_small(reach);
}

/// Null where it cannot be one.
std::shared_ptr<Layout const> layout_of(std::byte const* runs, RecordHead const& head) {
    if (head.run_count == 0) return Layout::contiguous();
    std::vector<Run> all(head.run_count);
    std::memcpy(all.data(), runs, all.size() * sizeof(Run));
    Bytes bytes = 0;
    for (Run const& run : all) {
        if (!is_sane(run)) return nullptr;
        bytes += run.length * run.count;
        if (bytes >= offset_limit) return nullptr;
    }
    if (head.tile_extent <= -offset_limit || head.tile_extent >= offset_limit) return nullptr;
    return std::make_shared<Layout const>(all, head.tile_extent);
}

/// Whether its bytes have places that a file can have. Where there is no byte, its begin has one.
bool is_sane(Request const& request) {
    View const& view = request.view;
    Bytes const bytes = std::max<Bytes>(request.bytes, 1);
    return view.filetype && view.displacement >= 0 && view.displacement < offset_limit &&
           request.position >= 0 && request.position < offset_limit &&
           is_in_range(*view.filetype, view.displacement, request.position, bytes, 0);
}

JournalRecord record_at(std::byte* at, RecordHead const& head) {
    std::byte* const path = at + sizeof head;
    JournalRecord record;
    record.path.assign(reinterpret_cast<char const*>(path), head.path_bytes);
    record.identity = {head.device, head.inode};
    record.birth = {head.birth_time, head.birth_generation};
    record.request.view.displacement = head.displacement;
    record.request.view.filetype = layout_of(path + head.path_bytes, head);
    record.request.position = head.position;
    record.request.bytes = head.bytes;
    record.data = at + head_bytes(head);
    record.number = head.number;
    record.stamp = head.stamp;
    record.opening = head.opening;
    return record;
}

bool counts(std::byte const* at, RecordHead const& head, JournalHeader const& header) noexcept {
    if (head.number < header.void_below) return false;
    return !header.durable || checksum_of(at, head) == head.checksum;
}

/// Where it has an end already nothing is written: several threads may look at a header.
template <std::size_t room> void end_text(char (&text)[room]) noexcept {
    if (text[room - 1] != '\0') text[room - 1] = '\0';
}

}  // namespace

Bytes journal_bytes_for(Bytes bytes) noexcept {
    return journal_records + round_up(bytes, journal_unit);
}

Bytes record_head_bytes(std::size_t path_bytes, std::size_t runs) noexcept {
    return round_up(static_cast<Bytes>(sizeof(RecordHead) + path_bytes + runs * sizeof(Run)),
                    journal_unit);
}

std::vector<Run> runs_of(Layout const& layout) {
    if (layout.is_contiguous()) return {};
    std::vector<Run> runs;
    layout.for_each_run([&](Run const& run) { runs.push_back(run); });
    return runs;
}

/// What lies between the runs and the data is zeros, so that the checksum is of known bytes.
void write_record_head(std::byte* at, Request const& request, RecordedFile const& file,
                       std::uint64_t number, NumberedCall const& call) {
    auto const runs = runs_of(*request.view.filetype);
    RecordHead const head{.mark = record_mark,
                          .number = number,
                          .stamp = call.number,
                          .opening = call.opening,
                          .device = file.identity.device,
                          .inode = file.identity.inode,
                          .displacement = request.view.displacement,
                          .tile_extent = request.view.filetype->tile_extent(),
                          .position = request.position,
                          .bytes = request.bytes,
                          .path_bytes = file.path.size(),
                          .run_count = runs.size(),
                          .birth_time = file.birth.time,
                          .birth_generation = file.birth.generation,
                          .checksum = 0};
    std::byte* const end = at + head_bytes(head);
    std::memcpy(at, &head, sizeof head);
    std::byte* next = at + sizeof head;
    std::memcpy(next, file.path.data(), file.path.size());
    next += file.path.size();
    if (!runs.empty()) std::memcpy(next, runs.data(), runs.size() * sizeof(Run));
    next += runs.size() * sizeof(Run);
    std::fill(next, end, std::byte{});
}

void seal_record(std::byte* at, std::int64_t stamp) noexcept {
    RecordHead head{};
    std::memcpy(&head, at, sizeof head);
    head.stamp = stamp;
    head.checksum = checksum_of(at, head);
    std::memcpy(at, &head, sizeof head);
}

void format_journal(std::span<std::byte> journal, JournalOrigin const& origin,
                    bool durable) noexcept {
    JournalHeader const header{.mark = header_mark,
                               .version = format_version,
                               .durable = durable,
                               .origin = origin,
                               .void_below = 0,
                               .active = origin.created,
                               .replay_begin = 0,
                               .replay_until = 0,
                               .replay_boot = {},
                               .keeper = {},
                               .peer_count = 0,
                               .rank_ended = 0,
                               .process_namespace = 0,
                               .owner = 0,
                               .goes_on = 0,
                               .peers_written = 0};
    std::memcpy(journal.data(), &header, sizeof header);
}

JournalHeader* header_of(std::span<std::byte> journal) noexcept {
    if (journal.size() <= static_cast<std::size_t>(journal_records)) return nullptr;
    auto* const header = reinterpret_cast<JournalHeader*>(journal.data());
    if (header->mark != header_mark || header->version != format_version) return nullptr;
    end_text(header->origin.host);
    end_text(header->origin.boot);
    end_text(header->replay_boot);
    return header;
}

std::atomic<std::uint64_t>& journal_slot(std::byte* journal, std::size_t slot) noexcept {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(journal + journal_page)[slot];
}

CompletedCalls completed_calls(std::span<std::byte> journal) noexcept {
    return CompletedCalls(journal.data() + journal_completed);
}

std::vector<JournalRecord> records_of(std::span<std::byte> journal) {
    std::vector<JournalRecord> records;
    JournalHeader const* const header = header_of(journal);
    if (!header) return records;
    for (std::size_t i = 0; i < journal_slots; ++i) {
        std::uint64_t const at = journal_slot(journal.data(), i).load(std::memory_order_acquire);
        auto const head = at == 0 ? std::nullopt : head_at(journal, at);
        if (!head || !counts(journal.data() + at, *head, *header)) continue;
        JournalRecord record = record_at(journal.data() + at, *head);
        if (!is_sane(record.request)) continue;
        record.slot = i;
        records.push_back(std::move(record));
    }
    std::ranges::sort(records, {}, &JournalRecord::number);
    return records;
}

void clear(std::span<std::byte> journal, std::size_t slot) noexcept {
    journal_slot(journal.data(), slot).store(0, std::memory_order_release);
}

std::vector<JournalPeer> journal_peers(std::span<std::byte const> journal) {
    auto const* const header = reinterpret_cast<JournalHeader const*>(journal.data());
    std::uint64_t const count = std::atomic_ref(header->peer_count).load(std::memory_order_acquire);
    std::vector<JournalPeer> peers(std::min<std::size_t>(count, journal_peers_most));
    if (!peers.empty())
        std::memcpy(peers.data(), journal.data() + journal_peers_at,
                    peers.size() * sizeof peers[0]);
    return peers;
}

void store_journal_peers(std::span<std::byte> journal,
                         std::span<JournalPeer const> peers) noexcept {
    std::memcpy(journal.data() + journal_peers_at, peers.data(), peers.size_bytes());
    auto* const header = reinterpret_cast<JournalHeader*>(journal.data());
    std::atomic_ref(header->peer_count).store(peers.size(), std::memory_order_release);
}

void store_void_below(JournalHeader& header, std::uint64_t number) noexcept {
    std::atomic_ref(header.void_below).store(number, std::memory_order_release);
}

void store_active(JournalHeader& header, std::int64_t time) noexcept {
    std::atomic_ref(header.active).store(time, std::memory_order_relaxed);
}

}  // namespace sluice
