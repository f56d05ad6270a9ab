// Tests use this seam between storages and the system: requests fail, fall short or are refused as
// if the system had said so. Programs never set it.
#pragma once
#include "base/request.hpp"

namespace sluice {

/// Called by the threads that transfer.
class Faults {
public:
    struct Request {
        Direction direction;
        Offset offset;
        Bytes bytes;
        bool direct_io;  ///< Past the page cache.
    };
    enum class Ability : std::uint8_t { open_direct_io, fallocate };

    virtual ~Faults() = default;
    /// Called before a request is made. Positive: it is cut to so many bytes. Else the request is
    /// not made, and this is its result.
    virtual long meet(Request const& request) = 0;
    /// The errno with which the system refuses; 0: it is asked.
    virtual int refusal(Ability) { return 0; }
};

}  // namespace sluice
