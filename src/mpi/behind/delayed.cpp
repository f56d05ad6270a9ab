// What a call must wait for that earlier calls have left behind. See delayed.hpp.
#include "mpi/behind/delayed.hpp"

#include "mpi/behind/rank_journal.hpp"
#include "mpi/behind/write_behind.hpp"
#include "mpi/errors.hpp"
#include "mpi/progress/progress.hpp"
#include "system/environment.hpp"
#include "system/launcher.hpp"

#include <algorithm>
#include <map>

namespace sluice {
namespace {

/// Set by the first file that may delay or read ahead, and never taken back: what it delayed may be
/// under way for long after its close has begun.
std::atomic<bool> any_is_ordered{false};

/// Of all files that this process has open. A file may have several handles.
class Handles {
public:
    void add(FileIdentity const& file, std::shared_ptr<Delayed> const& handle) {
        std::lock_guard const lock(mutex_);
        all_.emplace(file, handle);
    }
    /// And those that have ended.
    void remove(FileIdentity const& file, Delayed const* handle) {
        std::vector<std::shared_ptr<Delayed>> const all = of(file);  // None ends under the lock.
        std::lock_guard const lock(mutex_);
        auto const [first, last] = all_.equal_range(file);
        for (auto one = first; one != last;) {
            auto const found = one->second.lock();
            one = !found || found.get() == handle ? all_.erase(one) : std::next(one);
        }
    }
    [[nodiscard]] std::vector<std::shared_ptr<Delayed>> of(FileIdentity const& file) const {
        std::lock_guard const lock(mutex_);
        auto const [first, last] = all_.equal_range(file);
        return open(first, last);
    }
    [[nodiscard]] std::vector<std::shared_ptr<Delayed>> all() const {
        std::lock_guard const lock(mutex_);
        return open(all_.begin(), all_.end());
    }

private:
    using Map = std::multimap<FileIdentity, std::weak_ptr<Delayed>>;
    static std::vector<std::shared_ptr<Delayed>> open(Map::const_iterator first,
                                                      Map::const_iterator last) {
        std::vector<std::shared_ptr<Delayed>> found;
        found.reserve(static_cast<std::size_t>(std::distance(first, last)));
        for (; first != last; ++first) {
            if (auto handle = first->second.lock()) found.push_back(std::move(handle));
        }
        return found;
    }

    mutable std::mutex mutex_;
    Map all_;
};
Handles& handles() {
    static auto* const only = new Handles;
    return *only;
}

}  // namespace

std::shared_ptr<Delayed> Delayed::create(DelayedFile file,
                                         std::function<void(Operation const&)> ended) {
    std::shared_ptr<Delayed> const made(new Delayed(std::move(file), std::move(ended)));
    if (made->file_.fd >= 0) handles().add(made->file_.journaled.identity, made);
    if (made->ordered()) any_is_ordered = true;
    return made;
}

Delayed::Delayed(DelayedFile file, std::function<void(Operation const&)> ended)
    : file_(std::move(file)),
      ended_(std::move(ended)),
      writes_(std::make_unique<WriteBehind>(file_)) {}

Delayed::~Delayed() { forget(); }

void Delayed::forget() { handles().remove(file_.journaled.identity, this); }

bool Delayed::minds_others() const noexcept {
    bool const others_may = any_is_ordered.load(std::memory_order_relaxed) ||
                            settings().hints.write_behind > 0;  // Of all ranks alike.
    return ordered() || (file_.fd >= 0 && others_may);
}

TakenWrite Delayed::take_collective(Call& call, bool may) {
    TakenWrite taken{nullptr, call.request.direction, next_record()};
    if (taken.direction != Direction::write) return taken;
    writes_->number(call);
    if (may) taken.kept = writes_->take(call, true);
    return taken;
}

bool Delayed::leave(std::shared_ptr<Operation> const& operation, TakenWrite const& taken) {
    if (taken.direction == Direction::write) writes_->note_collective(operation, taken.record);
    return taken.kept && left_untold(operation, *taken.kept);
}

/// Other ranks are told last: a call of theirs may then wait for this operation.
bool Delayed::left_untold(std::shared_ptr<Operation> const& operation, KeptWrite& kept) {
    leave(operation);
    if (writes_->tell_others(*operation, kept)) return true;
    std::lock_guard const lock(mutex_);
    std::erase(left_, operation);
    return false;
}

void Delayed::leave(std::shared_ptr<Operation> const& operation) {
    std::lock_guard const lock(mutex_);
    left_.push_back(operation);
}

bool Delayed::take_independent(Call& call) {
    if (call.request.direction != Direction::write) return false;
    if (!writes_->take(call, false)) {
        writes_->independent().wait_for(reach_of(call.request));
        return false;
    }
    writes_->independent().start(std::make_shared<IndependentWrite>(std::move(call)));
    return true;
}

std::vector<std::shared_ptr<Operation>> Delayed::left() const {
    std::lock_guard const lock(mutex_);
    return left_;
}

std::function<void()> Delayed::poke() const {
    return [team = file_.team.get()] { team->poke(); };
}

/// An operation of which this rank does not know yet what all ranks touch is asked again.
void Delayed::wait_for_left(Span reach) {
    for (auto const& operation : left()) {
        Progress::instance().drive(
            {.done = [&] { return !operation->may_touch(reach); }, .poke = poke()});
    }
}

/// The queue knows of all bytes of its operations; where journals have bytes of two ranks' writes,
/// their order is not known when the ranks have ended, so these are never under way together. A
/// journal knows the order of its own rank's, but a durable one has to be clear of the bytes.
bool Delayed::comes_behind(Follows follows, Before what) const {
    if (follows == Follows::operations)
        return !(what == Before::write && writes_->takes_disjoint());
    return follows == Follows::independent && what == Before::write && !wants_durable_journal();
}

void Delayed::wait_for(Span reach, Before what, Follows follows) {
    if (!minds_others() || reach.empty()) return;
    bool const behind = comes_behind(follows, what);
    for (auto const& handle : handles().of(file_.journaled.identity)) {
        bool const own = behind && handle.get() == this;
        if (!own || follows != Follows::operations) handle->wait_for_left(reach);
        if (own && follows == Follows::independent)
            writes_->independent().wait_for_few(reach);
        else
            handle->writes_->independent().wait_for(reach);
    }
    writes_->wait_for_others(reach);
    await_records_of_peers(poke());
    if (what == Before::read || !wants_durable_journal()) return;
    wait_until_void(reach);
    if (what == Before::write) clear_own_journal(file_.journaled.identity, reach, poke());
}

/// But for records of a file that could not be made durable: late_errors_and_journal() tells of
/// them.
void Delayed::wait_until_void(Span reach) {
    (void)wait_for_own_journal(file_.journaled.identity, reach, poke());
    for (auto const& handle : handles().of(file_.journaled.identity))
        handle->writes_->wait_until_void_on_others(reach);
}

Offset Delayed::end_of_left() const {
    Offset end = writes_->independent().end();
    for (auto const& operation : left()) {
        Progress::instance().drive(
            {.done = [&] { return operation->complete() || operation->all_have_called(); },
             .poke = poke()});
        if (!operation->complete() && operation->direction() == Direction::write)
            end = std::max(end, operation->summary_exchange().reach.end);
    }
    return end;
}

Offset Delayed::end_of_own() const {
    if (!minds_others()) return 0;
    Offset end = 0;
    for (auto const& handle : handles().of(file_.journaled.identity))
        end = std::max(end, handle->end_of_left());
    return end;
}

void Delayed::wait_for_marks(UnfinishedMarks& marks, Span range,
                             std::function<void()> const& poke) {
    if (!marks.is_held_by_others(range)) return;
    Progress::instance().drive({.mpi_done = [&] { return !marks.is_held_by_others(range); },
                                .mpi_often = true,
                                .poke = poke,
                                .reason = TraceWait::other_writer});
}

void Delayed::wait_for_others_of(int fd, FileIdentity const& file,
                                 std::function<void()> const& poke) {
    if (launched().ranks == 1) return;
    UnfinishedMarks marks(marks_of_node(), fd, file);
    wait_for_marks(marks, {0, endless}, poke);
}

void Delayed::wait_for_all() {
    for (auto const& handle : handles().all()) {
        if (handle->ordered()) handle->wait_for({0, endless}, Before::write);
    }
}

void Delayed::drain() {
    writes_->independent().wait_for({0, endless});
    (void)wait_for_own_journal(file_.journaled.identity, {0, endless}, poke());
}

bool Delayed::is_drained(std::uint64_t below) const {
    return !writes_->independent().any_is_under_way() &&
           !own_journal_needs(file_.journaled.identity, below) &&
           std::ranges::all_of(left(), [](auto const& one) { return one->complete(); });
}

bool Delayed::has(Operation const& operation) const {
    return std::ranges::any_of(left(), [&](auto const& one) { return one.get() == &operation; });
}

void Delayed::settle() {
    for (auto const& operation : left()) {
        Progress::instance().drive({.done = [&] { return operation->complete(); }, .poke = poke()});
    }
    account();
}

void Delayed::account_for_independent() {
    for (auto const& write : writes_->independent().take_ended()) {
        std::lock_guard const lock(mutex_);
        late_.own = agreed(late_.own, write->transfer.status());
    }
}

void Delayed::account() {
    std::vector<std::shared_ptr<Operation>> ended;
    {
        std::lock_guard const lock(mutex_);
        std::erase_if(left_, [&](auto const& operation) {
            return operation->complete() && (ended.push_back(operation), true);
        });
    }
    if (ordered()) account_for_independent();
    if (ordered()) writes_->withdraw_overwritten();
    for (auto const& operation : ended) {
        ended_(*operation);
        if (operation->status() == Status::ok) continue;
        if (!operation->error()) {
            log_error(file_.journaled.path + ": " + operation->title(),
                      {.status = operation->status(),
                       .what = "another rank met an error after the call had returned here"});
        }
        std::lock_guard const lock(mutex_);
        late_.collective = agreed(late_.collective, operation->status());
    }
}

LateErrors Delayed::late_errors() {
    account();
    std::lock_guard const lock(mutex_);
    return std::exchange(late_, {});
}

LateErrors Delayed::late_errors_and_journal() {
    LateErrors late = late_errors();
    if (ordered())
        late.own = agreed(late.own, error_of_own_journal(file_.journaled.identity, poke()).status);
    return late;
}

void Delayed::note_speed(Bytes bytes, double seconds) noexcept {
    writes_->note_speed(bytes, seconds);
}

void Delayed::note_speed(Operation const& operation) noexcept { writes_->note_speed(operation); }

BehindStatistics Delayed::statistics() const { return writes_->statistics(); }

}  // namespace sluice
