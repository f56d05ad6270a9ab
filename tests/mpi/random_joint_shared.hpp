// Calls of the shared file pointer on a file with several handles: in the order of the ranks, by
// one rank after the other, or by all with equal data, so that their order shows nowhere. Included
// at the end of random_joint.hpp.
#pragma once
#include "random_joint.hpp"

namespace random_test {

/// Ranks that share a pointer must have one view.
inline void JointFile::shared_pointer() {
    Random random = draw();
    auto const direction = random.chance(60) ? Direction::write : Direction::read;
    Handle& handle = able(with_pointer(), direction);
    auto const team = random.below(handle.teams.size());
    auto const& model = handle.teams[team].model;
    if (!handle.teams[team].same_views()) {
        set_view(handle, team, dense_views(model.views.etype, model.ranks, random.between(0, 50)));
    }
    end_split(handle);
    auto const written = last_written_.begin - model.view(0).displacement;
    auto target = random.below(size() / model.unit() + 10);
    if (random.chance(60) && is_dense(model.view(0)) && written > 0)
        target = written / model.unit();
    if (random.chance(50)) seek_shared(handle, team, target);
    switch (random.below(5)) {
    case 0:
    case 1:
        ordered(random, handle, team, direction);
        break;
    case 2:
        all_the_same(random, handle, team);
        break;
    default:
        each_alone(random, handle, team, direction);
    }
    if (random.chance(50)) check_shared(random, handle, team);
    if (direction == Direction::write) look_at_written(random);
}

inline void JointFile::ordered(Random& random, Handle& handle, std::size_t team_number,
                               Direction direction) {
    Team& team = handle.teams[team_number];
    Form form{direction, false, false, Form::blocking, Form::ordered};
    // While its own split call is under way Open MPI refuses some calls on other files.
    if (only_file_ && settings_.has("split") && random.chance(25)) form.way = Form::split;
    Demand demand{direction, false, true, random.one_of({60, 100})};
    demand.from_shared = team.shared;
    auto parts = team.model.plan(demand, key(), 0, lengths());
    auto const planned = parts;
    if (direction == Direction::read) leave_unknown(content_, parts);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        bool const left_out = parts[i].request.count != planned[i].request.count;
        bool const behind = model::end_of(parts[i].in_file) > size();
        // Open MPI counts what lies behind the end of the file.
        if (left_out || (behind && direction == Direction::read)) return;
    }
    if (settings_.is_too_long(parts)) return;  // Before the pointer moves.
    for (auto const& part : parts) team.shared += part.request.bytes() / team.model.unit();
    access(handle, team_number, form, parts);
}

/// Some ranks, in an order that meetings give them.
inline void JointFile::each_alone(Random& random, Handle& handle, std::size_t team_number,
                                  Direction direction) {
    Team& team = handle.teams[team_number];
    Form const form{direction, false, true, Form::blocking, Form::shared};
    auto order = random.order_of(team.model.ranks);
    if (random.chance(50)) order.resize(1);
    for (int const rank : order) {
        std::vector<Part> parts;
        for (int i = 0; i < team.model.ranks; ++i) {
            auto const most =
                std::max<std::int64_t>(team.model.sizes.transfer / team.model.unit(), 1);
            auto const etypes = i == rank ? random.between<std::int64_t>(1, most) : 0;
            parts.push_back(simple_part(team.model, i, team.shared, etypes * team.model.unit()));
        }
        if (direction == Direction::read) leave_unknown(content_, parts);
        auto const& part = parts[static_cast<std::size_t>(rank)];
        auto const end = model::end_of(part.in_file);
        if (end > (direction == Direction::read ? size() : most_)) return;
        if (settings_.is_too_long(parts)) return;
        team.shared += part.request.bytes() / team.model.unit();
        access(handle, team_number, form, parts);
    }
}

/// All ranks write at once; whose bytes are where nobody can tell.
inline void JointFile::all_the_same(Random& random, Handle& handle, std::size_t team_number) {
    if (!handle.writes()) return;
    Team& team = handle.teams[team_number];
    Form const form{Direction::write, false, true, Form::blocking, Form::shared};
    auto const most = std::max<std::int64_t>(team.model.sizes.transfer / team.model.unit(), 1);
    auto const etypes = random.between<std::int64_t>(1, most);
    std::vector<Part> parts;
    model::Blocks all;
    for (int i = 0; i < team.model.ranks; ++i) {
        parts.push_back(
            simple_part(team.model, i, team.shared + i * etypes, etypes * team.model.unit()));
        auto const& blocks = parts.back().in_file;
        all.insert(all.end(), blocks.begin(), blocks.end());
    }
    if (model::end_of(all) > most_ || settings_.is_too_long(parts)) return;
    team.shared += etypes * team.model.ranks;
    access(handle, team_number, form, parts, true);
}

inline void JointFile::seek_shared(Handle& handle, std::size_t team_number, std::int64_t target) {
    Team& team = handle.teams[team_number];
    end_split(handle);
    reach_pointer(handle, team_number, true, team.ranks);
    team.shared = target;
    if (team_number != handle.mine) return;
    say("seek_shared to " + std::to_string(target));
    check::ok(MPI_File_seek_shared(handle.file, static_cast<MPI_Offset>(target), MPI_SEEK_SET),
              "MPI_File_seek_shared");
}

/// Any rank may look where the pointer is.
inline void JointFile::check_shared(Random& random, Handle& handle, std::size_t team_number) {
    Team const& team = handle.teams[team_number];
    int const rank = team.ranks[random.below(team.ranks.size())];
    end_split(handle);
    reach_pointer(handle, team_number, false, {rank});
    if (rank != check::rank()) return;
    MPI_Offset at = -1;
    check::ok(MPI_File_get_position_shared(handle.file, &at), "MPI_File_get_position_shared");
    check::is_equal(static_cast<MPI_Offset>(team.shared), at, "shared file pointer");
}

/// Ranks that move or look at the shared pointer follow those that moved it before.
inline void JointFile::reach_pointer(Handle const& handle, std::size_t team_number, bool moves,
                                     std::vector<int> const& ranks) {
    Touch const touch{{pointer_byte(handle, team_number)}, moves};
    Clash clash;
    for (int const rank : ranks) order_.find(rank, touch, clash);
    arrange(clash);
    for (int const rank : ranks) order_.note(rank, touch);
}

inline void JointFile::reach_pointer(Handle const& handle, std::size_t team_number, Form form,
                                     std::vector<Part> const& parts) {
    std::vector<int> ranks;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        bool const calls = form.kind == Form::ordered || parts[i].request.bytes() > 0;
        if (calls) ranks.push_back(handle.teams[team_number].ranks[i]);
    }
    if (form.kind != Form::not_shared) reach_pointer(handle, team_number, true, ranks);
}

}  // namespace random_test
