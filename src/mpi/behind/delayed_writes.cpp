// What a call must wait for that earlier calls have delayed. See File::wait_for_delayed().
#include "file/plan/overlap.hpp"
#include "mpi/behind/rank_journal.hpp"
#include "mpi/file/file.hpp"

#include <sys/stat.h>

namespace sluice {

/// Set by the first file that may delay or read ahead, and never taken back: what it delayed may be
/// under way for long after its close has begun.
static std::atomic<bool> any_is_ordered{false};

void File::note_ordered() noexcept {
    if (ordered) any_is_ordered = true;
}

bool File::minds_others() const noexcept {
    return ordered || (fd_ >= 0 && any_is_ordered.load(std::memory_order_relaxed));
}

bool File::leave_behind(std::shared_ptr<Operation> const& operation, KeptWrite& kept) {
    {
        std::lock_guard const lock(mutex_);
        left_behind_.push_back(operation);
    }
    if (behind.tell_others(*operation, kept, [&] { team->poke(); })) return true;
    std::lock_guard const lock(mutex_);
    std::erase(left_behind_, operation);
    return false;
}

/// An operation of which this rank does not know yet what all ranks touch is asked again.
void File::wait_for_own_delayed(Span reach) {
    std::vector<std::shared_ptr<Operation>> delayed;
    {
        std::lock_guard const lock(mutex_);
        delayed = left_behind_;
    }
    for (auto const& operation : delayed) {
        Progress::instance().drive(
            {.done = [&] { return !operation->may_touch(reach); }, .poke = [&] { team->poke(); }});
    }
    behind.wait_for_independent(reach);
}

void File::wait_for_delayed(Span reach, bool in_queue) {
    if (!minds_others() || reach.empty()) return;
    for (auto const& other : open_files()) {
        if (other->identity != identity) continue;
        if (other.get() != this || !in_queue) other->wait_for_own_delayed(reach);
        if (other.get() == this && in_queue) behind.wait_for_independent(reach);
    }
    behind.wait_for_others(reach, [&] { team->poke(); });
}

void File::wait_until_void(Span reach) {
    if (!minds_others() || reach.empty() || !wants_durable_journal()) return;
    (void)wait_for_own_journal(identity, reach);  // late_error_of_all() tells of its error.
    for (auto const& other : open_files()) {
        if (other->identity == identity)
            other->behind.wait_until_void_on_others(reach, [&] { team->poke(); });
    }
}

void File::clear_journals(Span reach) {
    if (!minds_others() || reach.empty() || !wants_durable_journal()) return;
    wait_until_void(reach);
    clear_own_journal(identity, reach);
}

bool File::is_beyond_end(Request const& request) const noexcept {
    struct stat about{};
    return request.direction == Direction::read && request.bytes > 0 && fstat(fd_, &about) == 0 &&
           reach_of(request).end > about.st_size;
}

void File::drop_read_ahead(Span changed) {
    if (!minds_others() || changed.empty()) return;
    for (auto const& other : open_files()) {
        if (other->identity == identity) other->ahead.drop(changed);
    }
}

void wait_for_all_delayed() {
    for (auto const& file : open_files()) {
        if (!file->ordered) continue;
        file->wait_for_delayed({0, endless}, false);
        file->clear_journals({0, endless});
    }
}

}  // namespace sluice
