// A MessageDesc is what a rank remembers of one message, on the node or over a fabric. This file
// also has lists of them in the order of their starts, and memory for bytes that came before their
// receive. All of it is used again.
#pragma once
#include "schedule/port.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace sluice {

/// A send, a receive, or a message that nobody has asked for yet.
struct MessageDesc {
    static constexpr char const* too_long = "the message is longer than its receive";
    MessageDesc* next = nullptr;
    std::uint64_t context = 0;
    int tag = 0;
    bool done = false;
    Status status = Status::ok;  ///< Else it failed.
    char const* why = nullptr;   ///< It failed, for people.
    bool granted = false;        ///< Large sends: fragments may go.
    std::byte* data = nullptr;   ///< The user's; of what nobody asked for: `store`.
    std::uint64_t bytes = 0;     ///< Of the message; receives that wait: room for it.
    // Of large messages on the node; over a fabric all have a number.
    std::uint64_t number = 0;
    std::uint64_t address = 0;  ///< Of the bytes, at the sender; of a write, at the receiver.
    std::uint64_t front = 0, end = 0;  ///< Fragments went or came up to `front`; they end there.
    double quiet_since = 0;            ///< When nothing came any more; 0: it does.
    // Over a fabric.
    bool synchronous = false;
    std::uint32_t peer = 0;
    std::uint64_t key = 0;         ///< Of the memory at `address`.
    std::uint32_t receive = 0;     ///< The receiver's number for the receive.
    std::uint32_t under_way = 0;   ///< Writes that have no end yet.
    void* registration = nullptr;  ///< Of a receive's memory.
    std::span<std::byte> target;   ///< Of a receive: where parts go.
    void* target_registration = nullptr;
    std::span<PlacedPart const> parts;  ///< Of a send; those before `part` are in writes.
    std::size_t part = 0;
    std::uint64_t placed = 0;  ///< Bytes of all parts.
    bool is_shown = false;     ///< A receive: peers were told of its memory.
    bool head_went = false;    ///< A send with parts: what is no part went.
    bool says_bytes = false;   ///< A send: its one write says how long it is.
    std::uint64_t target_address = 0, target_key = 0;  ///< Of a `ready`: of its target.
    std::unique_ptr<std::byte[]> store;                ///< Bytes of what nobody asked for.

    [[nodiscard]] bool failed() const noexcept { return status != Status::ok; }
    void fail(Status its_status, char const* what) noexcept {
        status = its_status;
        why = what;
    }
    void end_failed(Status its_status, char const* what) noexcept {
        fail(its_status, what);
        done = true;
    }
    /// A receive: so many bytes came, or would.
    void fail_if_longer(std::uint64_t came) noexcept {
        if (came > bytes) fail(Status::truncated, too_long);
    }
    /// Tells who started it.
    void report(Message& message) const noexcept {
        message.handle = 0;
        message.status = status;
        message.what = why;
        message.received = failed() ? 0 : static_cast<Bytes>(bytes);
        message.placed = failed() ? 0 : static_cast<Bytes>(placed);
    }
};

/// Message descriptors in their order, linked through themselves.
class MessageDescList {
public:
    [[nodiscard]] bool empty() const noexcept { return !head_; }
    [[nodiscard]] MessageDesc* front() const noexcept { return head_; }
    void push_back(MessageDesc& message_desc) noexcept {
        message_desc.next = nullptr;
        (head_ ? tail_->next : head_) = &message_desc;
        tail_ = &message_desc;
    }
    /// The first that fits, which stays; or null.
    template <typename Fits> [[nodiscard]] MessageDesc* find(Fits const& fits) const noexcept {
        for (MessageDesc* at = head_; at; at = at->next) {
            if (fits(*at)) return at;
        }
        return nullptr;
    }
    template <typename Act> void for_each(Act const& act) const {
        for (MessageDesc* at = head_; at; at = at->next) act(*at);
    }
    /// The first that fits, which leaves the list; or null.
    template <typename Fits> [[nodiscard]] MessageDesc* take(Fits const& fits) noexcept {
        MessageDesc* before = nullptr;
        for (MessageDesc* at = head_; at; before = std::exchange(at, at->next)) {
            if (!fits(*at)) continue;
            (before ? before->next : head_) = at->next;
            if (tail_ == at) tail_ = before;
            return at;
        }
        return nullptr;
    }
    [[nodiscard]] MessageDesc* take_front() noexcept {
        return take([](MessageDesc const&) { return true; });
    }

private:
    MessageDesc* head_ = nullptr;
    MessageDesc* tail_ = nullptr;
};

/// Where message descriptors come from and go to.
class MessageDescs {
public:
    [[nodiscard]] MessageDesc& make() {
        if (MessageDesc* const used = free_.take_front()) return *used;
        return all_.emplace_back();
    }
    void recycle(MessageDesc& message_desc) {
        if (message_desc.store) keep(std::move(message_desc.store), message_desc.bytes);
        message_desc = MessageDesc{};
        free_.push_back(message_desc);
    }
    /// Room for so many bytes in the message descriptor.
    void store(MessageDesc& message_desc, std::uint64_t bytes) {
        auto& spare = spares_[size_class(bytes)];
        message_desc.bytes = bytes;
        if (spare.empty()) {
            message_desc.store.reset(new std::byte[std::size_t{1} << size_class(bytes)]);
        } else {
            message_desc.store = std::move(spare.back());
            spare.pop_back();
        }
        message_desc.data = message_desc.store.get();
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
    std::deque<MessageDesc> all_;                  ///< Addresses stay.
    MessageDescList free_;
    std::array<std::vector<std::unique_ptr<std::byte[]>>, 65> spares_;
};

}  // namespace sluice
