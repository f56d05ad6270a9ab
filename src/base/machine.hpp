// What this machine costs: messages, copies, planning, and requests to the storage of one file
// system, as `sluice calibrate` measured them. A profile is text (base/description.hpp) that people
// can read and change. Pure. Used by file/plan/cost_model.hpp.
#pragma once
#include "base/description.hpp"
#include "base/request.hpp"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// Seconds that grow with a size: straight lines between the points that were measured. Below the
/// first point as long as there, beyond the last one as steep as before it.
struct Curve {
    struct Point {
        Bytes bytes = 0;
        double seconds = 0;
        bool operator==(Point const&) const = default;
    };
    std::vector<Point> points;  ///< By growing size.

    [[nodiscard]] double seconds(double bytes) const noexcept;
    bool operator==(Curve const&) const = default;
};

/// Requests of one kind to the storage. Each client has one under way at any time.
struct RequestCosts {
    struct Depth {
        std::int32_t clients = 1;
        Curve one;  ///< Seconds of one request, from asking to its end.
        bool operator==(Depth const&) const = default;
    };
    std::vector<Depth> depths;  ///< By growing number of clients.

    /// Seconds of one request of this size while so many clients have one under way each. Between
    /// the numbers measured as on a straight line, beyond them in proportion.
    [[nodiscard]] double seconds(double bytes, double clients) const noexcept;
    bool operator==(RequestCosts const&) const = default;
};

/// A message of n bytes takes start + n byte: T_s and T_w of the NVM paper's equation 2.
struct MessageCosts {
    double start = 0;  ///< Seconds whatever its length.
    double byte = 0;   ///< Seconds for each byte.
    bool operator==(MessageCosts const&) const = default;
};

/// Times in seconds. Equal on all ranks of a file: rank 0's counts.
struct MachineProfile {
    std::string measured;  ///< Where and when, for people. Empty: built in, from no measurement.

    MessageCosts between{2e-6, 2e-10};  ///< Nodes.
    MessageCosts within{1e-6, 1e-10};   ///< A node, by messages of the MPI.
    double queue = 5e-8;       ///< For each request that waits at the receiver, by each message.
    double copy_byte = 1e-10;  ///< Of a copy in memory.
    double copy_piece = 5e-9;  ///< For each piece of it.
    double plan_piece = 5e-9;  ///< Flattening, surveying and claiming: for each piece of a rank.
    double wake = 3e-6;       ///< Until a rank goes on after another of its node has done its part.
    double operation = 3e-5;  ///< A collective call of one node in which nothing is moved.
    double operation_nodes = 1e-4;  ///< What it takes longer with two nodes or more.
    double exchange = 3e-5;         ///< What claims add to it, and waiting for others.
    double round = 1e-5;            ///< Of a window of an aggregator, without its bytes.
    /// What a call takes longer whose ranks did something else before it, for each rank of a core:
    /// until they, and what serves the storage, are awake.
    double after_pause = 0;

    std::array<RequestCosts, 2> sequential, random;  ///< By Direction.

    /// It was measured, so that decisions may rest on it.
    [[nodiscard]] bool is_measured() const noexcept { return !measured.empty(); }
    bool operator==(MachineProfile const&) const = default;
};

/// Cautious numbers for a machine that nobody measured: a disk behind a page cache.
[[nodiscard]] MachineProfile const& usual_machine();

/// Of a profile's text; nothing where it is not one, and then `error` says why.
[[nodiscard]] std::optional<MachineProfile> machine_described(std::string const& text,
                                                              std::string& error);
/// As a profile's text says it, with comments for people; machine_described() reads it back.
[[nodiscard]] std::string describe(MachineProfile const& machine);

}  // namespace sluice
