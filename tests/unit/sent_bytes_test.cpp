// What was sent and has not arrived, as far as credits tell.
#include "transport/sent_bytes.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(SentBytes, have_arrived_when_a_later_message_is_credited) {
    SentBytes sent;
    sent.add_message(1, 10);
    sent.add_message(2, 10);
    sent.credit(1);
    EXPECT_EQ(sent.bytes(), 20U);  // It does not tell them apart.
    sent.credit(2);
    EXPECT_EQ(sent.bytes(), 0U);
    sent.add_uncounted(2, 100);
    sent.credit(2);
    EXPECT_EQ(sent.bytes(), 100U);
    sent.add_message(3, 10);
    sent.add_message(4, 10);
    sent.credit(3);
    EXPECT_GE(sent.bytes(), 10U);
    sent.credit(4);
    EXPECT_EQ(sent.bytes(), 0U);
}

}  // namespace
}  // namespace sluice
