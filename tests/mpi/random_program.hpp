// A random program: files, and steps that say what kind of thing happens to which file. The rest of
// a step is drawn when it is carried out, from its number, so any subset of the steps is a program.
// A file has one handle, whose accesses are mostly nonblocking (random_file.hpp), or several
// handles that see what was written through the others (random_joint.hpp).
#pragma once
#include "random_source.hpp"

#include <array>
#include <set>
#include <string>
#include <string_view>

namespace random_test {

enum class Kind {
    set_view,
    transfer,
    independent,
    complete,
    poke,
    free_requests,
    get_status,
    end_split,
    seek,
    position,
    sync,
    set_size,
    preallocate,
    get_size,
    atomic,
    set_info,
    reopen,
    message,
    traffic,
    work,
    shared,
    series,
    records,
    posix,
    recreate,
};

/// How often a kind is drawn for a file with one handle, and for one with several.
struct KindEntry {
    Kind kind;
    std::string_view name;
    int weight, weight_of_several;
};
inline constexpr std::array kinds{
    KindEntry{Kind::set_view, "set_view", 12, 8},
    KindEntry{Kind::transfer, "transfer", 40, 26},
    KindEntry{Kind::independent, "independent", 9, 16},
    KindEntry{Kind::complete, "complete", 11, 4},
    KindEntry{Kind::poke, "poke", 4, 1},
    KindEntry{Kind::free_requests, "free_requests", 2, 0},
    KindEntry{Kind::get_status, "get_status", 2, 1},
    KindEntry{Kind::end_split, "end_split", 3, 2},
    KindEntry{Kind::seek, "seek", 5, 5},
    KindEntry{Kind::position, "position", 2, 1},
    KindEntry{Kind::sync, "sync", 3, 3},
    KindEntry{Kind::set_size, "set_size", 2, 3},
    KindEntry{Kind::preallocate, "preallocate", 1, 1},
    KindEntry{Kind::get_size, "get_size", 2, 5},
    KindEntry{Kind::atomic, "atomic", 1, 2},
    KindEntry{Kind::set_info, "set_info", 2, 1},
    KindEntry{Kind::reopen, "reopen", 2, 6},
    KindEntry{Kind::message, "message", 3, 2},
    KindEntry{Kind::traffic, "traffic", 3, 3},
    KindEntry{Kind::work, "work", 4, 5},
    KindEntry{Kind::shared, "shared", 0, 8},
    KindEntry{Kind::series, "series", 0, 10},
    KindEntry{Kind::records, "records", 0, 6},
    KindEntry{Kind::posix, "posix", 0, 5},
    KindEntry{Kind::recreate, "recreate", 0, 2},
};

inline std::string_view name_of(Kind kind) { return kinds[static_cast<std::size_t>(kind)].name; }

/// Who has a file open.
enum class Group { world, duplicate, half, self };

struct FilePlan {
    Group group = Group::world;
    std::int64_t prefilled = 0;
    std::vector<Group> others;  ///< Of further handles.
};

struct Step {
    int number = 0;
    Kind kind = Kind::work;
    int file = 0;
};

struct Program {
    std::uint64_t seed = 0;
    Scale scale = Scale::small;
    bool blocking = false;  ///< It calls blocking functions only.
    std::vector<FilePlan> files;
    std::vector<Step> steps;
};

inline Kind kind_of(Random& random, bool several) {
    auto const weight = [several](KindEntry const& entry) {
        return several ? entry.weight_of_several : entry.weight;
    };
    int total = 0;
    for (auto const& entry : kinds) total += weight(entry);
    int at = random.below(total);
    for (auto const& entry : kinds) {
        at -= weight(entry);
        if (at < 0) return entry.kind;
    }
    return Kind::work;
}

inline FilePlan make_file(Random& random, bool several) {
    FilePlan plan;
    if (several) {
        // The first one has a communicator of its own, for its shared pointer.
        bool const world = random.chance(67);
        plan.group = world ? Group::world : Group::duplicate;
        Group const other = world ? Group::duplicate : Group::world;
        for (int others = random.between(1, 3); others > 0; --others) {
            plan.others.push_back(
                random.one_of({other, other, Group::half, Group::half, Group::self}));
        }
    } else {
        plan.group = random.one_of(
            {Group::world, Group::world, Group::world, Group::duplicate, Group::half, Group::self});
    }
    auto const most = random.one_of({0, 100, 2000, 20000});
    plan.prefilled = random.between<std::int64_t>(0, most);
    return plan;
}

inline Program make_program(std::uint64_t seed) {
    Random random(seed, {0});
    Program program;
    program.seed = seed;
    int const size = random.below(1000);
    if (size < 80) program.scale = Scale::medium;
    if (size < 6) program.scale = Scale::large;
    program.blocking = random.chance(40);
    int const several = random.chance(60) ? 1 : 0;
    int const files = several ? random.one_of({1, 1, 1, 2}) : random.one_of({1, 1, 1, 1, 2, 2, 3});
    for (int f = 0; f < files; ++f) program.files.push_back(make_file(random, f < several));
    int const steps = program.scale == Scale::large ? random.between(3, 9) : random.between(4, 24);
    for (int i = 0; i < steps; ++i) {
        int const file = random.below(files);
        program.steps.push_back({i, kind_of(random, file < several), file});
    }
    return program;
}

/// Comma-separated words.
inline std::set<std::string> words_of(std::string_view text) {
    std::set<std::string> words;
    while (!text.empty()) {
        auto const comma = std::min(text.find(','), text.size());
        words.emplace(text.substr(0, comma));
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return words;
}

/// Shares of the programs that were run, in the order of the names.
struct Counts {
    static constexpr std::array names{
        "noncontiguous", "with holes",    "across end of file", "nonblocking",     "split",
        "independent",   "several files", "outstanding >= 2",   "several handles", "shared pointer",
        "series",        "meetings"};
    enum What {
        noncontiguous,
        holes,
        across_end,
        nonblocking,
        split,
        independent,
        files,
        several,
        handles,
        shared_pointer,
        series,
        meetings
    };
    std::array<int, names.size()> of{};

    void note(What what) { of[what] = 1; }
    void add(Counts const& other) {
        for (std::size_t i = 0; i < of.size(); ++i) of[i] += other.of[i];
    }
};

}  // namespace random_test
