// What programs do to a file with several handles step after step: equal requests at a constant
// distance, and variables whose records interleave. Included at the end of random_joint.hpp.
#pragma once
#include "random_joint.hpp"

namespace random_test {

inline void JointFile::series() {
    counts_.note(Counts::series);
    Random random = draw();
    auto const direction = random.chance(80) ? Direction::read : Direction::write;
    Handle* handle = &pick(random, direction);
    auto team = random.below(handle->teams.size());
    for (auto& other : handles_) {
        for (std::size_t t = 0; t < other.teams.size(); ++t) {
            if (!other.teams[t].series.active || random.chance(25)) continue;
            handle = &other;
            team = t;
        }
    }
    Series const& series = handle->teams[team].series;
    if (!series.active) begin_series(random, *handle, team, direction);
    for (int requests = random.between(2, 5); requests > 0; --requests) {
        if (random.chance(30)) interrupt(random, *handle, team);
        if (!series.active || !advance(*handle, team)) break;
    }
}

inline void JointFile::begin_series(Random& random, Handle& handle, std::size_t team_number,
                                    Direction direction) {
    Team& team = handle.teams[team_number];
    Series series;
    series.active = true;
    series.way = random.one_of({Series::offsets, Series::offsets, Series::pointer, Series::views});
    series.form = {direction, series.way == Series::pointer, random.chance(20), Form::blocking};
    bool const splits = !series.form.independent && settings_.has("split");
    if (splits && random.chance(15)) series.form.way = Form::split;
    Demand const demand{direction, false, series.form.independent, random.one_of({60, 100, 100})};
    series.parts = team.model.plan(demand, key(), 0, lengths());
    std::int64_t most = 0, all = 0, first = INT64_MAX;
    for (auto const& part : series.parts) {
        auto const etypes = part.request.bytes() / team.model.unit();
        most = std::max(most, etypes);
        all += etypes;
        first = std::min(first, part.request.offset);
    }
    auto const back = random.below(first + 1);  // Else the file would soon be at its end.
    for (auto& part : series.parts) part.request.offset -= back;
    bool const in_row = direction == Direction::write && team.same_views();
    series.distance = std::max<std::int64_t>(in_row ? all : most, 1) +
                      random.one_of<std::int64_t>({0, 0, 0, 1, most, all});
    team.series = series;
}

/// The next request, or the one that is so many steps ahead of it.
inline std::vector<Part> JointFile::next_of(Team const& team, std::int64_t ahead) {
    Series const& series = team.series;
    auto parts = series.parts;
    auto const etypes = (series.next + ahead) * series.distance;
    for (auto& part : parts) {
        bool const empty = part.request.view.filetype.size() == 0;
        if (series.way == Series::views)
            part.request.view.displacement += etypes * team.model.unit();
        else
            part.request.offset = empty ? 0 : part.request.offset + etypes;
        part.in_file = part.request.in_file();
        part.moved = part.request.bytes();
    }
    return parts;
}

/// Makes the next request; the last one lies behind the end of the file.
inline bool JointFile::advance(Handle& handle, std::size_t team_number) {
    Team& team = handle.teams[team_number];
    Series series = team.series;
    auto const parts = next_of(team, 0);
    for (auto const& part : parts) {
        Demand const demand{series.form.direction, false, series.form.independent};
        bool const strays = team.model.strays(demand, part, size());
        team.series.active &= !strays && model::end_of(part.in_file) <= most_;
    }
    if (!team.series.active) return false;
    if (series.way == Series::views && series.next > 0) {
        auto views = team.model.views;
        for (auto& view : views.of) view.displacement += series.distance * team.model.unit();
        set_view(handle, team_number, views);
    }
    if (series.way == Series::pointer) go_to(handle, team_number, parts);
    ++series.next;
    team.series = series;
    access(handle, team_number, series.form, parts);
    return true;
}

/// Moves the individual pointers where requests begin.
inline void JointFile::go_to(Handle& handle, std::size_t team_number,
                             std::vector<Part> const& parts) {
    Team& team = handle.teams[team_number];
    end_split(handle);
    bool moves = false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        auto const mine = team.ranks[i] == check::rank();
        moves |= mine && team.model.positions[i] != parts[i].request.offset;
        team.model.positions[i] = parts[i].request.offset;
    }
    if (!moves) return;
    check::ok(MPI_File_seek(handle.file, static_cast<MPI_Offset>(position(handle)), MPI_SEEK_SET),
              "MPI_File_seek");
}

/// Between two requests of a series. Most of it changes what the next one reads.
inline void JointFile::interrupt(Random& random, Handle& handle, std::size_t team_number) {
    auto const& team = handle.teams[team_number];
    auto const parts = next_of(team, random.one_of({0, 0, 0, 1}));
    auto const& blocks = parts[random.below(parts.size())].in_file;
    Range coming = {0, 1};
    if (!blocks.empty()) coming = {blocks.front().offset, model::end_of(blocks)};
    if (own(step_, 9).chance(50)) ::usleep(500);
    switch (random.below(8)) {
    case 0:
    case 1:
    case 2:
        return overwrite(coming);
    case 3:
        return read_back(coming);
    case 4:
        return transfer();
    case 5:
        return get_size(handle);
    case 6:
        return sync(pick(random, Direction::write));
    default:
        Handle& writer = pick(random, Direction::write);
        auto const cut = coming.begin + random.below(coming.bytes() + 1);
        return resize(writer, random.below(writer.teams.size()), cut);
    }
}

/// Each rank fills a share of these bytes, not the one that it writes later.
inline void JointFile::fill(Random& random, Handle& handle, std::size_t team_number, Range range) {
    Team const& team = handle.teams[team_number];
    auto const ranks = static_cast<std::int64_t>(team.ranks.size());
    auto const first = random.below(ranks), share = range.bytes() / ranks;
    std::vector<Part> parts;
    for (std::int64_t i = 0; i < ranks; ++i) {
        auto const offset = (first + i) % ranks * share / team.model.unit();
        parts.push_back(simple_part(team.model, static_cast<int>(i), offset, share));
    }
    access(handle, team_number, {Direction::write, false, random.chance(30), Form::blocking},
           parts);
}

/// Variables of which a record holds one chunk of each rank, first filled, then written one by one.
inline void JointFile::records() {
    Random random = draw();
    Handle& handle = pick(random, Direction::write);
    auto const team_number = random.below(handle.teams.size());
    Team& team = handle.teams[team_number];
    Views views{element_of(random), false, {}};
    auto const unit = model::element(views.etype.type).size();
    auto const ranks = static_cast<std::int64_t>(team.ranks.size());
    int const variables = random.between(1, 4), count = random.between(1, 5);
    int const elements = random.between(1, static_cast<int>(team.model.sizes.piece / unit) + 1);
    auto const chunk = elements * unit, record = variables * ranks * chunk;
    auto const base = random.below(size() + 100);
    if (base + count * record > most_) return;
    if (random.chance(60)) {
        set_view(handle, team_number, dense_views(views.etype, team.model.ranks, base));
        fill(random, handle, team_number, {base, base + count * record});
    }
    views.disjoint = true;
    auto const item = TypeMaker::contiguous(named(views.etype), elements);
    for (int const variable : random.order_of(variables)) {
        auto const first = random.below(ranks);
        views.of.clear();
        for (std::int64_t i = 0; i < ranks; ++i) {
            auto const place = variable * ranks + (first + i) % ranks;
            views.of.push_back({base + place * chunk,
                                {model::resized(item.layout, record),
                                 call_text("resized", 0, record, item.text)}});
        }
        set_view(handle, team_number, views);
        std::vector<Part> parts;
        for (int i = 0; i < team.model.ranks; ++i) {
            parts.push_back(simple_part(team.model, i, 0, count * chunk));
        }
        access(handle, team_number, form_of(random, Direction::write, team.model.atomic), parts);
    }
    if (random.chance(70)) read_back({base, base + count * record});
    look_at_written(random);
}

}  // namespace random_test
