// The bytes of a request, one by one: what tests compare lists of runs with.
#pragma once
#include "base/request.hpp"

#include <vector>

namespace sluice {

inline std::vector<Offset> places_of(Request const& r) {
    std::vector<Offset> all;
    for (Bytes i = 0; i < r.bytes; ++i) all.push_back(offset_in_file(r, i));
    return all;
}

}  // namespace sluice
