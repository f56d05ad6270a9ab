// What the tests of faults in the simulation have in common: calls of all ranks, and what must hold
// of them and of the file whatever went wrong.
#pragma once
#include "simulated_parts.hpp"

#include <gtest/gtest.h>

#include <map>

namespace sluice::testing {

using Operations = std::vector<std::shared_ptr<Operation>>;

inline std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Errors that were reported, by rank.
using Reports = std::map<Rank, std::vector<Error>>;

/// Every rank makes the call; returns the operations by rank.
inline Operations call_all(World& world, std::vector<Part>& parts, Strategy strategy,
                           std::int32_t queue = 0, Reports* reports = nullptr) {
    Operations all;
    for (std::size_t r = 0; r < parts.size(); ++r) {
        auto const rank = static_cast<Rank>(r);
        Call call = call_of(parts[r], strategy);
        if (reports) {
            call.report_error = [=](Operation const& met) {
                (*reports)[rank].push_back(met.error());
            };
        }
        all.push_back(world.call(rank, queue, std::move(call)));
    }
    return all;
}

inline void expect_status(Operations const& all, Status status) {
    for (std::size_t r = 0; r < all.size(); ++r) {
        ASSERT_TRUE(all[r]->complete()) << "rank " << r;
        ASSERT_EQ(all[r]->status(), status) << "rank " << r << ": " << describe(all[r]->status());
    }
}

inline void turn_into_reads(std::vector<Part>& parts, std::byte fill) {
    for (Part& part : parts) {
        part.request.direction = Direction::read;
        std::fill(part.memory.begin(), part.memory.end(), fill);
    }
}

inline constexpr Rank fault_ranks = 5;
inline constexpr std::byte untouched{0xc3};

/// Bytes that nobody asked for must be as before, whatever happened to the others.
inline void expect_holes_untouched(World& world, std::vector<Part> const& parts) {
    auto const& file = world.file(0).bytes;
    std::vector<bool> asked(file.size());
    for (Part const& part : parts) {
        Request const& r = part.request;
        for (Bytes i = 0; i < r.bytes; ++i) {
            auto const at = index(offset_in_file(r, i));
            if (at < asked.size()) asked[at] = true;
        }
    }
    for (std::size_t i = 0; i < file.size(); ++i) {
        ASSERT_TRUE(asked[i] || file[i] == untouched) << "file offset " << i;
    }
}

inline std::vector<Part> parts_with_holes(World& world) {
    auto parts = parts_of(world, fault_ranks, 2);
    for (Rank r = 0; r < fault_ranks; ++r) {  // Enough bytes for several rounds.
        Part& part = parts[index(r)];
        part.request.bytes = 900 + 10 * r;
        part.memory.clear();
        for (Bytes i = 0; i < part.request.bytes; ++i) part.memory.push_back(value_of(r, i));
    }
    return parts;
}

}  // namespace sluice::testing
