// What comes before a call on a file that the MPI serves.
#pragma once
#include "mpi/file/file.hpp"

namespace sluice {

/// Before the end of the file is looked at: until all that calls have delayed is in the file.
/// `file` may be null: the MPI serves it. Local, blocks.
inline void wait_for_delayed(std::shared_ptr<File> const& file) {
    file ? file->delayed->wait_for({0, endless}, Before::read) : Delayed::wait_for_all();
}

/// The MPI serves a call: `pass()` is its own function. `file` may be null.
template <class Pass> int pass_on(std::shared_ptr<File> const& file, Pass&& pass) {
    if (file) {
        file->delayed->wait_for({0, endless}, Before::write);
        file->passed();
    } else {
        Delayed::wait_for_all();
    }
    return pass();
}

}  // namespace sluice
