// What a network remembers of messages: a StartedMessage for each send and receive of the program,
// an EarlyMessage for each message that came before its receive, and a Matcher, which brings both
// together. Both networks of the library, on a node and over a fabric, derive theirs from it.
#pragma once
#include "schedule/port.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

namespace sluice {

/// What a message is matched by, beside its peer. Messages with equal keys are matched in the order
/// of their starts. A network that may bring them in another order gives each a number.
struct MatchKey {
    std::uint64_t context = 0;
    std::int32_t tag = 0;
    std::uint32_t number = 0;
    [[nodiscard]] bool operator==(MatchKey const&) const = default;
};

/// Why a message does not end well; lives as long as the program.
struct EndReason {
    Status status;
    char const* why;  ///< For people.
};

/// What sends and receives have in common.
struct StartedMessage {
    static constexpr EndReason too_long{Status::truncated,
                                        "the message is longer than its receive"};
    MatchKey key;
    bool is_send = false, done = false;
    EndReason const* failure = nullptr;  ///< Null: there was none yet.
    std::byte* data = nullptr;
    std::uint64_t bytes = 0;  ///< Of the message; of a receive that waits: room for it.

    /// The first failure stays. Null: well, so far as it has not failed before.
    void end(EndReason const* its = nullptr) noexcept {
        if (!failure) failure = its;
        done = true;
    }
    /// A receive: so many bytes came, or would.
    void fail_if_longer(std::uint64_t came) noexcept {
        if (came > bytes) failure = &too_long;
    }
    void copy(std::span<std::byte const> came) noexcept {
        fail_if_longer(came.size());
        bytes = std::min<std::uint64_t>(bytes, came.size());
        if (bytes) std::memcpy(data, came.data(), bytes);
    }
    /// Tells who started it.
    void report(Message& message) const noexcept {
        message.handle = 0;
        message.status = failure ? failure->status : Status::ok;
        message.what = failure ? failure->why : nullptr;
        message.received = failure ? 0 : static_cast<Bytes>(bytes);
    }
};

[[nodiscard]] inline auto has_key(MatchKey key) noexcept {
    return [key](auto const& one) { return one.key == key; };
}

/// Objects in their order, linked through their member `next`.
template <class T> class LinkedList {
public:
    [[nodiscard]] bool empty() const noexcept { return !head_; }
    [[nodiscard]] T* front() const noexcept { return head_; }
    void push_back(T& one) noexcept {
        one.next = nullptr;
        (tail_ ? tail_->next : head_) = &one;
        tail_ = &one;
    }
    void push_front(T& one) noexcept {
        one.next = head_;
        if (!tail_) tail_ = &one;
        head_ = &one;
    }
    /// The first that fits, which stays; or null.
    template <class Fits> [[nodiscard]] T* find(Fits const& fits) const noexcept {
        T* at = head_;
        while (at && !fits(*at)) at = at->next;
        return at;
    }
    /// The first that fits, which leaves the list; or null.
    template <class Fits> T* take(Fits const& fits) noexcept {
        T* before = nullptr;
        T* at = head_;
        while (at && !fits(*at)) before = std::exchange(at, at->next);
        if (!at) return nullptr;
        (before ? before->next : head_) = at->next;
        if (tail_ == at) tail_ = before;
        return at;
    }
    T* take_front() noexcept {
        return take([](T const&) { return true; });
    }
    void remove(T& one) noexcept {
        take([&](T const& other) { return &other == &one; });
    }

private:
    T* head_ = nullptr;
    T* tail_ = nullptr;  ///< Null where `head_` is.
};

/// Objects that are used again, with what is still in them. Their addresses stay.
template <class T> class ObjectPool {
public:
    [[nodiscard]] T& make() {
        if (T* const used = free_.take_front()) return *used;
        return all_.emplace_back();
    }
    void recycle(T& one) noexcept { free_.push_front(one); }

private:
    std::deque<T> all_;
    LinkedList<T> free_;
};

/// A message that came before who waits for it: its header, and what followed it.
template <class Header> struct EarlyMessage {
    static constexpr std::size_t body_kept = 4096;  ///< As much memory stays for the next one.
    EarlyMessage* next = nullptr;
    MatchKey key;
    Header header;
    std::vector<std::byte> body;
};

/// The messages that a process has started on one network.
template <class Send, class Receive, class Header> class StartedMessages {
public:
    [[nodiscard]] Send& make_send(MatchKey key, std::span<std::byte const> bytes) {
        auto* const data = const_cast<std::byte*>(bytes.data());  // NOLINT: only read.
        Send& send = begin(sends_.make(), key, {data, bytes.size()});
        send.is_send = true;
        return send;
    }
    [[nodiscard]] Receive& make_receive(MatchKey key, std::span<std::byte> bytes) {
        return begin(receives_.make(), key, bytes);
    }
    /// As that of a Network.
    [[nodiscard]] bool finished(Message& message) {
        if (message.handle == 0) return true;
        auto& its = *reinterpret_cast<StartedMessage*>(message.handle);  // NOLINT: it was one.
        if (!its.done) return false;
        if (its.is_send)
            report(static_cast<Send&>(its), sends_, message);
        else
            report(static_cast<Receive&>(its), receives_, message);
        return true;
    }
    [[nodiscard]] static Message handle_of(StartedMessage& its) noexcept {
        return {reinterpret_cast<std::uintptr_t>(&its)};
    }

    ObjectPool<EarlyMessage<Header>> early;

private:
    template <class Its>
    static Its& begin(Its& its, MatchKey key, std::span<std::byte> bytes) noexcept {
        its = Its{};
        its.key = key;
        its.data = bytes.data();
        its.bytes = bytes.size();
        return its;
    }
    template <class Its>
    static void report(Its& its, ObjectPool<Its>& pool, Message& message) noexcept {
        its.report(message);
        if constexpr (requires { its.placed; })
            message.placed = its.failure ? 0 : static_cast<Bytes>(its.placed);
        pool.recycle(its);
    }

    ObjectPool<Send> sends_;
    ObjectPool<Receive> receives_;
};

/// Brings together what waits and what came for it, each in its order: receives and messages, or
/// long sends and the memory that they are written to.
template <class Waiting, class Header> class Matcher {
public:
    using Early = EarlyMessage<Header>;
    /// `pool` outlives this.
    explicit Matcher(ObjectPool<Early>& pool) noexcept : pool_(&pool) {}

    [[nodiscard]] bool is_awaited() const noexcept { return !waiting_.empty(); }
    /// From now on it is found by its key. What came for it before is given to `deliver`, as if it
    /// came now; true when there was any.
    template <class Deliver> bool wait(Waiting& one, Deliver const& deliver) {
        waiting_.push_back(one);
        if (early_.empty()) return false;
        Early* const came = early_.take(has_key(one.key));
        if (!came) return false;
        deliver(came->header, std::span<std::byte const>(came->body));
        recycle(*came);
        return true;
    }
    [[nodiscard]] Waiting* find(MatchKey key) const { return waiting_.find(has_key(key)); }
    [[nodiscard]] Waiting* take(MatchKey key) { return waiting_.take(has_key(key)); }
    template <class Fits> [[nodiscard]] Waiting* take_any(Fits const& fits) {
        return waiting_.take(fits);
    }
    /// Nobody waits for it yet.
    void keep(MatchKey key, Header const& header, std::span<std::byte const> body = {}) {
        Early& came = pool_->make();
        came.key = key;
        came.header = header;
        came.body.assign(body.begin(), body.end());
        early_.push_back(came);
    }
    /// Of what came and waits.
    template <class Fits> void drop(Fits const& fits) {
        while (Early* const came = early_.take(fits)) recycle(*came);
    }
    template <class Act> void for_each_waiting(Act const& act) {
        (void)waiting_.find([&](Waiting& one) { return act(one), false; });
    }

private:
    void recycle(Early& came) noexcept {
        if (came.body.capacity() > Early::body_kept) came.body = {};
        pool_->recycle(came);
    }

    LinkedList<Waiting> waiting_;
    LinkedList<Early> early_;
    ObjectPool<Early>* pool_;
};

}  // namespace sluice
