// What was installed for each MPI, and which of it is needed.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// The folder with lib/ and libexec/ for one MPI.
struct MpiPart {
    std::string name;  ///< Empty in a build tree, which has no other.
    std::string folder;

    /// The library for programs of the standard ABI, or that for the MPI's own.
    [[nodiscard]] std::string library(bool abi) const;
};

/// Whether a file may be read.
bool is_there(std::string const& file);

/// In the order of their names; never empty: where nothing is installed, the place where it would
/// be in a build tree.
std::vector<MpiPart> mpi_parts();

/// The MPI that a program or library is linked to, by the name of the MPI's library without
/// versions of the same ABI: libmpi.so.12, libmpi.so.40 or libmpi_abi.so. Empty: none is known.
std::string mpi_of(std::string const& file);

/// Debian's MPICH has its own name (libmpich.so.12), so a process may get it beside another MPICH.
bool is_debians_mpich(std::string const& file);

/// Was an MPI linked into the program, whose calls then pass a preloaded library by? Found where
/// the program was not stripped.
bool has_own_mpi(std::string const& program);

/// The mpiexec that belongs to an MPI, whose library this is: in a folder bin beside one of those
/// that the library lies in, by the MPI's own name there (mpiexec.mpich) where there is one. Empty:
/// none is found.
std::string mpiexec_of(std::string const& library);

/// "Open MPI (libmpi.so.40)", for messages.
std::string mpi_in_words(std::string const& mpi);

/// The part for a program (empty: for Sluice's own programs), by SLUICE_MPI, by what the program
/// is linked to, and by the mpiexec around. Where nothing tells which: says so, and returns none.
std::optional<MpiPart> part_for(std::string const& program, bool abi);

}  // namespace sluice
