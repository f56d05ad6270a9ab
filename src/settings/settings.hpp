// The settings of a process: the values, the table of environment variables for users and that of
// words for tests, and how they are read from the environment, which is handed in as a function.
// Plain values: this room knows no planner and no file. Pure.
#pragma once
#include "base/affinity.hpp"
#include "settings/file_hints.hpp"
#include "settings/knob.hpp"
#include "settings/rank_list.hpp"

namespace sluice {

[[nodiscard]] std::span<Knob const> environment_knobs() noexcept;
/// Words of the variable SLUICE_TEST.
[[nodiscard]] std::span<Knob const> test_knobs() noexcept;

/// What SLUICE says.
struct ServedSetting {
    bool enabled = true;       ///< Files are served.
    bool collectives = false;  ///< MPI's nonblocking collectives are served, too.
    bool chain = false;        ///< Calls go on to the next preloaded library.
};
/// off, on, all or chain, or one of the first three and chain; nothing when it is none of these.
[[nodiscard]] std::optional<ServedSetting> parse_served(std::string const& text);

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

/// What SLUICE_TRACE says.
struct TraceSetting {
    std::string file;              ///< Empty: no trace is wanted.
    Bytes bytes = Bytes{8} << 20;  ///< Of the ring of a thread.
    RankList ranks = RankList::all();
};
/// FILE, FILE,SIZE, FILE,ranks=LIST or FILE,SIZE,ranks=LIST; nothing when it is none of them.
[[nodiscard]] std::optional<TraceSetting> parse_trace(std::string const& text);

/// How much is said, each with what is before it. What SLUICE_LOG says is its number.
enum class LogLevel : std::uint8_t {
    silent,
    warnings,
    summaries,  ///< Of each file, at the end.
    decisions,  ///< While the job runs.
};

struct Settings : ServedSetting {
    LogLevel log = LogLevel::warnings;
    bool helper = true;               ///< The helper thread is started.
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

/// Of names that somebody set and that begin as this library's do, those that are not known.
[[nodiscard]] std::vector<Complaint> unknown_variables(std::vector<std::string> names);
/// What cannot be understood keeps its default and adds a complaint.
[[nodiscard]] Settings read_settings(Lookup const& environment, std::vector<Complaint>& complaints);

}  // namespace sluice
