// What happens to a file with several handles beside accesses. Included at the end of
// random_joint.hpp.
#pragma once
#include "random_joint.hpp"

namespace random_test {

/// Everybody's file pointers begin at the end of the file in a handle for appending.
inline void JointFile::open(Handle& handle, int mode) {
    static constexpr int append = MPI_MODE_RDWR | MPI_MODE_APPEND;
    if (mode == 0) {
        mode = draw().one_of<int>({MPI_MODE_RDWR, MPI_MODE_RDWR, MPI_MODE_RDWR, MPI_MODE_RDWR,
                                   MPI_MODE_RDONLY, MPI_MODE_RDONLY, MPI_MODE_WRONLY, append});
        if (mode == append && &handle != &with_pointer()) mode = MPI_MODE_RDWR;
    }
    if (mode & MPI_MODE_APPEND) look_at_end(everybody());
    handle.mode = mode;
    handle.dirty = {};
    for (auto& team : handle.teams) {
        team.model.set_views(default_views(team.model.ranks));
        team.model.atomic = false;
        team.series = {};
        team.shared = mode & MPI_MODE_APPEND ? size() : 0;
        for (auto& position : team.model.positions) position = team.shared;
    }
    MPI_Info info = hints(draw(), static_cast<int>(handle.own().ranks.size()), step_);
    say("open handle " + std::to_string(handle.number) + " on " +
        std::to_string(handle.own().ranks.size()) + " ranks, mode " + std::to_string(mode) + ", " +
        std::to_string(size()) + " bytes");
    int const creates = mode & MPI_MODE_RDONLY ? 0 : MPI_MODE_CREATE;
    handle.file = access_form::open(path_, mode | creates, handle.comm, info);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    check_position(handle);
}

inline void JointFile::close(Handle& handle) {
    complete_everything();
    complete_independent(step_);
    say("close handle " + std::to_string(handle.number));
    access_form::close(handle.file);
    handle.mode = 0;
    handle.dirty = {};
    for (auto& team : handle.teams) team.series = {};
}

inline void JointFile::open_or_close(Handle& handle) {
    bool const was_open = handle.is_open();
    if (was_open) close(handle);
    if (!was_open || draw().chance(60)) open(handle);
}

inline Views JointFile::dense_views(Element etype, int ranks, std::int64_t displacement) {
    Views views{etype, false, {}};
    views.of.assign(static_cast<std::size_t>(ranks), {displacement, named(etype)});
    return views;
}

inline void JointFile::set_views(Handle& handle) {
    for (std::size_t t = 0; t < handle.teams.size(); ++t) {
        Random random = draw();
        auto const& model = handle.teams[t].model;
        bool const dense = random.chance(35);
        auto views = dense ? dense_views(element_of(random), model.ranks, random.between(0, 200))
                           : ViewMaker(random, model.ranks, model.sizes).make();
        set_view(handle, t, std::move(views), random.chance(30));
    }
}

/// Of one team.
inline void JointFile::set_view(Handle& handle, std::size_t team_number, Views views,
                                bool with_hints) {
    Team& team = handle.teams[team_number];
    complete_everything();
    Clash clash;  // It resets the shared pointer, too.
    Touch const touch{{pointer_byte(handle, team_number)}, true};
    for (int const rank : team.ranks) order_.find(rank, touch, clash);
    arrange(clash);
    team.model.set_views(std::move(views));
    team.shared = 0;
    team.series.active = false;
    Random random = draw();
    if (team_number != handle.mine) return;
    MPI_Info info =
        with_hints ? hints(random, static_cast<int>(team.ranks.size()), step_) : MPI_INFO_NULL;
    auto const& mine = team.model.view(static_cast<int>(handle.rank));
    say("handle " + std::to_string(handle.number) +
        ", set_view: " + std::to_string(mine.displacement) + ", " + team.model.views.etype.name +
        ", " + mine.filetype.text);
    model::Type const filetype(mine.filetype.layout);
    check::ok(MPI_File_set_view(handle.file, static_cast<MPI_Offset>(mine.displacement),
                                team.model.views.etype.type, filetype.get(), "native", info),
              "MPI_File_set_view");
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    check_position(handle);
}

/// Each rank to a place of its own. Relative to the end only where that needs no rounding.
inline void JointFile::seek(Handle& handle) {
    end_split(handle);
    for (std::size_t t = 0; t < handle.teams.size(); ++t) {
        Random random = draw();
        Team& team = handle.teams[t];
        auto const unit = team.model.unit();
        auto const behind = size() - team.model.view(0).displacement;
        int whence = random.one_of({MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END, MPI_SEEK_END});
        bool const rounds = behind < 0 || behind % unit != 0;
        if (!team.same_views() || !is_dense(team.model.view(0)) || rounds) whence = MPI_SEEK_SET;
        if (whence == MPI_SEEK_END) look_at_end(team.ranks);
        for (std::size_t i = 0; i < team.ranks.size(); ++i) {
            auto& at = team.model.positions[i];
            bool const empty = team.model.views.of[i].filetype.layout.size() == 0;
            // MPICH knows no place but zero in a view of nothing.
            auto const target = random.below(empty ? 0 : size() / unit + 10);
            auto const from = whence == MPI_SEEK_SET ? 0 : at;
            auto const distance = target - (whence == MPI_SEEK_END ? behind / unit : from);
            at = target;
            if (team.ranks[i] != check::rank()) continue;
            say("handle " + std::to_string(handle.number) + ", seek to " + std::to_string(target));
            check::ok(MPI_File_seek(handle.file, static_cast<MPI_Offset>(distance), whence),
                      "MPI_File_seek");
        }
    }
    check_position(handle);
}

/// What these ranks do next depends on where the file ends.
inline void JointFile::look_at_end(std::vector<int> const& ranks) {
    Touch const touch{{}, false, true, false, size()};
    Clash clash;
    for (int const rank : ranks) order_.find(rank, touch, clash);
    arrange(clash);
    for (int const rank : ranks) order_.note(rank, touch);
}

/// All ranks, or one of them.
inline void JointFile::get_size(Handle& handle) {
    Random random = draw();
    auto ranks = everybody();
    if (random.chance(50)) ranks = {random.below(check::size())};
    look_at_end(ranks);
    if (!std::count(ranks.begin(), ranks.end(), check::rank())) return;
    MPI_Offset found = -1;
    say("handle " + std::to_string(handle.number) + ", get_size");
    check::ok(MPI_File_get_size(handle.file, &found), "MPI_File_get_size");
    check::is_equal(static_cast<MPI_Offset>(size()), found, "size of the file");
}

inline void JointFile::sync(Handle& handle) {
    complete_everything();
    complete_independent(step_);
    say("sync of handle " + std::to_string(handle.number));
    check::ok(MPI_File_sync(handle.file), "MPI_File_sync");
    handle.dirty = {};
}

/// Other readers than MPI's see what a handle wrote after its sync or close: all bytes where all
/// handles are synced, or those of one handle that no other one has changed meanwhile.
inline void JointFile::look_by_posix() {
    Random random = draw();
    bool const whole = random.chance(60);
    Handle& one = pick(random, Direction::write);
    model::Blocks blocks;
    for (auto const& block : one.dirty.blocks()) {
        bool const others = std::any_of(handles_.begin(), handles_.end(), [&](Handle const& other) {
            return &other != &one && other.dirty.touches({block});
        });
        if (!others) blocks.push_back(block);
    }
    if (whole) blocks = {{0, size()}};
    for (auto& handle : handles_) {
        if (&handle == &one || (whole && !handle.dirty.empty())) sync(handle);
    }
    auto const ranks = everybody();
    meet({ranks.begin(), ranks.end()});
    int const reader = random.below(check::size());
    order_.note(reader, {blocks, false, whole, false, size()});
    if (reader == check::rank()) compare_by_posix(blocks, whole);
}

inline void JointFile::compare_by_posix(model::Blocks const& blocks, bool whole) {
    say("reads " + std::to_string(blocks.size()) + " stretches by POSIX calls");
    auto const found = check::posix_read(path_);
    auto expected = content_;
    if (settings_.plain()) expected.forgive_holes(found);
    if (whole) {
        check::same_bytes(expected.bytes(), found, "file by POSIX");
        return;
    }
    model::Bytes there;
    for (auto const& block : blocks) {
        auto const end = std::min<std::int64_t>(block.offset + block.bytes, std::ssize(found));
        if (block.offset >= end) continue;
        there.insert(there.end(), found.begin() + block.offset, found.begin() + end);
    }
    check::same_bytes(expected.read(blocks), there, "written bytes by POSIX");
}

inline void JointFile::set_size() {
    Random random = draw();
    Handle& handle = pick(random, Direction::write);
    auto const team = random.below(handle.teams.size());
    resize(handle, team, random.below(size() * 3 / 2 + 100));
    if (random.chance(50)) get_size(pick(random, Direction::read));
}

/// A collective call of one team that changes what lies behind a place, and where the file ends.
inline void JointFile::change_end(Handle const& handle, std::size_t team_number,
                                  std::int64_t from) {
    complete_everything();
    complete_independent(step_);
    Touch const touch{{{from, INT64_MAX / 2 - from}}, true, true, false, from};
    Clash clash;
    for (int const rank : handle.teams[team_number].ranks) order_.find(rank, touch, clash);
    arrange(clash);
    for (int const rank : handle.teams[team_number].ranks) order_.note(rank, touch);
}

inline void JointFile::resize(Handle& handle, std::size_t team_number, std::int64_t wanted) {
    auto const from = std::min(size(), wanted);
    change_end(handle, team_number, from);
    if (wanted > from) handle.dirty.add({{from, wanted - from}});
    content_.resize(wanted);
    if (team_number != handle.mine) return;
    say("handle " + std::to_string(handle.number) + ", set_size " + std::to_string(wanted));
    check::ok(MPI_File_set_size(handle.file, static_cast<MPI_Offset>(wanted)), "MPI_File_set_size");
}

/// What the new bytes hold is not defined, so they go again.
inline void JointFile::preallocate() {
    Random random = draw();
    Handle& handle = pick(random, Direction::write);
    if (settings_.plain() && !handle.reads()) return;  // Open MPI by itself reads, and hangs.
    auto const team = random.below(handle.teams.size());
    auto const before = size(), wanted = random.between<std::int64_t>(0, before + 1000);
    change_end(handle, team, 0);
    if (team == handle.mine) {
        say("handle " + std::to_string(handle.number) + ", preallocate " + std::to_string(wanted));
        check::ok(MPI_File_preallocate(handle.file, static_cast<MPI_Offset>(wanted)),
                  "MPI_File_preallocate");
    }
    content_.resize(std::max(before, wanted));
    get_size(pick(random, Direction::read));
    Handle& other = pick(random, Direction::write);
    resize(other, random.below(other.teams.size()), before);
}

inline void JointFile::set_atomic(Handle& handle) {
    complete_everything();
    complete_independent(step_);
    bool const wanted = !handle.own().model.atomic;
    for (auto& team : handle.teams) team.model.atomic = wanted;
    say("handle " + std::to_string(handle.number) + ", set_atomicity " + (wanted ? "on" : "off"));
    check::ok(MPI_File_set_atomicity(handle.file, wanted ? 1 : 0), "MPI_File_set_atomicity");
    int flag = -1;
    check::ok(MPI_File_get_atomicity(handle.file, &flag), "MPI_File_get_atomicity");
    check::is_equal(wanted ? 1 : 0, flag, "atomicity");
}

inline void JointFile::set_info(Handle& handle) {
    complete_everything();
    MPI_Info info = hints(draw(), static_cast<int>(handle.own().ranks.size()), step_);
    if (info == MPI_INFO_NULL) return;
    check::ok(MPI_File_set_info(handle.file, info), "MPI_File_set_info");
    MPI_Info_free(&info);
}

/// Removes the file, and makes one of the same name.
inline void JointFile::recreate() {
    Random random = draw();
    auto const ranks = everybody();
    std::vector<Handle*> reopened;
    for (auto& handle : handles_) {
        if (!handle.is_open()) continue;
        close(handle);
        reopened.push_back(&handle);
    }
    if (reopened.empty()) reopened.push_back(&handles_.front());
    remove(random);
    content_ = model::File(0);
    last_written_ = {};
    bool first = true;
    for (auto* const handle : reopened) {
        bool const exclusive = first && handle->teams.size() == 1;
        open(*handle, first ? MPI_MODE_RDWR | (exclusive ? MPI_MODE_EXCL : 0) : 0);
        if (first) meet({ranks.begin(), ranks.end()});
        first = false;
    }
}

/// By MPI_File_delete, or by the close of a handle that removes it.
inline void JointFile::remove(Random& random) {
    auto const ranks = everybody();
    meet({ranks.begin(), ranks.end()});
    Handle& whole = handles_.front();
    int const rank = random.below(check::size());
    if (random.chance(30)) {
        open(whole, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
        Form const form{Direction::write, false, false, Form::blocking};
        auto const parts = whole.own().model.plan({}, key(), 0, lengths());
        access(whole, 0, form, parts);
        close(whole);
        meet({ranks.begin(), ranks.end()});
    } else if (rank == check::rank()) {
        say("MPI_File_delete");
        check::ok(MPI_File_delete(path_.c_str(), MPI_INFO_NULL), "MPI_File_delete");
    }
    if (rank == check::rank()) {
        check::is_true(::access(path_.c_str(), F_OK) != 0, "the removed file is gone");
    }
    meet({ranks.begin(), ranks.end()});
}

}  // namespace random_test
