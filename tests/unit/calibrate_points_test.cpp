// Places and numbers of the requests that are timed.
#include "tools/calibrate/points.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace sluice::calibrate::calibrate_points_test {
namespace {

constexpr Bytes mebibyte = Bytes{1} << 20, file_bytes = 256 * mebibyte;

Point any_point() {
    auto const points = points_of(file_bytes, false);
    return points[*rc::gen::inRange<std::size_t>(0, points.size())];
}

TEST(Points, HaveAllSizesThatProfilesNeed) {
    for (bool const slow : {false, true}) {
        std::set<Bytes> sizes;
        std::set<std::int32_t> clients;
        for (Point const& p : points_of(file_bytes, slow)) {
            sizes.insert(p.bytes);
            clients.insert(p.clients);
        }
        for (Bytes const bytes : {Bytes{4096}, Bytes{65536}, mebibyte, 4 * mebibyte})
            EXPECT_TRUE(sizes.contains(bytes)) << bytes;
        EXPECT_EQ(clients, (std::set<std::int32_t>{1, 2, 4, 8}));
    }
    EXPECT_LT(points_of(file_bytes, true).size(), points_of(file_bytes, false).size());
}

TEST(Points, OfSmallFilesFitInThem) {
    for (Point const& p : points_of(8 * mebibyte, false))
        EXPECT_LE(2 * p.bytes * p.clients, 8 * mebibyte);
}

TEST(Points, AreAllThereInEachOrder) {
    auto const points = points_of(file_bytes, false);
    auto const first = shuffled(points, 0), second = shuffled(points, 1);
    EXPECT_NE(first, second);
    EXPECT_EQ(first, shuffled(points, 0));
    EXPECT_TRUE(std::is_permutation(points.begin(), points.end(), second.begin()));
}

RC_GTEST_PROP(Places, LieInTheFileAtMultiplesOfTheSize, ()) {
    Point const p = any_point();
    auto const request = *rc::gen::inRange<std::int64_t>(0, 1 << 16);
    auto const before = *rc::gen::inRange<std::int64_t>(0, 1 << 24);
    auto const client = *rc::gen::inRange<std::int32_t>(0, p.clients);
    Offset const at = place_of(p, file_bytes, client, request, before);
    RC_ASSERT(at >= 0 && at + p.bytes <= file_bytes);
    RC_ASSERT(at % p.bytes == 0);
}

RC_GTEST_PROP(Places, SequentialOnesFollowEachOtherInTheirOwnStretch, ()) {
    Point p = any_point();
    p.random = false;
    auto const before = *rc::gen::inRange<std::int64_t>(0, 1 << 24);
    Bytes const stretch = file_bytes / p.clients;
    for (std::int32_t client = 0; client < p.clients; ++client) {
        for (std::int64_t i = 0; i < 20; ++i) {
            Offset const at = place_of(p, file_bytes, client, i, before);
            Offset const next = place_of(p, file_bytes, client, i + 1, before);
            RC_ASSERT(at / stretch == client);
            RC_ASSERT(next == at + p.bytes || next == client * stretch);
        }
    }
}

/// Devices know a few ends of requests, and take a request near one of them for its successor.
RC_GTEST_PROP(Places, RandomOnesAreFarFromTheLastOnes, ()) {
    Point p = any_point();
    p.random = true;
    p.bytes = std::min(p.bytes, mebibyte);
    auto const before = *rc::gen::inRange<std::int64_t>(0, 1 << 20);
    std::vector<Offset> places;
    for (std::int64_t i = 0; i < 64; ++i)
        for (std::int32_t client = 0; client < p.clients; ++client)
            places.push_back(place_of(p, file_bytes, client, i, before));
    for (std::size_t i = 16; i < places.size(); ++i)
        for (std::size_t last = i - 16; last < i; ++last)
            RC_ASSERT(std::abs(places[i] - places[last]) >= 8 * p.bytes);
}

TEST(Requests, FillTheTimeWithinBounds) {
    Point const random{Direction::read, true, 4096, 1}, sequential{Direction::read, false, 4096, 1};
    EXPECT_EQ(requests_for(random, 1e-3, 0.1), 100);
    EXPECT_EQ(requests_for(random, 1, 0.1), 1);
    EXPECT_EQ(requests_for(sequential, 1, 0.1), 2);
    EXPECT_EQ(requests_for(random, 0, 0.1), 1);
    EXPECT_LE(requests_for(random, 1e-12, 100), 1 << 16);
}

TEST(Costs, GoToTheirKindBySizeAndClients) {
    Point const a{Direction::write, true, 4096, 2}, b{Direction::write, true, 65536, 1},
        c{Direction::write, true, 4096, 1}, other{Direction::read, true, 4096, 1};
    auto const costs =
        costs_of({{a, 3.0}, {b, 2.0}, {c, 1.0}, {other, 9.0}}, Direction::write, true);
    ASSERT_EQ(costs.depths.size(), 2U);
    EXPECT_EQ(costs.depths[0].clients, 1);
    EXPECT_EQ(costs.depths[0].one.points, (std::vector<Curve::Point>{{4096, 1.0}, {65536, 2.0}}));
    EXPECT_EQ(costs.depths[1].one.points, (std::vector<Curve::Point>{{4096, 3.0}}));
}

TEST(Costs, OfDisturbedPointsAreThoseOfLongerAndMoreRequests) {
    auto const point = [](Bytes bytes, std::int32_t clients) {
        return Point{Direction::read, true, bytes, clients};
    };
    auto const costs = costs_of({{point(4096, 1), 7.0},
                                 {point(65536, 1), 2.0},
                                 {point(4096, 2), 1.0},
                                 {point(65536, 2), 4.0}},
                                Direction::read, true);
    EXPECT_EQ(costs.depths[0].one.points, (std::vector<Curve::Point>{{4096, 1.0}, {65536, 2.0}}));
    EXPECT_EQ(costs.depths[1].one.points, (std::vector<Curve::Point>{{4096, 1.0}, {65536, 4.0}}));
}

}  // namespace
}  // namespace sluice::calibrate::calibrate_points_test
