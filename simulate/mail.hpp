// Messages between simulated ranks are matched as MPI matches them, and the bytes of those that
// came before their receives are kept. A model (simulate/model.hpp) says when they come.
#pragma once
#include "schedule/port.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace sluice::simulated {

/// Wakes a rank: something that it may wait for happened.
class Waker {
public:
    virtual void wake(Rank rank) = 0;

protected:
    ~Waker() = default;
};

using LetterId = std::uint32_t;

/// One message: a send, a receive, or both that belong together.
struct Letter {
    Rank from = 0, to = 0;
    int tag = 0;
    bool synchronous = false;
    bool has_send = false, has_recv = false;  ///< Started by the ranks: matched in that order.
    bool send_posted = false, recv_posted = false;  ///< The model was told.
    bool left = false;     ///< The send is finished: its bytes are kept, or there.
    bool arrived = false;  ///< The bytes are there, whether received or not.
    bool send_seen = false, recv_seen = false;  ///< Their finish was told to the ranks.
    std::span<std::byte const> source;
    std::span<std::byte> target;
    std::vector<std::byte> kept;  ///< Bytes that left before there was a receive.
    Bytes bytes = 0;
    LetterId next = 0;
};

/// What a rank's messages amount to.
struct MailCounts {
    std::int32_t awaited = 0;     ///< Receives whose message did not come yet.
    std::int32_t unexpected = 0;  ///< Messages that came before their receives.
    std::int32_t under_way = 0;   ///< Sends and receives that are not finished.
    std::int64_t sent = 0;
    Bytes bytes_sent = 0;
};

/// Whether messages carry their bytes, or only say how many there would be.
enum class Contents : std::uint8_t { carried, only_length };

class Mail {
public:
    Mail(Rank ranks, Waker& waker, Contents contents = Contents::carried)
        : counts_(static_cast<std::size_t>(ranks)),
          waker_(waker),
          contents_(contents) {}

    LetterId send(Rank from, Rank to, int tag, std::span<std::byte const> bytes, bool synchronous);
    LetterId recv(Rank from, Rank to, int tag, std::span<std::byte> bytes);

    void post_send(LetterId id) { letters_[id].send_posted = true; }
    void post_recv(LetterId id) { letters_[id].recv_posted = true; }

    /// Keeps the bytes of a message, so that its send is finished before there is a receive.
    void keep(LetterId id);
    /// The bytes are there: the send is finished, and the receive, if it was started.
    void arrive(LetterId id);

    /// Asked very often, mostly in vain.
    [[nodiscard]] bool send_finished(LetterId id) {
        return send_finished_[id] != 0 && tell_send(id);
    }
    [[nodiscard]] bool recv_finished(LetterId id, Bytes& bytes) {
        return recv_finished_[id] != 0 && tell_recv(id, bytes);
    }

    [[nodiscard]] Letter const& letter(LetterId id) const noexcept { return letters_[id]; }
    [[nodiscard]] MailCounts const& counts(Rank rank) const noexcept {
        return counts_[static_cast<std::size_t>(rank)];
    }
    /// Empty when all that was sent was received, and nothing else is waited for.
    [[nodiscard]] std::string first_fault() const;

private:
    static constexpr LetterId none = ~LetterId{0};
    struct Mixed {  ///< Keys differ in a few bits only.
        std::size_t operator()(std::uint64_t key) const noexcept {
            return (key ^ key >> 29) * 0x9e3779b97f4a7c15;
        }
    };
    struct Queue {  ///< Letters with one and the same half missing, in the order of starts.
        LetterId first = none, last = none;
    };

    MailCounts& of(Rank rank) noexcept { return counts_[static_cast<std::size_t>(rank)]; }
    LetterId match(Rank from, Rank to, int tag, bool is_send);
    LetterId add(Rank from, Rank to, int tag);
    void receive(LetterId id);
    void finish_send(LetterId id);
    bool tell_send(LetterId id);
    bool tell_recv(LetterId id, Bytes& bytes);
    void drop_if_seen(LetterId id);

    std::vector<Letter> letters_;
    std::vector<std::uint8_t> send_finished_, recv_finished_;  ///< Small enough for a cache.
    std::vector<LetterId> free_;
    std::unordered_map<std::uint64_t, Queue, Mixed> waiting_;  ///< By sender, receiver and tag.
    std::vector<MailCounts> counts_;
    Waker& waker_;
    Contents contents_;
};

}  // namespace sluice::simulated
