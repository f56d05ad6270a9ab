// Journals of delayed writes, which `sluice recover` and keepers believe nothing of. An input has
// the header behind its version, some slots, a place of completed calls, some peers, and then
// records: where a journal has thousands of slots, an input has few, so that it stays short.
#include "behind/journal_format.hpp"
#include "fuzz.hpp"

namespace sluice::fuzz {
namespace {

constexpr std::size_t slots = 8, peers = 4;
constexpr std::size_t records_bytes = 8192;
constexpr std::size_t about_at = offsetof(JournalHeader, durable);

struct alignas(4096) Journal {
    std::byte bytes[static_cast<std::size_t>(journal_records) + records_bytes];
    [[nodiscard]] std::span<std::byte> span() { return bytes; }
};

void fill(Journal& journal, Input& input) {
    journal = {};
    format_journal(journal.span(), {}, false);
    input.take_into(journal.bytes + about_at, sizeof(JournalHeader) - about_at);
    // Multiples of 64 from the first record on, so that most slots name something.
    for (std::size_t i = 0; i < slots; ++i) {
        auto const unit = input.take<std::uint16_t>();
        auto const at = static_cast<std::uint64_t>(journal_records + unit % 256 * journal_unit);
        journal_slot(journal.bytes, i) = unit == 0 ? 0 : unit == 0xffff ? ~std::uint64_t{63} : at;
    }
    input.take_into(journal.bytes + journal_completed, 2 * sizeof(std::uint64_t));
    input.take_into(journal.bytes + journal_peers_at, peers * sizeof(JournalPeer));
    input.take_into(journal.bytes + journal_records, records_bytes);
}

Offset place_of(Request const& request, Bytes index) { return offset_in_file(request, index); }

/// Writes the record into another journal and reads it there.
void try_again(JournalRecord const& record) {
    static Journal other;
    auto const runs = runs_of(*record.request.view.filetype).size();
    auto const bytes = record_head_bytes(record.path.size(), runs) + record.request.bytes;
    if (bytes >= static_cast<Bytes>(records_bytes)) return;
    other = {};
    format_journal(other.span(), {}, true);
    std::byte* const at = other.bytes + journal_records;
    write_record_head(at, record.request, record, record.number, {record.opening, record.stamp});
    seal_record(at, record.stamp);
    journal_slot(other.bytes, 1) = static_cast<std::uint64_t>(journal_records);
    auto const read = records_of(other.span());
    require(read.size() == 1, "a record that was written is read again", record.path);
    JournalRecord const& again = read.front();
    bool const is_same = again.path == record.path && again.number == record.number &&
                         again.stamp == record.stamp && again.slot == 1 &&
                         again.request.bytes == record.request.bytes;
    require(is_same, "it is the same record", record.path);
    Bytes const last = std::max<Bytes>(record.request.bytes - 1, 0);
    require(place_of(again.request, last) == place_of(record.request, last),
            "its bytes have the same places", record.path);
}

void try_record(JournalRecord const& record, Journal& journal) {
    auto const room = journal.span();
    Request const& request = record.request;
    bool const is_inside = record.data >= room.data() && request.bytes >= 0 &&
                           record.data + request.bytes <= room.data() + room.size();
    require(is_inside, "the data of a record lie in its journal", record.path);
    require(record.path.size() < room.size(), "the path lies in it, too");
    require(place_of(request, 0) >= 0, "a byte lies in the file", record.path);
    require(piece_count(request) >= 0, "pieces can be counted", record.path);
    if (request.bytes > 0) {
        Cursor cursor(*request.view.filetype, request.position);
        Bytes left = request.bytes;
        for (int i = 0; i < 64 && left > 0; ++i) {
            Pieces const pieces = cursor.pieces(left);
            require(pieces.bytes > 0 && pieces.bytes <= left, "a piece has bytes", record.path);
            left -= pieces.bytes;
            cursor.advance(pieces);
        }
    }
    try_again(record);
}

void try_journal(Input input) {
    static Journal journal;
    fill(journal, input);
    JournalHeader* const header = header_of(journal.span());
    require(header, "a journal of this version has a header");
    require(std::strlen(header->origin.host) < sizeof header->origin.host, "its texts have ends");
    auto const records = records_of(journal.span());
    require(records.size() <= slots, "each record has a slot");
    for (JournalRecord const& record : records) {
        try_record(record, journal);
        (void)completed_calls(journal.span()).has({record.opening, record.stamp});
    }
    auto const others = journal_peers(journal.span());
    require(others.size() <= journal_peers_most, "peers lie in the journal");
    for (JournalRecord const& record : records) clear(journal.span(), record.slot);
    require(records_of(journal.span()).empty(), "what is cleared is no record");
}

}  // namespace
}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    sluice::fuzz::try_journal({data, size});
    return 0;
}
