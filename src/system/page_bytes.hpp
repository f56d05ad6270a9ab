// The length of a page of memory, as the system has it.
#pragma once
#include "base/extent.hpp"

#include <unistd.h>

namespace sluice {

inline Bytes page_bytes() noexcept {
    static auto const bytes = static_cast<Bytes>(sysconf(_SC_PAGESIZE));
    return bytes;
}

}  // namespace sluice
