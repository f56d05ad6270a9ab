// What the processes of known programs transfer one call after the other, each for itself: the four
// programs of "Performance evaluation and modeling of HPC I/O on non-volatile memory", from their
// descriptions there. Pure. docs/nvm.md says what is known of each program and what was chosen.
#pragma once
#include "base/request.hpp"
#include "base/topology.hpp"

#include <string>
#include <vector>

namespace sluice::patterns {

/// One call of one process.
struct Transfer {
    Direction direction = Direction::write;
    Offset offset = 0;
    Bytes bytes = 0;
    bool operator==(Transfer const&) const = default;
};

/// What a program does between two points at which its processes meet.
struct Step {
    std::string name;  ///< As the program's users call it.
    std::vector<Transfer> transfers;
    bool prepares = false;  ///< Only so that the next steps find a file: it is not measured.
    bool is_cold = false;   ///< What it reads was written long ago: no cache holds it.
};

struct ApplicationSpec {
    std::string name = "ior";      ///< One of application_names().
    Bytes bytes = Bytes{8} << 20;  ///< Of a process, in each step that writes or reads all.
    Bytes transfer_bytes = Bytes{1} << 20;  ///< Of one call, at most; madbench has longer ones.
    std::int32_t parts = 0;  ///< Segments (ior), matrices (madbench), queries (s3asim); 0: usual.
    std::uint64_t seed = 1;  ///< Of all that is drawn.
};

/// ior         each segment has a block of each process, which goes through it in order; whose
///             block a process takes is drawn ("reorder tasks to random"). Steps write and read.
/// ior-random  the same, but through its blocks in a drawn order ("random offset").
/// ior-ordered the same, each process its own blocks, in order.
/// hacc        particles of nine variables, 38 bytes together; each variable is an array of all
///             processes' particles; calls in a drawn order. Step write.
/// madbench    square matrices of doubles, rows dealt out. Step S writes them, W reads each and
///             writes a result behind all of them, C reads the results.
/// s3asim      queries answered from a database that is read once, in order; query after query,
///             of drawn lengths, each shared by all processes. Step read.
[[nodiscard]] std::vector<std::string> const& application_names();

/// The program as one of its processes; the name must be known. Offsets and lengths are multiples
/// of eight bytes. All processes have the same steps, and but for hacc and s3asim as many calls of
/// the same lengths.
[[nodiscard]] std::vector<Step> steps_of(ApplicationSpec const& spec, Rank rank, Rank ranks);

/// All that all processes' calls touch lies below.
[[nodiscard]] Bytes file_bytes(ApplicationSpec const& spec, Rank ranks);

}  // namespace sluice::patterns
