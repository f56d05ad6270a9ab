// The records of reductions: a message that did not come must not be taken for one that did.
#include "file/run/records.hpp"

#include <cstring>
#include <gtest/gtest.h>

namespace sluice::record_test {
namespace {

/// What a leader's message to another node brings there.
template <class Records> void deliver(Records& from, Records& to, Memory role) {
    auto const sent = from.message(Memory::record);
    auto const received = to.message(role);
    ASSERT_EQ(sent.size(), received.size());
    std::memcpy(received.data(), sent.data(), sent.size());
}

Op merge_of(Channel channel) {
    Op op = Op::merge(Memory::message, Memory::record);
    op.channel = channel;
    return op;
}

TEST(Record, OfAllNodesHasTheWeightsOfEach) {
    WeightsReduction parent, child;
    parent.record.bytes[3] = 5;
    child.record.bytes[3] = 7;
    deliver(child, parent, Memory::message);
    parent.merge(merge_of(Channel::weights), {});
    deliver(parent, child, Memory::record);
    EXPECT_EQ(parent.result().bytes[3], 12);
    EXPECT_EQ(child.result(), parent.result());
}

/// Nodes that divided the span in different ways would wait for messages that nobody sends.
TEST(Record, LostWeightsDivideTheSpanEvenlyOnAllNodes) {
    WeightsReduction parent, child;
    parent.record.bytes[3] = 5;
    parent.fail(Memory::message);
    parent.merge(merge_of(Channel::weights), {});
    deliver(parent, child, Memory::record);
    EXPECT_EQ(parent.result(), Weights::even());
    EXPECT_EQ(child.result(), Weights::even());
}

TEST(Record, ALostSummaryMakesTheOperationFailOnAllNodes) {
    SummaryReduction parent, child;
    parent.fail(Memory::message);
    parent.merge(merge_of(Channel::agreement), {});
    deliver(parent, child, Memory::record);
    EXPECT_NE(parent.record.status, Status::ok);
    EXPECT_NE(child.record.status, Status::ok);
}

}  // namespace
}  // namespace sluice::record_test
