// How many reads are made ahead, and how ranks agree that these are the right ones. See
// read_ahead.hpp.
#include "mpi/file/read_ahead.hpp"

#include "file/plan/overlap.hpp"
#include "file/run/user_copies.hpp"
#include "mpi/file/file.hpp"

#include <algorithm>
#include <sys/stat.h>

namespace sluice {
namespace {

/// File systems note the time of a change as coarsely as this: a second one may not show.
constexpr std::int64_t tick_nanoseconds = 20'000'000;

std::int64_t nanoseconds_since(std::timespec const& then) noexcept {
    std::timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return (now.tv_sec - then.tv_sec) * 1'000'000'000 + (now.tv_nsec - then.tv_nsec);
}

std::shared_ptr<BoundedMemory> const& memory_of_reads(Bytes rank_bytes) {
    static auto* const only = new std::shared_ptr<BoundedMemory>(BoundedMemory::create(rank_bytes));
    return *only;
}

/// Half of the operations that may be under way are left to the calls of the program.
constexpr int most_ahead = static_cast<int>(operations_under_way / 2);

/// Guesses that were wrong twice running are only made again once the reads show a period.
constexpr int most_misses = 2;

/// What one rank can say of a read that was made ahead, and of those that come next. All ranks'
/// largest value holds: the fewest reads that some rank foretells, or that one has guessed wrong.
struct Verdict {
    static constexpr std::uint64_t wrong = 1000;

    static std::uint64_t right(int foretold) noexcept {
        return static_cast<std::uint64_t>(most_ahead - foretold);
    }
    static int foretold(std::uint64_t all) noexcept { return most_ahead - static_cast<int>(all); }
};

/// Whether a file of so many bytes has those of the request.
bool lies_within(Request const& request, Bytes file_bytes) noexcept {
    Span const reach = reach_of(request);
    return reach.empty() ||
           (request.view.displacement >= 0 && reach.begin >= 0 && reach.end <= file_bytes);
}

std::uint64_t largest_of_all(File const& file, std::uint64_t mine) {
    NodeReduction::Words words{};
    words[0] = mine;
    return file.largest(words)[0];
}

}  // namespace

ReadAhead::Stamp ReadAhead::stamp() const noexcept {
    struct stat about{};
    if (fstat(fd_, &about) != 0) return {};
    if (nanoseconds_since(about.st_ctim) < tick_nanoseconds) return {};
    return {about.st_ctim, about.st_size};
}

Bytes ReadAhead::file_bytes() const noexcept {
    struct stat about{};
    return fstat(fd_, &about) == 0 ? about.st_size : 0;
}

/// Of the reads that come next, how many this rank knows and has memory for. The first read of all
/// is worth a try.
int ReadAhead::count_foretold() const {
    auto const& memory = memory_of_reads(rank_bytes_);
    if (!memory || (misses_in_a_row_ >= most_misses && !sequence_.was_foretold())) return 0;
    if (sequence_.has_begun()) return 1;
    Bytes const in_file = file_bytes();
    Bytes bytes = 0;
    for (int count = 0; count < most_ahead; ++count) {
        auto const next = sequence_.next(count + 1);
        if (next) bytes += next->bytes;
        if (!next || bytes > memory->bytes() || !lies_within(*next, in_file)) return count;
    }
    return most_ahead;
}

/// One of those that were counted. Behind a first read comes one of the bytes that follow those of
/// all ranks: so does a loop over the steps of a variable begin.
std::optional<Request> ReadAhead::guess(int ahead, Span all) const {
    if (!sequence_.has_begun()) return sequence_.next(ahead);
    Request const& last = sequence_.last();
    Request const next = moved(last, last.bytes > 0 ? all.bytes() : 0);
    return lies_within(next, file_bytes()) ? std::optional(next) : std::nullopt;
}

bool ReadAhead::is_right(File& file, Prepared const& prepared, Call const& call) const {
    if (distance_between(prepared.request, call.request) != 0) return false;
    file.wait(*prepared.operation);
    Stamp const now = stamp();
    bool const unchanged = prepared.stamp.bytes >= 0 && now.bytes == prepared.stamp.bytes &&
                           now.changed.tv_sec == prepared.stamp.changed.tv_sec &&
                           now.changed.tv_nsec == prepared.stamp.changed.tv_nsec;
    return unchanged && !dropped_ && prepared.operation->status() == Status::ok &&
           prepared.operation->bytes() == call.request.bytes;
}

/// Nobody waits for what was guessed wrong: its memory is taken back later.
void ReadAhead::give_up() {
    for (Prepared& prepared : prepared_) given_up_.push_back(std::move(prepared));
    prepared_.clear();
    depth_ = 1;
}

void ReadAhead::forget_ended() {
    std::erase_if(given_up_,
                  [](Prepared const& prepared) { return prepared.operation->complete(); });
}

std::shared_ptr<Operation> ReadAhead::take(File& file, Call& call, bool fits, Error& error) {
    forget_ended();
    sequence_.add(call.request);
    int const mine = fits ? count_foretold() : 0;
    call.foretold = static_cast<std::uint8_t>(mine);
    if (prepared_.empty()) return nullptr;
    bool const right = fits && is_right(file, prepared_.front(), call);
    auto const all = largest_of_all(file, right ? Verdict::right(mine) : Verdict::wrong);
    if (all == Verdict::wrong) {
        ++statistics_.misses;
        ++misses_in_a_row_;
        give_up();
        return nullptr;
    }
    ++statistics_.hits;
    misses_in_a_row_ = 0;
    depth_ = std::min(2 * depth_, most_ahead);
    foretold_ = Verdict::foretold(all);
    Prepared const prepared = std::move(prepared_.front());
    prepared_.pop_front();
    if (call.request.bytes > 0)
        error = copy_user(call.user, Direction::read, *call.request.memory, prepared.memory.data,
                          call.request.bytes, memory_of_reads(rank_bytes_)->all());
    return prepared.operation;
}

/// As many on all ranks.
void ReadAhead::prepare(File& file, Summary const& all, bool was_ahead) {
    auto const count = static_cast<std::size_t>(
        std::min(depth_, was_ahead ? foretold_ : static_cast<int>(all.foretold)));
    if (prepared_.empty()) dropped_ = false;
    while (prepared_.size() < count)
        prepare_one(file, guess(static_cast<int>(prepared_.size()) + 1, all.reach));
}

/// A rank without a guess, or without memory, takes part and brings nothing.
void ReadAhead::prepare_one(File& file, std::optional<Request> const& next) {
    auto const& memory = memory_of_reads(rank_bytes_);
    auto part = next && memory ? memory->take(next->bytes) : std::nullopt;
    Prepared prepared;
    Call call;
    call.request.direction = Direction::read;
    if (part) {
        prepared.stamp = stamp();
        call.request = prepared.request = *next;
        call.user = part->data;
        prepared.memory = std::move(*part);
        file.delayed->wait_for(reach_of(*next), Before::read, Follows::operations);
    }
    prepared.operation = file.start(std::move(call), true);
    prepared_.push_back(std::move(prepared));
}

void ReadAhead::clear() noexcept {
    prepared_.clear();
    given_up_.clear();
}

bool ReadAhead::has(Operation const& operation) const noexcept {
    auto const is_it = [&](Prepared const& one) { return one.operation.get() == &operation; };
    return std::ranges::any_of(prepared_, is_it) || std::ranges::any_of(given_up_, is_it);
}

void ReadAhead::drop(Span changed) noexcept {
    if (!changed.empty()) dropped_ = true;
}

}  // namespace sluice
