// A StoredFile is a Storage as the library opens it: beside transfers it has what concerns the file
// as a whole.
#pragma once
#include "schedule/port.hpp"

namespace sluice {

class StoredFile : public Storage {
public:
    /// Why the file is not open: the error of all transfers.
    [[nodiscard]] virtual Error opened() const = 0;
    /// Before the first transfer: nobody passes the page cache of this file. A store to a mapping
    /// has the system write back more than its own page, which another's direct I/O may have
    /// written meanwhile.
    virtual void allow_mapping() {}
    /// Makes what this process wrote durable. Blocks.
    virtual Error sync() = 0;
    /// Backs the first `bytes` of the file with storage; what they hold stays. Blocks.
    virtual Error preallocate(Bytes bytes) = 0;
    /// Bytes that the file system has left; `endless` where it does not say.
    [[nodiscard]] virtual Bytes room() const = 0;
    /// Closes the file; the MPI may end then. No transfer follows. What the system tells of earlier
    /// writes only now. Blocks.
    virtual Error release() = 0;
};

}  // namespace sluice
