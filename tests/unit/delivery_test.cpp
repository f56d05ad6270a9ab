// The kernels as arithmetic: each order takes every sender once; the paper's claims about them.
#include "file/plan/claims.hpp"
#include "file/plan/delivery.hpp"
#include "whole_world.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace sluice::delivery_test {
namespace {

using testing::topology_of;

constexpr Kernel kernels[] = {Kernel::ascending, Kernel::pairwise, Kernel::spread_out,
                              Kernel::balanced};

TEST(Delivery, EveryOrderTakesEverySenderOnce) {
    for (Rank ranks = 1; ranks <= 17; ++ranks) {
        for (Rank const per_node : {1, 3, 4}) {
            auto const topology = topology_of(ranks, per_node);
            for (auto const kernel : kernels) {
                for (auto const list : {RankList::nodes, RankList::ranks}) {
                    for (std::int32_t count = 1; count <= ranks; ++count) {
                        for (std::int32_t a = 0; a < count; ++a) {
                            std::set<std::int64_t> steps;
                            for (Rank sender = 0; sender < ranks; ++sender) {
                                steps.insert(delivery_step({kernel, Layers::one, list}, topology,
                                                           sender, a, count));
                            }
                            EXPECT_EQ(steps.size(), static_cast<std::size_t>(ranks));
                        }
                    }
                }
            }
        }
    }
}

/// Section III of the paper: where the groups of algorithm 2 begin.
TEST(Delivery, TheBalancedOrderBeginsAtEvenlySpacedPlaces) {
    for (Rank ranks = 1; ranks <= 40; ++ranks) {
        for (std::int32_t count = 1; count <= ranks; ++count) {
            Rank expected = 0;
            for (std::int32_t index = 0; index < count; ++index) {
                EXPECT_EQ(balanced_step(expected, ranks, index, count), 0);
                expected += index < ranks % count ? (ranks + count - 1) / count : ranks / count;
            }
        }
    }
}

TEST(Delivery, NoTwoReceiversBeginWithTheSameSenderWhenBalanced) {
    auto const topology = topology_of(24, 4);
    for (std::int32_t count = 1; count <= 24; ++count) {
        std::set<Rank> first;
        for (std::int32_t a = 0; a < count; ++a) {
            for (Rank sender = 0; sender < 24; ++sender) {
                if (delivery_step({Kernel::balanced}, topology, sender, a, count) == 0) {
                    first.insert(sender);
                }
            }
        }
        EXPECT_EQ(first.size(), static_cast<std::size_t>(count));
    }
}

TEST(Delivery, SendersServeTheReceiverThatTakesThemFirst) {
    auto const topology = topology_of(16, 4);
    for (auto const kernel : kernels) {
        for (Rank sender = 0; sender < 16; ++sender) {
            auto const order = send_order({kernel}, topology, sender, 8);
            ASSERT_EQ(order.size(), 8u);
            for (std::size_t i = 1; i < order.size(); ++i) {
                auto const step = [&](std::int32_t a) {
                    return kernel == Kernel::ascending
                               ? a
                               : delivery_step({kernel}, topology, sender, a, 8);
                };
                EXPECT_LE(step(order[i - 1]), step(order[i]));
            }
        }
    }
}

TEST(Throttle, BatchesEndBeforeTheNextBeginsAndWindowsSlide) {
    Throttle const batches{4, 1}, sliding{4, 0}, none{0};
    std::int64_t const by_batch[] = {0, 0, 0, 0, 4, 4, 4, 4, 8};
    std::int64_t const by_window[] = {0, 0, 0, 0, 1, 2, 3, 4, 5};
    for (std::int64_t n = 0; n < 9; ++n) {
        EXPECT_EQ(batches.needed_before(n), by_batch[n]);
        EXPECT_EQ(sliding.needed_before(n), by_window[n]);
        EXPECT_EQ(none.needed_before(n), 0);
    }
}

TEST(Delivery, TextIsReadAsItIsWritten) {
    for (auto const kernel : kernels) {
        for (auto const layers : {Layers::automatic, Layers::one, Layers::two}) {
            for (auto const list : {RankList::nodes, RankList::ranks}) {
                for (std::uint8_t const synchronous : {std::uint8_t{0}, std::uint8_t{1}}) {
                    Delivery const delivery{kernel, layers, list, synchronous};
                    EXPECT_EQ(parse_delivery(describe(delivery)), delivery);
                }
            }
        }
    }
    EXPECT_FALSE(parse_delivery("balanced,quickly"));
    EXPECT_EQ(parse_throttle("16,batches"), (Throttle{16, 1}));
    EXPECT_EQ(parse_throttle("auto"), Throttle{});
    EXPECT_FALSE(parse_throttle("-3"));
    EXPECT_FALSE(parse_throttle("3x"));
}

TEST(Claim, SurvivesAMessageAndDamageIsNoticed) {
    std::mt19937_64 random(3);
    for (int attempt = 0; attempt < 500; ++attempt) {
        Claim claim;
        claim.scale = 1 + static_cast<std::uint32_t>(random() % 1000);
        claim.round_bytes = static_cast<Bytes>(random() >> 20);
        auto const bits = attempt % 5 == 0 ? 0 : random() % 300;
        for (std::uint64_t i = 0; i < bits; ++i) {
            claim.add(static_cast<std::int64_t>(random() % Claim::bit_count));
        }
        ByteBuffer message;
        encode(claim, message);
        EXPECT_LE(message.size(), encoded_claim_bytes_max);
        std::size_t at = 0;
        EXPECT_EQ(decode_claim(message, at), claim);
        EXPECT_EQ(at, message.size());
        for (std::size_t cut = 0; cut < message.size(); ++cut) {
            at = 0;
            EXPECT_FALSE(decode_claim(std::span(message).first(cut), at));
        }
    }
}

TEST(Claim, KnowsItsFirstAndLastRound) {
    Claim claim;
    EXPECT_TRUE(claim.empty());
    claim.scale = 3;
    claim.add(70);
    claim.add(255);
    EXPECT_EQ(claim.first(), 210);
    EXPECT_EQ(claim.end(), 768);
    EXPECT_TRUE(claim.contains(212));
    EXPECT_FALSE(claim.contains(213));
    EXPECT_FALSE(claim.contains(768));
}

}  // namespace
}  // namespace sluice::delivery_test
