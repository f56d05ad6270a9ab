// Where aggregators are put by a user: the grammar of the hints, and what they choose.
#include "file/plan/placement.hpp"

#include <gtest/gtest.h>

namespace sluice::placement_test {
namespace {

std::vector<Rank> chosen(std::string const& text, std::vector<std::string> const& host_of) {
    auto const hosts = parse_hosts(text);
    EXPECT_TRUE(hosts.has_value()) << text;
    return ranks_of(hosts.value_or(std::vector<HostShare>{}), host_of);
}

TEST(Placement, HostsAreReadAndSaidAgain) {
    for (char const* const text : {"a:1", "node-1.site:3,b:*", "*:2", "a:0,*:1", "*:*"}) {
        auto const hosts = parse_hosts(text);
        ASSERT_TRUE(hosts.has_value()) << text;
        EXPECT_EQ(describe(*hosts), text);
        EXPECT_EQ(parse_hosts(describe(*hosts)), hosts);
    }
    EXPECT_EQ(parse_hosts("a"), parse_hosts("a:1"));
    EXPECT_EQ(parse_hosts("*"), parse_hosts("*:1"));
    EXPECT_TRUE(parse_hosts("*:*")->empty());
}

TEST(Placement, NonsenseIsNoHost) {
    for (char const* const text : {"", " ", ",", "a,", "a:", "a:b", "a:-1", "a:1:2", ":1", "a b",
                                   "a:99999999999", "a*", "*:1,,b", "\n"}) {
        EXPECT_EQ(parse_hosts(text), std::nullopt) << text;
    }
}

TEST(Placement, RanksAreReadAndSaidAgain) {
    EXPECT_EQ(parse_ranks("0,4,8"), (std::vector<Rank>{0, 4, 8}));
    EXPECT_EQ(parse_ranks("7"), std::vector<Rank>{7});
    EXPECT_EQ(parse_ranks("auto"), std::vector<Rank>{});
    EXPECT_EQ(describe(std::vector<Rank>{2, 1}), "2,1");
    EXPECT_EQ(describe(std::vector<Rank>{}), "auto");
    for (char const* const text : {"", "1,", ",1", "1,1", "-1", "1-3", "a", "1 2", "99999999999"}) {
        EXPECT_EQ(parse_ranks(text), std::nullopt) << text;
    }
}

TEST(Placement, NamedHostsOneAfterTheOtherAndTheRestInTurn) {
    std::vector<std::string> const host_of{"a", "a", "b", "b", "c", "c"};
    EXPECT_EQ(chosen("b", host_of), std::vector<Rank>{2});
    EXPECT_EQ(chosen("b:2,a", host_of), (std::vector<Rank>{2, 3, 0}));
    EXPECT_EQ(chosen("b:*,a:7", host_of), (std::vector<Rank>{2, 3, 0, 1}));
    EXPECT_EQ(chosen("*", host_of), (std::vector<Rank>{0, 2, 4}));
    EXPECT_EQ(chosen("*:2", host_of), (std::vector<Rank>{0, 2, 4, 1, 3, 5}));
    EXPECT_EQ(chosen("c:1,*:*", host_of), (std::vector<Rank>{4, 0, 2, 1, 3}));
    EXPECT_EQ(chosen("a:0,*", host_of), (std::vector<Rank>{2, 4}));
    EXPECT_EQ(chosen("nowhere:4", host_of), std::vector<Rank>{});
    EXPECT_EQ(chosen("a,a", host_of), (std::vector<Rank>{0, 1}));
}

TEST(Placement, AnAggregatorIsWhereTheListSays) {
    Topology const plain({0, 0, 1, 1, 2, 2});
    Topology const placed = plain.with_aggregators({5, 0, 1});
    EXPECT_EQ(placed.aggregator_count_max(), 3);
    EXPECT_EQ(placed.aggregator(0), 5);
    EXPECT_EQ(placed.aggregator(2), 1);
    EXPECT_EQ(placed.local_aggregator(2, 0), 5);  // On its own node the aggregator itself.
    EXPECT_EQ(placed.local_aggregator(0, 1), 0);
    EXPECT_EQ(placed.local_aggregator(0, 2), 1);
    EXPECT_EQ(placed.node_of(3), plain.node_of(3));
    EXPECT_EQ(plain.aggregator_count_max(), 6);
}

/// Two nodes of 5 and 3 ranks.
TEST(Division, GroupsOfNeighboursHaveTheirFirstRankAsLocalAggregator) {
    Topology const plain({0, 0, 0, 0, 0, 5, 5, 5});
    Topology const divided = plain.divided(4);
    ASSERT_EQ(divided.node_count(), 4);
    Node const expected[] = {0, 0, 0, 1, 1, 2, 2, 3};
    for (Rank rank = 0; rank < 8; ++rank) EXPECT_EQ(divided.node_of(rank), expected[rank]) << rank;
    EXPECT_EQ(divided.aggregator(1), plain.aggregator(1));
    for (std::int32_t a = 0; a < 8; ++a) {
        for (Node group = 0; group < 4; ++group) {
            Rank const expects = divided.node_of(divided.aggregator(a)) == group
                                     ? divided.aggregator(a)
                                     : divided.rank_at(group, 0);
            EXPECT_EQ(divided.local_aggregator(group, a), expects);
        }
    }
}

TEST(Division, AsManyLocalAggregatorsAsAreAskedForAndNoneCrossesANode) {
    for (Rank ranks = 1; ranks <= 24; ++ranks) {
        for (Rank const per_node : {1, 3, 8}) {
            std::vector<std::int32_t> names;
            for (Rank r = 0; r < ranks; ++r) names.push_back(r / per_node);
            Topology const plain(names);
            for (Rank asked = 1; asked <= ranks + 1; ++asked) {
                Topology const divided = plain.divided(asked);
                bool const full = ranks % per_node == 0;
                if (full) {
                    EXPECT_EQ(divided.node_count(), std::clamp(asked, plain.node_count(), ranks));
                }
                for (Rank r = 1; r < ranks; ++r) {
                    if (divided.node_of(r) != divided.node_of(r - 1)) continue;
                    EXPECT_EQ(plain.node_of(r), plain.node_of(r - 1));
                }
            }
        }
    }
}

}  // namespace
}  // namespace sluice::placement_test
