// What must hold of a world when all has ended. See drawn_world.hpp.
#include "drawn_world.hpp"

#include "system/errno_status.hpp"

namespace sluice::swarm {
namespace {

/// The most seen in 222,101 worlds is 58,765: more means that a world goes round for ever.
constexpr std::int64_t events_at_most = 2'000'000;

std::string of_rank(Rank rank) { return "rank " + std::to_string(rank); }

}  // namespace

std::string DrawnWorld::run() {
    for (std::int64_t phase = 0; phase < limits_.phases; ++phase) {
        Calls calls = draw_phase(phase);
        std::int64_t const before = world_->time().events();
        note_sizes(calls);
        start(calls, random_.of(order_place + phase));
        std::string wrong = world_->run(events_at_most);
        std::int64_t const events = world_->time().events() - before;
        counts_.events += events;
        counts_.most_events = std::max(counts_.most_events, events);
        for (auto call = calls.begin(); call != calls.end() && wrong.empty(); ++call)
            wrong = check(*call);
        for (DrawnCall& call : calls) made_.push_back(std::move(call));
        for (std::int32_t f = 0; f < shape_.queue_count && wrong.empty(); ++f)
            wrong = check_file(f);
        if (wrong.empty()) wrong = check_left_over();
        if (!wrong.empty()) return "phase " + std::to_string(phase) + ": " + wrong;
    }
    auto const has_failed = [this](std::int32_t f) {
        return f >= 0 && world_->file(f).calls > faults_.fail_at;
    };
    counts_.storage_faults = has_failed(faults_.failing_file);
    counts_.ended_ranks = faults_.ends >= 0;
    return {};
}

FileModel& DrawnWorld::model(std::int32_t file) { return models_[static_cast<std::size_t>(file)]; }
FileModel const& DrawnWorld::model(std::int32_t file) const {
    return models_[static_cast<std::size_t>(file)];
}

/// What the ranks that live say, where they say the same; where a rank was lost, the best of it.
Status DrawnWorld::result(DrawnCall const& call) const {
    auto best = Status::count;
    for (Rank r = 0; r < shape_.rank_count; ++r) {
        if (!is_ended(r))
            best = std::min(best, call.operations[static_cast<std::size_t>(r)]->status());
    }
    return best;
}

std::string DrawnWorld::check(DrawnCall& call) {
    ++counts_.calls;
    std::string const title = std::string(sluice::describe(call.way)) + " number " +
                              std::to_string(call.number) + " on file " +
                              std::to_string(call.file) + ": ";
    if (auto wrong = check_statuses(call); !wrong.empty()) return title + wrong;
    Status const status = result(call);
    counts_.failed_calls += status != Status::ok;
    counts_.bad_calls += call.bad_rank >= 0;
    for (Rank r = 0; r < shape_.rank_count; ++r) {
        if (is_ended(r)) continue;
        auto wrong = check_memory(call, r);
        bool const is_read = call.operations[static_cast<std::size_t>(r)]->status() == Status::ok &&
                             call.way == Direction::read;
        if (wrong.empty() && is_read) wrong = check_read(call, r);
        if (!wrong.empty()) return title + of_rank(r) + ": " + wrong;
    }
    note_written(call);
    return {};
}

std::string DrawnWorld::check_statuses(DrawnCall const& call) {
    Status first = Status::ok;
    bool is_first = true;
    for (Rank r = 0; r < shape_.rank_count; ++r) {
        if (is_ended(r)) continue;
        auto const& operation = *call.operations[static_cast<std::size_t>(r)];
        if (!operation.complete()) return of_rank(r) + " has not completed it";
        Status const status = operation.status();
        if (!may_have(call, status))
            return of_rank(r) + " has the status " + sluice::describe(status);
        if (is_first) first = status;
        is_first = false;
        if (status != first && faults_.ends < 0)
            return of_rank(r) + " has the status " + sluice::describe(status) + ", others " +
                   sluice::describe(first);
    }
    return {};
}

/// A fault of which a call could have the status, and nothing else but success.
bool DrawnWorld::may_have(DrawnCall const& call, Status status) const {
    if (call.bad_rank >= 0 && faults_.ends < 0)
        return call.differs ? status != Status::ok : status == Status::count;
    if (status == Status::ok || (status == Status::other && faults_.ends >= 0)) return true;
    if (status == Status::buffer) return faults_.failing_device >= 0;
    if (call.bad_rank >= 0) return true;
    return call.file == faults_.failing_file && status == status_of_errno(faults_.error);
}

/// A write leaves the program's memory as it is; a read touches what it was asked to fill.
std::string DrawnWorld::check_memory(DrawnCall const& call, Rank rank) const {
    DrawnPart const& part = call.parts[static_cast<std::size_t>(rank)];
    Request const& r = part.request;
    std::vector<bool> asked(part.memory.size());
    for (Offset const at : part.in_memory) asked[static_cast<std::size_t>(at)] = true;
    for (std::size_t i = 0; i < asked.size(); ++i) {
        if (!asked[i] && part.memory[i] != unread && !part.filled_later)
            return "memory that is not of the call was changed, at " + std::to_string(i);
    }
    if (r.direction == Direction::read || part.filled_later) return {};
    Bytes i = 0;
    for (Offset const at : part.in_memory) {
        if (part.memory[static_cast<std::size_t>(at)] != value_of(call.number, rank, i++))
            return "the write changed the program's memory, byte " + std::to_string(i - 1);
    }
    return {};
}

/// Bytes behind the end of a file that grows meanwhile may be there or not.
std::string DrawnWorld::check_read(DrawnCall const& call, Rank rank) const {
    DrawnPart const& part = call.parts[static_cast<std::size_t>(rank)];
    Request const& r = part.request;
    FileModel const& file = model(call.file);
    Bytes const count = call.operations[static_cast<std::size_t>(rank)]->bytes();
    Span const sizes = sizes_[static_cast<std::size_t>(call.file)];
    Bytes const least = bytes_before(r, is_ordered_ ? file.certain_size() : sizes.begin);
    Bytes const most = bytes_before(r, sizes.end);
    if (count < least || count > most)
        return "read " + std::to_string(count) + " bytes, not " + std::to_string(least) + " to " +
               std::to_string(most);
    for (Bytes i = 0; i < r.bytes; ++i) {
        auto const number = static_cast<std::size_t>(i);
        std::byte const got = part.memory[static_cast<std::size_t>(part.in_memory[number])];
        Offset const at = part.in_file[number];
        bool const is_right = (i < most && file.may_be(at, got)) || (i >= count && got == unread);
        if (!is_right)
            return "byte " + std::to_string(i) + ", file offset " + std::to_string(at) +
                   ", is wrong: " + std::to_string(std::to_integer<int>(got)) + ", read " +
                   std::to_string(count) + " bytes";
    }
    return {};
}

void DrawnWorld::note_written(DrawnCall const& call) {
    bool const is_write = call.way == Direction::write;
    if (!is_write && !call.differs) return;
    Status const status = result(call);
    std::vector<FileModel::Written> sure, unsure;
    for (Rank r = 0; r < shape_.rank_count; ++r) {
        Request const& request = call.parts[static_cast<std::size_t>(r)].request;
        if (request.direction == Direction::read) continue;
        bool const survives = call.is_delayed && !is_ended(r) && r != call.bad_rank &&
                              faults_.failing_file != call.file && faults_.failing_device < 0;
        auto& all = survives ? sure : unsure;
        bool const had_returned = call.is_delayed && r != call.bad_rank;
        Bytes i = 0;
        for (Offset const at : call.parts[static_cast<std::size_t>(r)].in_file)
            all.push_back({at, value_of(call.number, r, i++), r, had_returned});
    }
    counts_.bytes += std::ssize(sure) + std::ssize(unsure);
    if (status == Status::ok) {
        sure.insert(sure.end(), unsure.begin(), unsure.end());
        return model(call.file).written(sure);
    }
    // A copy that a device fails to make leaves in the collective buffer what was there before.
    if (status == Status::buffer) return model(call.file).spoilt(unsure);
    model(call.file).perhaps_written(unsure);
    model(call.file).written_by_survivors(sure);
}

/// For people: which calls asked to write the byte.
std::string DrawnWorld::who_wrote(std::int32_t file, Offset at) const {
    std::string text;
    for (DrawnCall const& call : made_) {
        if (call.file != file) continue;
        for (std::size_t r = 0; r < call.parts.size(); ++r) {
            Request const& request = call.parts[r].request;
            if (request.direction == Direction::read) continue;
            for (Bytes i = 0; i < request.bytes; ++i) {
                if (call.parts[r].in_file[static_cast<std::size_t>(i)] != at) continue;
                text += "; number " + std::to_string(call.number) + " of rank " +
                        std::to_string(r) + " brings " +
                        std::to_string(
                            std::to_integer<int>(value_of(call.number, static_cast<Rank>(r), i))) +
                        ", " + sluice::describe(call.operations[r]->status());
            }
        }
    }
    return text;
}

std::string DrawnWorld::check_file(std::int32_t f) {
    auto const& bytes = world_->file(f).bytes;
    FileModel const& file = model(f);
    auto const end = std::max<Bytes>(std::ssize(bytes), file.end());
    for (Offset at = 0; at < end; ++at) {
        bool const is_there = at < std::ssize(bytes);
        std::byte const value = is_there ? bytes[static_cast<std::size_t>(at)] : std::byte{0};
        if (is_there || at < file.certain_size()) {
            if (!file.may_be(at, value))
                return "file " + std::to_string(f) + ", offset " + std::to_string(at) +
                       " is wrong: " + std::to_string(std::to_integer<int>(value)) + ", not " +
                       file.describe(at) + who_wrote(f, at);
        }
    }
    if (std::ssize(bytes) < file.certain_size()) return "the file is too short";
    if (std::ssize(bytes) > file.end()) return "the file is too long";
    return {};
}

std::string DrawnWorld::check_left_over() {
    if (faults_.ends >= 0) return {};
    for (std::int32_t f = 0; f < shape_.queue_count; ++f) {
        for (Node node = 0; node < world_->topology().node_count(); ++node) {
            if (auto const left = world_->cb_buffers_in_use(f, node); left != 0)
                return std::to_string(left) + " collective buffers are still in use";
        }
    }
    return {};
}

}  // namespace sluice::swarm
