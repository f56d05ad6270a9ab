// Where an access begins, and how the pointer that says so is moved on. The individual file pointer
// lives in the MPI. The shared one is a SharedFilePointer where all ranks of the file are on one
// node, which these functions need for it.
#pragma once
#include "mpi/file/access.hpp"

namespace sluice {

/// Sets where the request begins, from a pointer that moves on by its bytes, or from `offset`. An
/// error, and no move, where it lies beyond what offsets can say. The shared pointer moves by what
/// is asked for, also where a read finds fewer bytes (MPI-4.1, 14.4.4). Local.
[[nodiscard]] Status take_position(File const& file, From from, MPI_Offset offset,
                                   Request& request);

/// The same from the shared pointer, which moves on by the bytes of all ranks: the parts of the
/// ranks follow each other in their order. `mine` is what this rank has found so far; where a rank
/// has found an error all return it, and the pointer stays. Blocking. Collective.
[[nodiscard]] Status take_in_order(File const& file, Request& request, Status mine);

/// MPI_File_seek_shared: `mismatch` where the arguments differ between the ranks (MPI-4.1, 14.4.4);
/// after an error the pointer stays. Blocking. Collective.
[[nodiscard]] Status seek_shared(File const& file, MPI_Offset offset, int whence);

/// MPI_File_get_size: the length that the file has when all is in it that calls have delayed. Waits
/// only for what other ranks may write behind that end. `file` may be null: the MPI serves it.
/// Local, blocks.
int length(MPI_File handle, std::shared_ptr<File> const& file, MPI_Offset* bytes);

/// MPI_File_seek. The caller holds the PointerLock. Local, blocks.
int seek(std::shared_ptr<File> const& served, MPI_Offset offset, int whence);

/// At the open with MPI_MODE_APPEND: both pointers begin at the end of the file (MPI-4.1, 14.2.1),
/// which may lie in bytes that another handle's writes have delayed. Blocking. Collective.
void begin_at_end(File& file);

}  // namespace sluice
