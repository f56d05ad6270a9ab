// The accesses to a file with several handles, and the meetings that order them. Included at the
// end of random_joint.hpp.
#pragma once
#include "random_joint.hpp"

namespace random_test {

/// A handle that does this. There is always one, and if it must be opened for it.
inline Handle& JointFile::pick(Random& random, Direction direction) {
    std::vector<Handle*> there;
    for (auto& handle : handles_) {
        if (handle.does(direction)) there.push_back(&handle);
    }
    return there.empty() ? able(handles_.front(), direction) : *there[random.below(there.size())];
}

/// Opens the handle anew if that is needed.
inline Handle& JointFile::able(Handle& handle, Direction direction) {
    if (handle.does(direction)) return handle;
    if (handle.is_open()) close(handle);
    open(handle, MPI_MODE_RDWR);
    return handle;
}

/// All teams of a handle, one after the other, or one of them.
inline std::vector<std::size_t> JointFile::acting(Random& random, Handle const& handle) {
    std::vector<std::size_t> teams(handle.teams.size());
    std::iota(teams.begin(), teams.end(), std::size_t{0});
    random.shuffle(teams);
    if (random.chance(50)) teams.resize(1);
    return teams;
}

inline Form JointFile::form_of(Random& random, Direction direction, bool atomic) {
    Form form{direction, random.chance(40), false, Form::blocking};
    int const way = random.below(100);
    if (way < 15 && settings_.has("split")) form.way = Form::split;
    bool const may_wait = !blocking_ && !atomic && settings_.has("nonblocking");
    if (way >= 85 && may_wait) form.way = Form::nonblocking;
    return form;
}

inline void JointFile::transfer() {
    Random random = draw();
    auto const direction = random.chance(55) ? Direction::write : Direction::read;
    Handle& handle = pick(random, direction);
    Form const form = form_of(random, direction, handle.own().model.atomic);
    Demand const demand{direction, form.pointer, false, random.one_of({50, 85, 100})};
    for (auto const team : acting(random, handle)) {
        access(handle, team, form, handle.teams[team].model.plan(demand, key(), 0, lengths()));
    }
    if (direction == Direction::write) look_at_written(random);
}

/// Most of what could be wrong with a write shows only if somebody looks at once.
inline void JointFile::look_at_written(Random& random) {
    if (random.chance(20)) overwrite(last_written_);
    if (random.chance(50)) read_back(last_written_);
    if (random.chance(15)) get_size(pick(random, Direction::write));
    if (random.chance(8)) seek(pick(random, Direction::write));
}

/// Some ranks, each by itself.
inline void JointFile::independent() {
    Random random = draw();
    auto const direction = random.chance(50) ? Direction::write : Direction::read;
    Handle& handle = pick(random, direction);
    Form form{direction, random.chance(40), true, Form::blocking};
    if (!blocking_ && settings_.has("nonblocking") && random.chance(20)) {
        form.way = Form::nonblocking;
    }
    Demand const demand{direction, form.pointer, true, random.one_of({30, 60, 100})};
    for (auto const team : acting(random, handle)) {
        access(handle, team, form, handle.teams[team].model.plan(demand, key(), 0, lengths()));
    }
    if (direction == Direction::write) look_at_written(random);
}

inline Touch JointFile::touch_of(Handle const& handle, std::size_t team, Form form,
                                 Part const& part) const {
    bool const by_mpi = form.independent || form.kind != Form::not_shared;
    Demand const demand{form.direction, form.pointer, by_mpi};
    Touch touch;
    touch.blocks = handle.teams[team].model.touched(demand, part.in_file);
    touch.writes = form.direction == Direction::write;
    touch.loose = form.way != Form::blocking;
    touch.size = size();
    return touch;
}

/// The MPIs' own collective writes may write back what they read between the pieces of all ranks,
/// and with Open MPI a rank may return before another one has written its bytes. Of equal data
/// nobody knows which rank writes which.
inline void JointFile::widen(Form form, bool equal_data, std::vector<Touch>& touches) const {
    bool const by_mpi = settings_.plain() || form.kind == Form::ordered;
    bool const collective = form.direction == Direction::write && !form.independent;
    if (!equal_data && !(collective && by_mpi)) return;
    std::int64_t begin = INT64_MAX, end = 0;
    for (auto const& touch : touches) {
        if (touch.blocks.empty()) continue;
        begin = std::min(begin, touch.blocks.front().offset);
        end = std::max(end, model::end_of(touch.blocks));
    }
    for (auto& touch : touches) {
        if (begin < end) touch.blocks.push_back({begin, end - begin});
    }
}

/// One access of a team: as the model has it, and by the rank itself if it is in the team.
inline void JointFile::access(Handle& handle, std::size_t team_number, Form form,
                              std::vector<Part> parts, bool equal_data) {
    if (settings_.is_too_long(parts)) return;
    Team& team = handle.teams[team_number];
    if (!form.independent || form.pointer) end_split(handle);
    if (form.way == Form::split || pending_.of_file(index_).size() > 8) complete_all(step_);
    auto const data_key = key();
    if (form.direction == Direction::read) leave_unknown(content_, parts);
    std::vector<Touch> touches;
    Clash clash;
    for (auto const& part : parts) touches.push_back(touch_of(handle, team_number, form, part));
    widen(form, equal_data, touches);
    for (std::size_t i = 0; i < parts.size(); ++i) order_.find(team.ranks[i], touches[i], clash);
    arrange(clash);
    reach_pointer(handle, team_number, form, parts);
    note(form, parts);
    model::Bytes mine;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        Part& part = parts[i];
        order_.note(team.ranks[i], touches[i]);
        if (form.pointer) team.model.positions[i] = part.request.position_after();
        model::Bytes data;
        if (form.direction == Direction::write) {
            int const whose = equal_data ? 0 : static_cast<int>(i);
            data = model::data_of(data_key, whose, 0, part.request.bytes());
            content_.write(part.in_file, data);
            handle.dirty.add(part.in_file);
            if (!part.in_file.empty()) {
                last_written_ = {part.in_file.front().offset, model::end_of(part.in_file)};
            }
        } else {
            data = content_.read(part.in_file);
            part.moved = static_cast<std::int64_t>(data.size());
        }
        if (team.ranks[i] == check::rank()) mine = std::move(data);
    }
    if (team_number == handle.mine) move(handle, form, parts[handle.rank], mine);
}

inline void JointFile::move(Handle& handle, Form form, Part const& part, model::Bytes const& data) {
    if (form.independent && part.request.bytes() == 0) return;
    auto transfer = std::make_shared<Transfer>(form, part, data);
    say(settings_.trace ? "handle " + std::to_string(handle.number) + ", " + transfer->text() : "");
    transfer->start(handle.file);
    if (form.way == Form::nonblocking) pending_.add(entry(step_, transfer));
    if (form.way == Form::split) handle.split = transfer;
    if (form.independent && form.pointer && part.moved < part.request.bytes()) {
        // MPIs differ in where their own calls leave the pointer at the end of the file.
        MPI_File_seek(handle.file, static_cast<MPI_Offset>(position(handle)), MPI_SEEK_SET);
    }
    check_position(handle);
}

/// Parts of one rank, or of all, that hold these bytes; others where the view does not show them.
inline std::vector<Part> JointFile::parts_for(Handle const& handle, std::size_t team_number,
                                              Direction direction, Range range, bool all) {
    Team const& team = handle.teams[team_number];
    auto const unit = team.model.unit();
    auto const one = draw().below(team.ranks.size());
    std::vector<Part> parts;
    for (std::size_t i = 0; i < team.ranks.size(); ++i) {
        int const rank = static_cast<int>(i);
        auto const& view = team.model.view(rank);
        bool const shows = is_dense(view) && view.displacement <= range.begin;
        auto const offset = shows ? (range.begin - view.displacement) / unit : 0;
        auto const end = view.displacement + offset * unit +
                         (range.end - view.displacement - offset * unit + unit - 1) / unit * unit;
        bool const wanted = shows && (all || i == one) && end <= most_;
        auto const bytes = wanted ? end - view.displacement - offset * unit : 0;
        parts.push_back(simple_part(team.model, rank, offset, bytes));
        if (team.model.strays({direction}, parts.back(), size())) {
            parts.back() = simple_part(team.model, rank, offset, 0);
        }
    }
    return parts;
}

/// Through any handle that can, by one rank or by all.
inline void JointFile::read_back(Range range) {
    Random random = draw();
    Handle& handle = pick(random, Direction::read);
    auto const team = random.below(handle.teams.size());
    Form const form{Direction::read, false, random.chance(50), Form::blocking};
    access(handle, team, form, parts_for(handle, team, Direction::read, range, random.chance(30)));
}

/// By one rank, through any handle that can.
inline void JointFile::overwrite(Range range) {
    Random random = draw();
    Handle& handle = pick(random, Direction::write);
    auto const team = random.below(handle.teams.size());
    Form const form{Direction::write, false, random.chance(50), Form::blocking};
    if (random.chance(50)) {
        auto const part = random.below(range.bytes());
        range = {range.begin + part, range.begin + part + random.below(range.bytes() - part) + 1};
    }
    access(handle, team, form, parts_for(handle, team, Direction::write, range, false));
}

inline void JointFile::end_split(Handle& handle) {
    if (!handle.split) return;
    auto const split = std::move(handle.split);
    handle.split.reset();
    split->end_split(handle.file);
    check_position(handle);
}

inline void JointFile::complete_everything() {
    for (auto& handle : handles_) end_split(handle);
    complete_all(step_);
    order_.complete();
}

inline void JointFile::arrange(Clash const& clash) {
    if (!clash.any) return;
    complete_everything();
    if (clash.pairs.empty()) return;
    if (clash.pairs.size() <= 4 && draw().chance(40))
        follow(clash);
    else
        meet(clash.ranks());
}

/// Each rank waits for a message of those that it must follow.
inline void JointFile::follow(Clash const& clash) {
    static constexpr int tag = 900;
    for (auto const& [rank, other] : clash.pairs) {
        order_.follow(rank, other);
        int word = step_;
        if (other == check::rank()) {
            say("message to rank " + std::to_string(rank));
            MPI_Send(&word, 1, MPI_INT, rank, tag, MPI_COMM_WORLD);
        }
        if (rank == check::rank()) {
            say("message from rank " + std::to_string(other));
            MPI_Recv(&word, 1, MPI_INT, other, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
}

/// A collective call of which no rank returns before all have come. One half of the world will do
/// where all of these ranks are in it.
inline void JointFile::meet(std::set<int> const& ranks) {
    counts_.note(Counts::meetings);
    Random random = draw();
    MPI_Comm comm = communicators_.of(random.one_of({Group::world, Group::duplicate}));
    std::vector<int> meeting = everybody();
    for (auto const& half : teams_of(Group::half)) {
        bool const enough = std::includes(half.begin(), half.end(), ranks.begin(), ranks.end());
        if (!enough || random.chance(50)) continue;
        comm = communicators_.half;
        meeting = half;
    }
    order_.meet(meeting);
    int const call = random.below(5);
    if (!std::count(meeting.begin(), meeting.end(), check::rank())) return;
    static constexpr std::array names{"barrier", "allreduce", "allgather", "alltoall", "ibarrier"};
    say(names[static_cast<std::size_t>(call)] + (" of " + std::to_string(meeting.size())));
    std::vector<int> out(meeting.size(), 1), in(meeting.size());
    MPI_Request request = MPI_REQUEST_NULL;
    if (call == 0) MPI_Barrier(comm);
    if (call == 1) MPI_Allreduce(out.data(), in.data(), 1, MPI_INT, MPI_SUM, comm);
    if (call == 2) MPI_Allgather(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm);
    if (call == 3) MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, comm);
    if (call == 4) MPI_Ibarrier(comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// Split calls leave open when the pointer moves.
inline void JointFile::check_position(Handle& handle) {
    if (handle.split || !handle.is_open()) return;
    check::is_equal(static_cast<MPI_Offset>(position(handle)), access_form::position(handle.file),
                    "file pointer");
}

}  // namespace random_test
