// The names of statuses in messages. See status.hpp.
#include "base/status.hpp"

namespace sluice {

char const* describe(Status status) noexcept {
    switch (status) {
    case Status::ok:
        return "success";
    case Status::other:
        return "unknown error";
    case Status::mismatch:
        return "collective calls differ between ranks";
    case Status::io:
        return "input/output error";
    case Status::no_memory:
        return "out of memory";
    case Status::bad_file:
        return "bad file";
    case Status::no_such_file:
        return "no such file";
    case Status::access:
        return "permission denied";
    case Status::read_only:
        return "file is read-only";
    case Status::amode:
        return "access mode forbids it";
    case Status::quota:
        return "quota exceeded";
    case Status::no_space:
        return "no space left";
    case Status::unsupported:
        return "unsupported operation";
    case Status::split:
        return "split collectives out of order";
    case Status::truncated:
        return "message truncated";
    case Status::conversion:
        return "number out of the range of the file's representation";
    case Status::argument:
        return "invalid argument";
    case Status::buffer:
        return "invalid buffer";
    case Status::type:
        return "invalid datatype";
    case Status::count:
        return "invalid count";
    }
    return "unknown error";
}

}  // namespace sluice
