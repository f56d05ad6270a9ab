// Whether a stream of the program has come to where it ended when somebody asked.
#include "gpu/stream_points.hpp"

#include "fake_gpu_driver.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace sluice::stream_points_test {
namespace {

struct StreamPointsTest : ::testing::Test {
    fake_gpu::Driver driver;
    std::atomic<int> rings{0};
    StreamPoints points{driver, [this] { ++rings; }};
    GpuStream first = new_stream(), second = new_stream();

    ~StreamPointsTest() override {
        for (GpuStream const stream : {first, second}) driver.destroy_stream({}, stream);
    }
    GpuStream new_stream() {
        GpuStream stream = nullptr;
        driver.make_stream({}, stream);
        return stream;
    }
    std::shared_ptr<StreamPoint> end_of(GpuStream stream) {
        Error error;
        auto point = points.end_of(stream, error);
        EXPECT_FALSE(error);
        return point;
    }
    /// Work that lasts until it is told to end.
    class Gate {
    public:
        explicit Gate(GpuStream stream) {
            static_cast<fake_gpu::Stream*>(stream)->put([open = is_open_] { open->wait(false); });
        }
        void open() {
            *is_open_ = true;
            is_open_->notify_all();
        }

    private:
        std::shared_ptr<std::atomic<bool>> const is_open_ =
            std::make_shared<std::atomic<bool>>(false);
    };
    void expect_rings(int count) {
        for (int i = 0; i < 5000 && rings < count; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_EQ(rings, count);
    }
};

TEST_F(StreamPointsTest, WhatWasGivenBeforeCountsAndNothingElse) {
    Gate before(first);
    auto const point = end_of(first);
    Gate behind(first);
    EXPECT_FALSE(point->finished());
    EXPECT_EQ(rings, 0);
    before.open();
    point->wait();
    EXPECT_TRUE(point->finished());
    EXPECT_FALSE(point->error());
    expect_rings(1);
    behind.open();
}

/// The second stream comes to its point first.
struct TwoStreams : StreamPointsTest {
    void expect_apart(GpuStream of_first, GpuStream of_second) {
        Gate long_one(first), short_one(second);
        driver.current = 0;
        auto const late = end_of(of_first);
        driver.current = 1;
        auto const early = end_of(of_second);
        short_one.open();
        expect_rings(1);
        EXPECT_TRUE(early->finished());
        EXPECT_FALSE(late->finished());
        long_one.open();
        expect_rings(2);
        EXPECT_TRUE(late->finished());
    }
};

TEST_F(TwoStreams, NoneWaitsForTheOther) { expect_apart(first, second); }

/// The null stream of a device is another one than that of the next.
TEST_F(TwoStreams, OneHandleMayBeAStreamOfEachContext) {
    driver.default_streams = {first, second};
    expect_apart(nullptr, nullptr);
}

TEST_F(StreamPointsTest, ManyPointsOfAStreamComeInTheirOrder) {
    std::vector<int> order;
    std::vector<Gate> gates;
    std::vector<std::shared_ptr<StreamPoint>> all;
    for (int i = 0; i < 20; ++i) {
        gates.emplace_back(first);
        all.push_back(end_of(first));
        all.back()->call_at_end([&order, i] { order.push_back(i); });
    }
    for (Gate& gate : gates) gate.open();
    expect_rings(20);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST_F(StreamPointsTest, WhoAsksLateIsCalledAsWell) {
    auto const point = end_of(first);
    point->wait();
    std::atomic<bool> is_called{false};
    point->call_at_end([&] {
        is_called = true;
        is_called.notify_one();
    });
    is_called.wait(false);
}

TEST_F(StreamPointsTest, APointThatIsGivenUpIsNotWaitedFor) {
    Gate gate(first);
    end_of(first).reset();
    EXPECT_EQ(rings, 0);
    gate.open();
    expect_rings(1);
}

TEST_F(StreamPointsTest, WhatHasFailedBeforeIsTold) {
    driver.lose(fake_gpu::lost);
    auto const point = end_of(first);
    point->wait();
    EXPECT_EQ(point->error().status, Status::other);
}

TEST_F(StreamPointsTest, WhatTheDriverDoesNotKnowIsAnError) {
    driver.no_stream = second;
    Error error;
    EXPECT_EQ(points.end_of(second, error), nullptr);
    EXPECT_EQ(error.status, Status::buffer);
    EXPECT_TRUE(end_of(first));
}

}  // namespace
}  // namespace sluice::stream_points_test
