// The handles of a file that has several of them, and the groups of ranks that share one.
#pragma once
#include "random_program.hpp"
#include "random_transfer.hpp"

namespace random_test {

/// The communicators of files, made once: programs keep theirs for long.
struct Communicators {
    MPI_Comm duplicate = MPI_COMM_NULL, half = MPI_COMM_NULL;

    Communicators() {
        MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
        MPI_Comm_split(MPI_COMM_WORLD, check::rank() / ranks_of_half(), check::rank(), &half);
    }
    ~Communicators() {
        MPI_Comm_free(&duplicate);
        MPI_Comm_free(&half);
    }
    Communicators(Communicators const&) = delete;
    Communicators& operator=(Communicators const&) = delete;

    MPI_Comm of(Group group) const {
        switch (group) {
        case Group::world:
            return MPI_COMM_WORLD;
        case Group::duplicate:
            return duplicate;
        case Group::half:
            return half;
        default:
            return MPI_COMM_SELF;
        }
    }
    static int ranks_of_half() { return (check::size() + 1) / 2; }
};

/// The ranks of each communicator of a kind.
inline std::vector<std::vector<int>> teams_of(Group group) {
    int const ranks = check::size();
    int const most = group == Group::self   ? 1
                     : group == Group::half ? Communicators::ranks_of_half()
                                            : ranks;
    std::vector<std::vector<int>> teams;
    for (int rank = 0; rank < ranks; ++rank) {
        if (rank % most == 0) teams.emplace_back();
        teams.back().push_back(rank);
    }
    return teams;
}

/// Equal requests at a constant distance, as programs make that go through time steps.
struct Series {
    enum Way { offsets, pointer, views };  ///< How the place of the next request is said.
    bool active = false;
    Way way = offsets;
    Form form;
    std::vector<Part> parts;    ///< Of the first request, one for each rank.
    std::int64_t distance = 0;  ///< In etypes.
    std::int64_t next = 0;      ///< Number of the next request.
};

/// Ranks that share a handle.
struct Team {
    std::vector<int> ranks;  ///< Of MPI_COMM_WORLD.
    HandleModel model;
    std::int64_t shared = 0;  ///< The shared file pointer.
    Series series = {};

    bool same_views() const { return !model.views.disjoint; }
};

/// One variable of the program; where its communicator is a part of the world, each part has a
/// handle of its own for the same file.
struct Handle {
    int number = 0;
    Group group = Group::world;
    MPI_Comm comm = MPI_COMM_NULL;
    std::vector<Team> teams;
    std::size_t mine = 0;  ///< The team of this rank.
    std::size_t rank = 0;  ///< Of this process in it.
    MPI_File file = MPI_FILE_NULL;
    int mode = 0;  ///< 0: closed.
    std::shared_ptr<Transfer> split = {};
    ByteSet dirty = {};  ///< Written since the last sync.

    bool is_open() const { return mode != 0; }
    bool reads() const { return is_open() && (mode & MPI_MODE_WRONLY) == 0; }
    bool writes() const { return is_open() && (mode & MPI_MODE_RDONLY) == 0; }
    bool does(Direction direction) const {
        return direction == Direction::write ? writes() : reads();
    }
    Team& own() { return teams[mine]; }
};

inline Handle make_handle(int number, Group group, Communicators const& communicators, Sizes sizes,
                          bool plain) {
    Handle handle{number, group, communicators.of(group), {}};
    for (auto& ranks : teams_of(group)) {
        auto const at = std::find(ranks.begin(), ranks.end(), check::rank());
        if (at != ranks.end()) {
            handle.mine = handle.teams.size();
            handle.rank = static_cast<std::size_t>(at - ranks.begin());
        }
        int const size = static_cast<int>(ranks.size());
        handle.teams.push_back({std::move(ranks), HandleModel(size, sizes, plain)});
    }
    return handle;
}

/// Whether the view is one stretch of bytes without gaps.
inline bool is_dense(RankView const& view) {
    auto const& tile = view.filetype.layout;
    return tile.blocks.size() == 1 && tile.size() == tile.extent() && tile.lower == 0;
}

/// Elements of the view's own type, without gaps in memory, from an offset in etypes.
inline Part simple_part(HandleModel const& model, int rank, std::int64_t offset,
                        std::int64_t bytes) {
    auto const& view = model.view(rank);
    Part part;
    part.request.view = {view.displacement, model.views.etype.type, view.filetype.layout};
    part.request.offset = offset;
    part.request.memory = model::element(model.views.etype.type);
    part.request.count = static_cast<int>(bytes / model.unit());
    part.memory = model.views.etype.name;
    part.in_file = part.request.in_file();
    part.moved = part.request.bytes();
    return part;
}

}  // namespace random_test
