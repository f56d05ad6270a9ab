// A file of storage as the library opens it: beside transfers, what concerns the file as a whole.
#pragma once
#include "ports/port.hpp"

namespace sluice {

class StoredFile : public Storage {
public:
    /// Makes what this process wrote durable. Blocks.
    virtual Status sync() = 0;
    /// Backs the first `bytes` of the file with storage; what they hold stays. Blocks.
    virtual Status preallocate(Bytes bytes) = 0;
    /// Gives back what belongs to the MPI, which may end then. No transfer follows.
    virtual void release() {}
};

}  // namespace sluice
