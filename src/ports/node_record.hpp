// What a rank remembers of its messages on the node: records, lists of them in the order of their
// starts, and memory for bytes that came before their receive. All of it is used again.
#pragma once
#include "core/topology.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace sluice {

/// A send, a receive, or a message that nobody has asked for yet.
struct Record {
    Record* next = nullptr;
    std::uint64_t context = 0;
    int tag = 0;
    bool done = false, failed = false, truncated = false;
    bool granted = false;       ///< Large sends: pieces may go.
    std::byte* data = nullptr;  ///< The user's; of what nobody asked for: `store`.
    std::uint64_t bytes = 0;    ///< Of the message; receives that wait: room for it.
    // Of large messages.
    std::uint64_t number = 0;
    std::uint64_t address = 0;           ///< Of the bytes, at the sender.
    std::uint64_t front = 0, limit = 0;  ///< Pieces went or came up to `front`, and go so far.
    double quiet_since = 0;              ///< When nothing came any more; 0: it does.
    std::unique_ptr<std::byte[]> store;  ///< Bytes of what nobody asked for.
};

/// Records in their order, linked through themselves.
class RecordList {
public:
    [[nodiscard]] bool empty() const noexcept { return !head_; }
    [[nodiscard]] Record* front() const noexcept { return head_; }
    void push_back(Record& record) noexcept {
        record.next = nullptr;
        (head_ ? tail_->next : head_) = &record;
        tail_ = &record;
    }
    /// The first that fits, which stays; or null.
    template <typename Fits> [[nodiscard]] Record* find(Fits const& fits) const noexcept {
        for (Record* at = head_; at; at = at->next) {
            if (fits(*at)) return at;
        }
        return nullptr;
    }
    /// The first that fits, which leaves the list; or null.
    template <typename Fits> [[nodiscard]] Record* take(Fits const& fits) noexcept {
        Record* before = nullptr;
        for (Record* at = head_; at; before = std::exchange(at, at->next)) {
            if (!fits(*at)) continue;
            (before ? before->next : head_) = at->next;
            if (tail_ == at) tail_ = before;
            return at;
        }
        return nullptr;
    }
    [[nodiscard]] Record* take_front() noexcept {
        return take([](Record const&) { return true; });
    }

private:
    Record* head_ = nullptr;
    Record* tail_ = nullptr;
};

/// Where records come from and go to.
class Records {
public:
    [[nodiscard]] Record& make() {
        if (Record* const used = free_.take_front()) return *used;
        return all_.emplace_back();
    }
    void recycle(Record& record) {
        if (record.store) keep(std::move(record.store), record.bytes);
        record = Record{};
        free_.push_back(record);
    }
    /// Room for so many bytes in the record.
    void store(Record& record, std::uint64_t bytes) {
        auto& spare = spares_[size_class(bytes)];
        record.bytes = bytes;
        if (spare.empty()) {
            record.store.reset(new std::byte[std::size_t{1} << size_class(bytes)]);
        } else {
            record.store = std::move(spare.back());
            spare.pop_back();
        }
        record.data = record.store.get();
    }

private:
    /// Powers of two: what served one message serves most others.
    [[nodiscard]] static std::size_t size_class(std::uint64_t bytes) noexcept {
        return bytes <= 64 ? 6 : static_cast<std::size_t>(std::bit_width(bytes - 1));
    }
    void keep(std::unique_ptr<std::byte[]> memory, std::uint64_t bytes) {
        auto& spare = spares_[size_class(bytes)];
        if (spare.size() < spares_max) spare.push_back(std::move(memory));
    }

    static constexpr std::size_t spares_max = 64;  ///< Of each size: at most some MiB in all.
    std::deque<Record> all_;                       ///< Addresses stay.
    RecordList free_;
    std::array<std::vector<std::unique_ptr<std::byte[]>>, 65> spares_;
};

}  // namespace sluice
