// How messages are matched, kept and delivered. See mail.hpp.
#include "simulate/mail.hpp"

#include <cstring>
#include <stdexcept>

namespace sluice::simulated {
namespace {

/// Ranks up to 2^20, tags up to 2^24: MPI grants tags up to 32767.
std::uint64_t key(Rank from, Rank to, int tag) noexcept {
    return static_cast<std::uint64_t>(from) << 44 | static_cast<std::uint64_t>(to) << 24 |
           static_cast<std::uint64_t>(tag);
}

}  // namespace

LetterId Mail::add(Rank from, Rank to, int tag) {
    if (free_.empty()) {
        free_.push_back(static_cast<LetterId>(letters_.size()));
        letters_.emplace_back();
        send_finished_.push_back(0);
        recv_finished_.push_back(0);
    }
    LetterId const id = free_.back();
    free_.pop_back();
    Letter& letter = letters_[id];
    letter = Letter{};
    send_finished_[id] = recv_finished_[id] = 0;
    letter.from = from, letter.to = to, letter.tag = tag, letter.next = none;
    return id;
}

/// The first letter between the two that lacks this half; else a new one, which waits for the other
/// half. All letters of a queue lack the same half.
LetterId Mail::match(Rank from, Rank to, int tag, bool is_send) {
    auto const [found, added] = waiting_.try_emplace(key(from, to, tag));
    Queue& queue = found->second;
    bool const meets = !added && letters_[queue.first].has_send != is_send;
    if (!meets) {
        LetterId const id = add(from, to, tag);
        (added ? queue.first : letters_[queue.last].next) = id;
        queue.last = id;
        return id;
    }
    LetterId const id = queue.first;
    queue.first = letters_[id].next;
    if (queue.first == none) waiting_.erase(found);
    return id;
}

LetterId Mail::send(Rank from, Rank to, int tag, std::span<std::byte const> bytes,
                    bool synchronous) {
    LetterId const id = match(from, to, tag, true);
    Letter& letter = letters_[id];
    letter.has_send = true, letter.synchronous = synchronous;
    letter.source = bytes, letter.bytes = static_cast<Bytes>(bytes.size());
    MailCounts& counts = of(from);
    ++counts.under_way, ++counts.sent, counts.bytes_sent += letter.bytes;
    return id;
}

LetterId Mail::recv(Rank from, Rank to, int tag, std::span<std::byte> bytes) {
    LetterId const id = match(from, to, tag, false);
    Letter& letter = letters_[id];
    letter.has_recv = true, letter.target = bytes;
    MailCounts& counts = of(to);
    ++counts.under_way;
    if (!letter.arrived) {
        ++counts.awaited;
        return id;
    }
    --counts.unexpected;
    receive(id);
    return id;
}

void Mail::receive(LetterId id) {
    Letter& letter = letters_[id];
    if (letter.target.size() < letter.source.size()) throw std::length_error("message truncated");
    std::byte const* const from = letter.kept.empty() ? letter.source.data() : letter.kept.data();
    if (letter.bytes > 0 && contents_ == Contents::carried)
        std::memcpy(letter.target.data(), from, static_cast<std::size_t>(letter.bytes));
    letter.kept = {};
    recv_finished_[id] = 1;
    --of(letter.to).under_way;
    waker_.wake(letter.to);
}

void Mail::finish_send(LetterId id) {
    letters_[id].left = true;
    send_finished_[id] = 1;
    --of(letters_[id].from).under_way;
    waker_.wake(letters_[id].from);
}

void Mail::keep(LetterId id) {
    Letter& letter = letters_[id];
    if (letter.left) return;
    if (contents_ == Contents::carried)
        letter.kept.assign(letter.source.begin(), letter.source.end());
    finish_send(id);
}

void Mail::arrive(LetterId id) {
    Letter& letter = letters_[id];
    if (!letter.has_recv) keep(id);
    letter.arrived = true;
    if (letter.has_recv) {
        --of(letter.to).awaited;
        receive(id);
    } else {
        ++of(letter.to).unexpected;
    }
    if (!letter.left) finish_send(id);
}

bool Mail::tell_send(LetterId id) {
    letters_[id].send_seen = true;
    drop_if_seen(id);
    return true;
}

bool Mail::tell_recv(LetterId id, Bytes& bytes) {
    bytes = letters_[id].bytes;
    letters_[id].recv_seen = true;
    drop_if_seen(id);
    return true;
}

void Mail::drop_if_seen(LetterId id) {
    if (letters_[id].send_seen && letters_[id].recv_seen) free_.push_back(id);
}

std::string Mail::first_fault() const {
    std::vector<bool> dropped(letters_.size());
    for (LetterId const id : free_) dropped[id] = true;
    for (std::size_t id = 0; id < letters_.size(); ++id) {
        if (dropped[id]) continue;
        Letter const& l = letters_[id];
        std::string const where = "message from rank " + std::to_string(l.from) + " to rank " +
                                  std::to_string(l.to) + ", tag " + std::to_string(l.tag);
        if (!l.has_recv) return where + ": sent, but nobody receives it";
        if (!l.has_send) return where + ": received, but nobody sends it";
        return where + ": never finished";
    }
    return {};
}

}  // namespace sluice::simulated
