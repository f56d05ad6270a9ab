// Who begins when, and who is told of the end. See independent_writes.hpp.
#include "mpi/behind/independent_writes.hpp"

#include "file/plan/overlap.hpp"
#include "mpi/file/storages.hpp"
#include "mpi/progress/progress.hpp"

#include <new>
#include <utility>

namespace sluice {

/// False where it has to await others. Where memory is short nothing has changed.
bool IndependentWrites::add(IndependentWritePtr const& write) {
    std::lock_guard const lock(mutex_);
    Span const reach = reach_of(write->call.request);
    auto const earlier = under_way_.touching(reach);
    for (auto const& one : earlier) one->followers.reserve(one->followers.size() + 1);
    // So that the end of a write wants no memory.
    std::size_t const most = ended_.size() + under_way_.size() + 1;
    if (ended_.capacity() < most) ended_.reserve(2 * most);
    under_way_.add(reach, write);
    for (auto const& one : earlier) one->followers.push_back(write);
    write->awaited = earlier.size();
    return write->awaited == 0;
}

void IndependentWrites::start(IndependentWritePtr const& write) {
    if (!add(write)) return;
    try {
        storage_threads().submit([this, write] { run_all(write); });
    } catch (std::bad_alloc const&) {
        run_all(write);
    }
}

/// The thread goes on with those that were waiting for what it has ended, and idle ones help.
void IndependentWrites::run_all(IndependentWritePtr first) {
    for (auto last = first; first;) {
        run_(*first);
        last->next = note_end(first);
        while (last->next) last = last->next;
        first = std::exchange(first->next, nullptr);
        if (first) last = share(first);
    }
}

/// Offers all of a list but the first to idle threads. Returns the last one that nobody took.
IndependentWritePtr IndependentWrites::share(IndependentWritePtr const& first) {
    while (auto const other = first->next) {
        first->next = std::exchange(other->next, nullptr);
        bool taken = false;
        try {
            taken = storage_threads().offer([this, other] { run_all(other); });
        } catch (std::bad_alloc const&) {
            taken = false;
        }
        if (taken) continue;
        other->next = std::exchange(first->next, other);
        break;
    }
    auto last = first;
    while (last->next) last = last->next;
    return last;
}

/// Gives back memory and mark at once: other processes may wait for them. Returns the list of those
/// that can begin now. Where there are none, somebody may close the file once the write is out of
/// the index: nothing touches `this` then after the mutex is free.
IndependentWritePtr IndependentWrites::note_end(IndependentWritePtr const& write) {
    write->call.keeps.reset();
    IndependentWritePtr ready;
    {
        std::lock_guard const lock(mutex_);
        under_way_.remove(reach_of(write->call.request), write);
        ended_.push_back(write);
        auto* end = &ready;
        for (auto& follower : write->followers) {
            if (--follower->awaited > 0) continue;
            *end = std::move(follower);
            end = &(*end)->next;
        }
        write->followers.clear();
    }
    write->done.store(true, std::memory_order_release);
    Progress::instance().ring();
    return ready;
}

std::vector<IndependentWritePtr> IndependentWrites::touching(Span reach) const {
    std::lock_guard const lock(mutex_);
    return under_way_.touching(reach);
}

void IndependentWrites::wait_for(Span reach) const {
    for (auto const& write : touching(reach)) {
        Progress::instance().drive(
            {.done = [&] { return write->done.load(); }, .reason = TraceWait::file});
    }
}

void IndependentWrites::wait_for_few(Span reach) const {
    constexpr std::size_t few = 16;
    if (touching(reach).size() >= few) wait_for(reach);
}

Offset IndependentWrites::end() const {
    std::lock_guard const lock(mutex_);
    return under_way_.end();
}

bool IndependentWrites::any_is_under_way() const {
    std::lock_guard const lock(mutex_);
    return under_way_.size() > 0;
}

std::vector<IndependentWritePtr> IndependentWrites::take_ended() {
    std::lock_guard const lock(mutex_);
    std::vector<IndependentWritePtr> ended(ended_);
    ended_.clear();  // It keeps its room.
    return ended;
}

}  // namespace sluice
