// What comes before a call on a file that the MPI serves.
#pragma once
#include "mpi/file/file.hpp"

namespace sluice {

/// Before the MPI moves bytes, or the end of the file is looked at: until all that calls have
/// delayed is in the file. `file` may be null. Local, blocks.
inline void wait_for_delayed(std::shared_ptr<File> const& file) {
    file ? file->wait_for_delayed({0, endless}, false) : wait_for_all_delayed();
}

/// The MPI serves a call: `pass()` is its own function. `file` may be null.
template <class Pass> int pass_on(std::shared_ptr<File> const& file, Pass&& pass) {
    wait_for_delayed(file);
    if (file) {
        file->clear_journals({0, endless});
        file->passed();
    }
    return pass();
}

}  // namespace sluice
