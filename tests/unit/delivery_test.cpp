// The kernels as arithmetic: each order takes every sender once; the paper's claims about them.
#include "drawn.hpp"
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
                              Kernel::balanced, Kernel::even};

TEST(Delivery, EveryOrderTakesEverySenderOnce) {
    for (Rank ranks = 1; ranks <= 17; ++ranks) {
        for (Rank const per_node : {1, 3, 4}) {
            auto const topology = topology_of(ranks, per_node);
            for (auto const kernel : kernels) {
                for (std::int32_t const stride : {0, 1, 3}) {
                    for (std::int32_t count = 1; count <= ranks; ++count) {
                        for (std::int32_t a = 0; a < count; ++a) {
                            std::set<std::int64_t> steps;
                            for (Rank sender = 0; sender < ranks; ++sender) {
                                steps.insert(delivery_step(
                                    {.kernel = kernel, .layers = Layers::one, .stride = stride},
                                    topology, sender, a, count));
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

/// The paper's list is any ordering; its example for figure 1 (b) is that of stride 4.
TEST(Delivery, AListOfAStrideIsThePapersExample) {
    Rank const example[] = {0, 4, 1, 5, 2, 6, 3, 7};
    for (Rank place = 0; place < 8; ++place) EXPECT_EQ(strided_place(example[place], 8, 4), place);
}

TEST(Delivery, AListOfAnyStrideHasEachRankOnceInItsOrder) {
    for (Rank ranks = 1; ranks <= 40; ++ranks) {
        for (std::int32_t stride = 1; stride <= ranks + 1; ++stride) {
            std::vector<Rank> list;
            for (Rank first = 0; first < stride; ++first)
                for (Rank rank = first; rank < ranks; rank += stride) list.push_back(rank);
            for (std::size_t place = 0; place < list.size(); ++place)
                EXPECT_EQ(strided_place(list[place], ranks, stride), static_cast<Rank>(place));
        }
    }
}

/// With the list of figure 1 (b) aggregators 0 to 3 begin with ranks 0, 1, 2 and 3.
TEST(Delivery, ReceiversBeginAtTheirPlacesOfTheStridedList) {
    auto const topology = topology_of(8, 8);
    Delivery const delivery{.kernel = Kernel::balanced, .stride = 4};
    for (Rank a = 0; a < 4; ++a) EXPECT_EQ(delivery_step(delivery, topology, a, a, 4), 0);
    EXPECT_EQ(delivery_step(delivery, topology, 4, 0, 4), 1);
}

/// At no step do two receivers take from the same sender: they begin at different places, and all
/// go on by one.
TEST(Delivery, NoTwoReceiversTakeFromTheSameSenderAtAStep) {
    auto const topology = topology_of(24, 4);
    for (auto const kernel : {Kernel::balanced, Kernel::even}) {
        for (std::int32_t count = 1; count <= 24; ++count) {
            std::set<std::pair<std::int64_t, Rank>> taken;
            for (std::int32_t a = 0; a < count; ++a) {
                for (Rank sender = 0; sender < 24; ++sender)
                    taken.emplace(delivery_step({kernel}, topology, sender, a, count), sender);
            }
            EXPECT_EQ(taken.size(), static_cast<std::size_t>(count) * 24) << describe(kernel);
        }
    }
}

/// Receivers that begin one place before the next one wait for it at each step: how many of them
/// there are in a row at most.
std::int32_t longest_row(Kernel kernel, Rank ranks, std::int32_t receivers) {
    auto const place = [&](std::int32_t index) {
        Rank at = 0;
        while ((kernel == Kernel::even
                    ? even_step(at, ranks, index % receivers, receivers)
                    : balanced_step(at, ranks, index % receivers, receivers)) != 0)
            ++at;
        return at + (index >= receivers ? ranks : 0);
    };
    std::int32_t longest = 0, row = 0;
    for (std::int32_t index = 0; index < 2 * receivers - 1; ++index) {  // Twice: rows close.
        row = (place(index + 1) - place(index) + ranks) % ranks == 1 % ranks ? row + 1 : 0;
        longest = std::max(longest, std::min(row, receivers));
    }
    return longest;
}

/// With ranks / 2 < receivers < ranks the paper's order has one row of all receivers that have a
/// near one behind them; the even order cuts it as often as there are ranks that receive nothing.
TEST(Delivery, RowsOfReceiversThatWaitForEachOtherAreShortWhenEven) {
    for (Rank ranks = 3; ranks <= 40; ++ranks) {
        for (std::int32_t receivers = ranks / 2 + 1; receivers < ranks; ++receivers) {
            std::int32_t const near = 2 * receivers - ranks, cuts = ranks - receivers;
            EXPECT_EQ(longest_row(Kernel::balanced, ranks, receivers), near);
            EXPECT_EQ(longest_row(Kernel::even, ranks, receivers), (near + cuts - 1) / cuts);
        }
    }
}

/// Where receivers divide the ranks there is one way to space them evenly.
TEST(Delivery, EvenAndBalancedAreTheSameWhereReceiversDivideTheRanks) {
    for (Rank ranks = 1; ranks <= 40; ++ranks) {
        for (std::int32_t count = 1; count <= ranks; ++count) {
            for (std::int32_t index = 0; ranks % count == 0 && index < count; ++index)
                EXPECT_EQ(even_step(0, ranks, index, count), balanced_step(0, ranks, index, count));
        }
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
            for (std::int32_t const stride : {0, 4}) {
                for (std::uint8_t const synchronous : {std::uint8_t{0}, std::uint8_t{1}}) {
                    Throttle const throttle{stride == 0 ? 16 : -1, synchronous};
                    Delivery delivery{kernel, layers, synchronous, 0, stride, throttle};
                    if (stride != 0) delivery.throttle = {};
                    EXPECT_EQ(parse_delivery(describe(delivery)), delivery);
                }
            }
        }
    }
    EXPECT_EQ(parse_delivery("throttle:16,batches")->throttle, (Throttle{16, 1}));
    EXPECT_EQ(parse_delivery("throttle:auto"), Delivery{});
    EXPECT_EQ(parse_delivery("by-rank")->stride, 1);
    Delivery const before{.kernel = Kernel::pairwise, .throttle = {4}};
    EXPECT_EQ(parse_delivery("two-layer", before)->kernel, Kernel::pairwise);
    EXPECT_EQ(parse_delivery("throttle:5", before)->throttle, (Throttle{5}));
    for (auto const* const text : {"balanced,quickly", "throttle:-3", "throttle:3x",
                                   "throttle:", "stride:0", "stride:", "stride:x"})
        EXPECT_FALSE(parse_delivery(text)) << text;
}

TEST(Claim, SurvivesAMessageAndDamageIsNoticed) {
    std::mt19937_64 random(testing::run_seed());
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
