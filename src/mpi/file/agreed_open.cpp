// One reduction compares the files and spreads the hints. See agreed_open.hpp.
#include "mpi/file/agreed_open.hpp"

#include "mpi/behind/rank_journal.hpp"
#include "mpi/errors.hpp"
#include "mpi/file/agreed_hints.hpp"
#include "mpi/file/closed_files.hpp"
#include "mpi/file/system_hints.hpp"
#include "storage/file_striping.hpp"
#include "storage/profile_path.hpp"
#include "system/environment.hpp"
#include "system/log.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

enum Word : std::size_t {
    // Of rank 0; zero on the others.
    stripe_bytes,
    stripe_count,
    flags,  ///< Bits of Flag, and above them a number of its own for each opening.
    write_behind,
    read_ahead,
    profile,  ///< Its number, above the length of its text.
    system_hint_bytes,
    // Of all ranks that have a descriptor.
    inode_most,
    inode_least,  ///< Its complement.
    device_most,
    device_least,  ///< Its complement.
    held_by_mpi,   ///< On some rank.
    // Of all ranks.
    not_opened_by,  ///< The complement of the first such rank; zero: none.
    reached,        ///< The Consistency of its file system; or no_path.
    closed_least,   ///< The complement of the first closed file that is not complete on a rank.
    past_cache,     ///< A rank asks for direct I/O.
    word_count
};

enum Flag : std::uint64_t {
    none = 0,
    disabled = 1,
    placed = 2,
    durable = 4,
    behind = 8,
    crowded = 16,  ///< With closed files that are not complete.
    striped = 32,  ///< As the file system tells.
};
constexpr int flag_bits = 6;

/// A Word `reached`: a driver of the MPI is the only way to the file.
constexpr std::uint64_t no_path = 3;
static_assert(no_path > static_cast<std::uint64_t>(Consistency::close_to_open));

/// Of each word all ranks learn the largest.
using Words = NodeReduction::Words;
static_assert(word_count <= std::tuple_size_v<Words>);

/// Ranks that know of no delayed writes would not look for those of a closed file: all have to
/// delay by their environment.
Flag flag_of(Close close) noexcept {
    if (close == Close::behind) return settings().hints.write_behind > 0 ? behind : none;
    return close == Close::durable ? durable : none;
}

void tell_hints(Words& words, FileHints const& hints, OwnFile const& file, Team& team) {
    words[flags] = (hints.disabled ? disabled : none) | flag_of(hints.close) |
                   (are_too_many_incomplete(team) ? crowded : none) |
                   (hints.placement.empty() ? none : placed) | (team.new_opening() << flag_bits);
    if (hints.disabled) return;
    words[write_behind] = static_cast<std::uint64_t>(hints.write_behind);
    words[read_ahead] = static_cast<std::uint64_t>(hints.read_ahead);
    auto const device = file.fd < 0 ? std::nullopt : std::optional(file.identity.device);
    ProfileOffer const offer = offer_profile(file.name, device);
    words[profile] = std::uint64_t{static_cast<std::uint32_t>(offer.number)} << 32 |
                     static_cast<std::uint32_t>(offer.bytes);
    SystemAttributes system(file.identity.device);
    // A hint cannot change a file that is there.
    Striping const hinted{hints.plan.stripe_bytes, hints.plan.stripe_count};
    auto const of_file = striping_of(file.fd, system);
    if (of_file) words[flags] |= striped;
    Striping const stripes = of_file.value_or(hinted);
    words[stripe_bytes] = static_cast<std::uint64_t>(stripes.stripe_bytes);
    words[stripe_count] = static_cast<std::uint64_t>(stripes.stripe_count);
}

void take_hints(FileHints& hints, Words const& words) {
    hints.disabled = (words[flags] & disabled) != 0;
    hints.close = (words[flags] & durable)  ? Close::durable
                  : (words[flags] & behind) ? Close::behind
                                            : Close::complete;
    hints.write_behind = static_cast<Bytes>(words[write_behind]);
    hints.read_ahead = static_cast<Bytes>(words[read_ahead]);
    hints.has_stripes = (words[flags] & striped) != 0;
    if (words[stripe_bytes] == 0 && words[stripe_count] == 0) return;
    hints.plan.stripe_bytes = static_cast<Bytes>(words[stripe_bytes]);
    hints.plan.stripe_count = static_cast<std::int32_t>(words[stripe_count]);
}

void tell_file(Words& words, OwnFile const& file, Rank self) {
    words[reached] = file.has_path ? static_cast<std::uint64_t>(file.consistency) : no_path;
    if (file.error) words[not_opened_by] = ~static_cast<std::uint64_t>(self);
    if (file.fd < 0) return;
    words[inode_most] = file.identity.inode;
    words[inode_least] = ~file.identity.inode;
    words[device_most] = file.identity.device;
    words[device_least] = ~file.identity.device;
    words[held_by_mpi] = file.held_by_mpi;
}

/// Hints of the system's file, which only rank 0 has: a broadcast where there are any.
void share_system_hints(FileHints& hints, std::string text, Words const& words, Team const& team) {
    if (words[system_hint_bytes] == 0) return;
    text.resize(words[system_hint_bytes]);
    PMPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, team.communicator);
    if (team.self != 0) hear_system_hints(hints, text);
}

/// Nodes number the devices of network file systems as they like. Collective where numbers differ.
bool same_on_each_node(std::uint64_t device, Words const& words, Team const& team) {
    if (words[device_most] == ~words[device_least]) return true;
    Topology const& topology = *team.topology;
    if (topology.node_count() == 1) return false;
    std::vector<std::uint64_t> all(static_cast<std::size_t>(topology.rank_count()));
    PMPI_Allgather(&device, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, team.communicator);
    for (Rank rank = 0; rank < topology.rank_count(); ++rank) {
        auto const first = static_cast<std::size_t>(topology.rank_at(topology.node_of(rank), 0));
        if (all[static_cast<std::size_t>(rank)] != all[first]) return false;
    }
    return true;
}

void refuse(std::string const& why) { warn(why + "; the MPI serves the file", true); }

/// Whether all ranks hold the file that the MPI has opened. One of them says why not.
bool all_hold(Words const& words, OwnFile const& file, Team const& team) {
    auto const first_without = static_cast<Rank>(~words[not_opened_by]);
    if (words[not_opened_by] != 0) {
        if (team.self == first_without) {
            refuse("rank " + std::to_string(team.self) + " on " + host_name() + " cannot open " +
                   file.name + ": " + describe(file.error));
        }
        return false;
    }
    bool const same = words[inode_most] == ~words[inode_least] &&
                      same_on_each_node(file.identity.device, words, team);
    if (!same && team.self == 0) refuse(file.name + " is not the same file on all ranks");
    if (same && !words[held_by_mpi] && team.self == 0)
        refuse(file.name + " is not, or no longer, the name of the file that the MPI has opened");
    return same && words[held_by_mpi];
}

/// Whether ranks may write that another node's ranks would not see before a close.
bool shows_late(Words const& words, Team const& team) {
    bool const late = words[reached] == static_cast<std::uint64_t>(Consistency::close_to_open) &&
                      team.topology->node_count() > 1;
    if (late && team.self == 0) {
        warn("ranks of several nodes open a file on NFS, SMB or AFS to write, which show a node "
             "what others write only after a close: the MPI serves such files",
             true);
    }
    return late;
}

/// The same on all ranks; null: nothing.
char const* what_forbids(Words const& words, OwnFile const& file, Team const& team) {
    if (words[reached] == no_path)
        return "its name has the prefix of a driver that POSIX calls do not reach";
    if (!all_hold(words, file, team))
        return "not every rank holds the same file, as a warning has said";
    if (shows_late(words, team)) return "nodes see what others write only after a close";
    return nullptr;
}

}  // namespace

OwnFile::OwnFile(std::string const& mpi_name, int amode, FileHints const& hints, Team const& team)
    : name(mpi_name) {
    auto const path = path_of(mpi_name);
    if (!path) return;
    has_path = true;
    name = *path;
    // Another node's flush would not reach what this node writes.
    bool const at_once = wants_durable_journal() && team.topology->node_count() > 1 &&
                         access_mode(amode) != AccessMode::read;
    OpenedFile opened = open_file(name, access_mode(amode), at_once);
    fd = opened.descriptor.get();
    error = opened.error;
    if (fd < 0) return;
    identity = identity_of(fd).value_or(FileIdentity{});
    held_by_mpi = held_beside(fd, identity);
    consistency = consistency_of(fd, identity);
    // Who only reads may be the first to hear of an error of another one's writes.
    if (access_mode(amode) == AccessMode::read)
        consistency = std::min(consistency, Consistency::late_errors);
    storage = stored_file(name, std::move(opened), amode, hints);
    error = storage->opened();
}

AgreedOpen agree_at_open(FileHints& hints, Team& team, OwnFile const& file) {
    Words mine{};
    tell_file(mine, file, team.self);
    mine[closed_least] = ~first_incomplete(team);
    mine[past_cache] = hints.page_cache == PageCache::direct_io;
    std::string const of_system = team.self == 0 ? system_hints() : std::string();
    if (team.self == 0) {
        hear_system_hints(hints, of_system);
        tell_hints(mine, hints, file, team);
        mine[system_hint_bytes] = of_system.size();
    }
    Words const words = team.largest(mine);
    share_system_hints(hints, of_system, words, team);
    take_hints(hints, words);
    release_closed(team, ~words[closed_least]);
    if (hints.disabled) return {.refusal = "the hint sluice says so", .machine = nullptr};
    ProfileOffer const offer{static_cast<std::int32_t>(words[profile] >> 32),
                             static_cast<std::int32_t>(words[profile])};
    auto machine = take_profile(offer, team);
    return {what_forbids(words, file, team),
            (words[flags] & placed) != 0,
            words[flags] >> flag_bits,
            std::move(machine),
            (words[flags] & crowded) != 0,
            words[reached] != static_cast<std::uint64_t>(Consistency::posix),
            words[past_cache] != 0};
}

}  // namespace sluice
