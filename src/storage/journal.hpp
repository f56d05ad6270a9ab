// A Journal keeps the bytes of delayed writes in a file, mostly one in memory, which outlives the
// process: whoever has its descriptor then can still write them where they belong. Each record says
// which file, which bytes of it, and what is to be there. A record counts from the moment that its
// slot names it, and no longer once the slot is cleared.
#pragma once
#include "base/request.hpp"
#include "system/bounded_memory.hpp"
#include "system/descriptor.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

/// Where delayed bytes belong.
struct JournaledFile {
    std::string path;
    FileIdentity identity;
};

/// One delayed write, as a journal tells of it.
struct JournalRecord {
    JournaledFile file;
    Request request;  ///< Its memory is contiguous.
    std::byte* data = nullptr;
    std::size_t slot = 0;
    std::uint64_t number = 0;  ///< Grows with each write of the process.
};

class Journal : public std::enable_shared_from_this<Journal> {
public:
    /// A write that has memory. It is in the journal from commit() until this is destroyed.
    class Entry {
    public:
        Entry(std::shared_ptr<Journal> journal, BoundedMemory::Part part, std::size_t slot,
              Bytes head_bytes) noexcept;
        ~Entry();
        Entry(Entry const&) = delete;
        Entry& operator=(Entry const&) = delete;

        [[nodiscard]] std::byte* data() const noexcept { return part_.data + head_bytes_; }
        /// The data is there: the write may be acknowledged.
        void commit() noexcept;

    private:
        std::shared_ptr<Journal> journal_;
        BoundedMemory::Part part_;
        std::size_t slot_;
        Bytes head_bytes_;
    };

    /// Takes a file of zeros that is `bytes` long. Null where it is too short or cannot be mapped.
    static std::shared_ptr<Journal> create(int fd, Bytes bytes);

    /// Null where there is no room now.
    [[nodiscard]] std::unique_ptr<Entry> take(Request const& request, JournaledFile const& file);
    /// Whether take() can ever succeed; false also where the description would be too long.
    [[nodiscard]] bool could_take(Request const& request, JournaledFile const& file) const;

private:
    Journal(Mapping slots, std::shared_ptr<BoundedMemory> memory) noexcept;
    [[nodiscard]] std::atomic<std::uint64_t>& slot(std::size_t number) const noexcept;
    [[nodiscard]] std::optional<std::size_t> take_slot();

    Mapping slots_;
    std::shared_ptr<BoundedMemory> memory_;
    std::mutex mutex_;  ///< Guards the fields below.
    std::vector<std::size_t> free_slots_;
    std::uint64_t next_number_ = 1;
};

/// Of a file for a journal with `bytes` for records.
[[nodiscard]] Bytes journal_bytes_for(Bytes bytes) noexcept;

/// What a journal's bytes say, in the order of the writes. Nothing of what cannot be true.
[[nodiscard]] std::vector<JournalRecord> records_of(std::span<std::byte> journal);
/// The write of the slot is where it belongs.
void clear(std::span<std::byte> journal, std::size_t slot) noexcept;

}  // namespace sluice
