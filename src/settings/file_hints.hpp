// The hints of a file: the values, the table of their names, and how they are read from an info
// object, which is handed in as a function. Pure.
#pragma once
#include "base/page_cache.hpp"
#include "settings/hints.hpp"
#include "settings/knob.hpp"
#include "settings/memory_hints.hpp"
#include "settings/placement.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// What MPI_File_close promises of what was written before it.
enum class Close : std::uint8_t {
    complete,  ///< It is in the file.
    durable,   ///< It is on the device.
    behind,    ///< It comes to be in the file: the call waits for no delayed write.
};

/// The hints of one rank.
struct FileHints {
    Hints plan;
    bool disabled = false;  ///< The file is left to the MPI.
    Close close = Close::complete;
    PageCache page_cache = PageCache::keep;
    Bytes write_behind = 0;  ///< Memory of a node for writes that are delayed; 0: none are.
    Bytes read_ahead = 0;    ///< The same for reads that are made before they are asked for.
    Placement placement;     ///< Of aggregators.
    /// A file that is made lies on as many servers as servers_usual() says.
    bool automatic_stripes = false;
    bool has_stripes = false;  ///< Those of the plan are what the file system tells of the file.
    MemoryHints memory;
    /// Which hints somebody gave that were understood, bits in the order of their
    /// table: those of the system's file do not count then.
    std::uint32_t given = 0;
    bool operator==(FileHints const&) const = default;
};

[[nodiscard]] std::span<Knob const> hint_knobs() noexcept;
/// Hints for experiments.
[[nodiscard]] std::span<Knob const> experiment_hint_knobs() noexcept;
/// Of any of these tables.
[[nodiscard]] bool is_hint(std::string_view name) noexcept;

[[nodiscard]] std::vector<Complaint> unknown_hints(std::vector<std::string> names);

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

/// Names and values as a program would set them. `aggregators` is the number of them where no hint
/// says otherwise.
[[nodiscard]] std::vector<std::pair<std::string, std::string>>
hints_in_force(FileHints const& hints, std::int32_t aggregators);

}  // namespace sluice
