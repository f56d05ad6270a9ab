// Environment variables and hints: the tables of those for users and of those for tests and
// experiments. The library reads values by them, and `sluice info` prints them. A name that was
// published once still works, with a warning that names the new one. The functions are pure: the
// environment and the info object are handed in as functions.
#pragma once
#include "base/affinity.hpp"
#include "base/engine.hpp"
#include "file/plan/placement.hpp"
#include "file/plan/plan.hpp"
#include "trace/rank_list.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

/// A name that users set, its default and what it does.
struct Knob {
    char const* name;
    char const* fallback;
    char const* meaning;
};

[[nodiscard]] std::span<Knob const> environment_knobs() noexcept;
/// Words of the variable SLUICE_TEST.
[[nodiscard]] std::span<Knob const> test_knobs() noexcept;
[[nodiscard]] std::span<Knob const> hint_knobs() noexcept;
/// Hints for experiments, and those that are only shown.
[[nodiscard]] std::span<Knob const> experiment_hint_knobs() noexcept;
/// Of any of these tables, or an old name.
[[nodiscard]] bool is_hint(std::string_view name) noexcept;

/// The hints of one rank.
struct FileHints {
    Hints plan;
    bool disabled = false;  ///< The file is left to the MPI.
    bool durable = false;   ///< Flushed to the device when it is closed.
    StorageEngine storage = StorageEngine::automatic;
    PageCache page_cache = PageCache::keep;
    Bytes write_behind = 0;  ///< Memory of a node for writes that are delayed; 0: none are.
    Bytes read_ahead = 0;    ///< The same for reads that are made before they are asked for.
    Placement placement;     ///< Of aggregators.
    /// Of romio_ds_write, which is only shown: writes are never sieved.
    Strategy sieve_writes = Strategy::automatic;
    /// Which hints somebody gave that were understood, bits in the order of their
    /// table: those of the system's file do not count then.
    std::uint32_t given = 0;
    bool operator==(FileHints const&) const = default;
};

/// What SLUICE_WRITE_BEHIND says.
struct BehindSetting {
    Bytes bytes = 0;     ///< Of a node.
    std::string folder;  ///< Where journals lie; empty: in memory.
};
/// SIZE or SIZE,FOLDER; nothing when it is neither.
[[nodiscard]] std::optional<BehindSetting> parse_behind(std::string const& text);

/// What SLUICE_NETWORK says: how messages go between nodes.
struct NetworkSetting {
    enum class Way : std::uint8_t { automatic, mpi, fabric };
    Way way = Way::automatic;
    std::string provider;  ///< Of libfabric; empty: the best.
    bool operator==(NetworkSetting const&) const = default;
};
/// auto, mpi, fabric or fabric:PROVIDER; nothing when it is none of them.
[[nodiscard]] std::optional<NetworkSetting> parse_network(std::string const& text);

/// What SLUICE_TRACE and SLUICE_TRACE_RANKS say.
struct TraceSetting {
    std::string file;              ///< Empty: no trace is wanted.
    Bytes bytes = Bytes{8} << 20;  ///< Of the ring of a thread.
    RankList ranks = RankList::all();
};
/// FILE or FILE,SIZE; nothing when it is neither.
[[nodiscard]] std::optional<TraceSetting> parse_trace(std::string const& text);

struct Settings {
    bool enabled = true;
    int log = 1;  ///< 0 silent, 1 warnings, 2 what is decided.
    bool statistics = false;
    bool each_operation = false;      ///< Also a line of the cost model for each.
    bool progress_in_calls = false;   ///< No helper thread.
    bool collectives = false;         ///< MPI's nonblocking collectives are served, too.
    bool chain = false;               ///< Calls go on to the next preloaded library.
    Bytes memory_bytes = 0;           ///< Staging memory of this node for one communicator.
    Bytes cache_bytes = 0;            ///< Layouts that are kept by type tree, of a process.
    std::int32_t ranks_per_node = 0;  ///< Pretended; 0: as the machine is.
    /// Of two-layer aggregation as its paper has it, in all; 0: one of each node.
    std::int32_t local_aggregators = 0;
    bool shared_memory = true;
    bool always_behind = false;    ///< Writes are delayed however fast the storage is.
    std::int64_t view_pieces = 0;  ///< Views of more pieces are not given to the MPI.
    double stall_seconds = 0;      ///< 0: no watchdog.
    double peer_seconds = 60;      ///< Patience with a peer that a fabric does not reach.
    int storage_threads = 2;
    std::string device = "none";     ///< Emulated, by name or description.
    std::string libfabric = "none";  ///< The file of it that is opened; none: it is looked for.
    std::string profile = "auto";    ///< Of the machine: a file, none, or auto.
    std::string record;              ///< The log of the calls on files; empty: none.
    std::string journal_folder;      ///< Of writes that are delayed; empty: they are in memory.
    FileHints hints;                 ///< Of files that say nothing else.
    Affinity affinity;               ///< Of the library's own threads.
    NetworkSetting network;          ///< Between nodes.
    TraceSetting trace;              ///< Of what ranks do.
};

/// Looks a name up; nothing or null when it is not set.
using Lookup = std::function<std::optional<std::string>(char const* name)>;

/// Something that was set and that the user is told about.
struct Complaint {
    std::string name, text;
    bool refused = true;  ///< The value has no effect; false: it has, but there is a newer way.
};

/// Of names that somebody set and that begin as this library's do, those that are not known.
[[nodiscard]] std::vector<Complaint> unknown_variables(std::vector<std::string> names);
[[nodiscard]] std::vector<Complaint> unknown_hints(std::vector<std::string> names);

/// What cannot be understood keeps its default and adds a complaint.
[[nodiscard]] Settings read_settings(Lookup const& environment, std::vector<Complaint>& complaints);

/// `before` are the values in force, kept where nothing new is said.
[[nodiscard]] FileHints read_hints(Lookup const& info, FileHints before,
                                   std::vector<Complaint>& complaints);

/// What a file of hints says, as ROMIO reads it: a name and a value a line, with blanks between;
/// `#` begins a comment, other lines do not count, of two values for a name the first holds. Names
/// that are no hint here are left out.
[[nodiscard]] std::map<std::string, std::string> hints_in_lines(std::string_view text);

/// Hints of the system's file, behind those that somebody gave.
[[nodiscard]] FileHints read_hints_behind(std::map<std::string, std::string> const& system,
                                          FileHints given, std::vector<Complaint>& complaints);

/// Names and values as a program would set them; `automatic` numbers are those of `limits`.
[[nodiscard]] std::vector<std::pair<std::string, std::string>>
hints_in_force(FileHints const& hints, PlanLimits const& limits);

}  // namespace sluice
