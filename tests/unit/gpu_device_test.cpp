// Whether rows arrive that a device was told to copy, and what is told where they do not.
#include "gpu/gpu_device.hpp"
#include "system/page_bytes.hpp"

#include "drawn.hpp"
#include "fake_gpu_driver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <random>
#include <string_view>
#include <thread>

namespace sluice::gpu_device_test {
namespace {

using fake_gpu::Allocation;

Offset address_of(void const* memory) { return reinterpret_cast<Offset>(memory); }

/// Pages of the host.
struct HostPages {
    explicit HostPages(Bytes wanted)
        : bytes(wanted),
          data(static_cast<std::byte*>(std::aligned_alloc(static_cast<std::size_t>(page_bytes()),
                                                          static_cast<std::size_t>(wanted)))) {
        std::memset(data, 0, static_cast<std::size_t>(bytes));
    }
    ~HostPages() { std::free(data); }
    HostPages(HostPages const&) = delete;
    HostPages& operator=(HostPages const&) = delete;
    [[nodiscard]] std::span<std::byte> all() const {
        return {data, static_cast<std::size_t>(bytes)};
    }
    [[nodiscard]] std::span<std::byte> pages(Bytes first, Bytes count) const {
        return all().subspan(static_cast<std::size_t>(first * page_bytes()),
                             static_cast<std::size_t>(count * page_bytes()));
    }

    Bytes const bytes;
    std::byte* const data;
};

void fill(std::span<std::byte> memory, unsigned seed) {
    std::minstd_rand random(seed);
    for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
}

Allocation allocation(Bytes bytes, GpuContext context = {1, 0}) {
    Allocation made{std::vector<std::byte>(static_cast<std::size_t>(bytes)), context};
    fill(made.bytes, static_cast<unsigned>(bytes));
    return made;
}

struct GpuDeviceTest : ::testing::Test {
    fake_gpu::Driver driver;
    HostMemory memory{driver};
    std::atomic<int> rings{0};
    GpuDevice device{driver, {1, 0}, memory, [this] { ++rings; }};

    Error copy(Direction way, std::vector<Rows> rows) {
        auto const started = device.start(way, std::move(rows));
        started->wait();
        EXPECT_TRUE(started->finished());
        return started->error();
    }
    void expect_rings(int count) {
        for (int i = 0; i < 5000 && rings < count; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_EQ(rings, count);
    }
};

/// Pieces with gaps between them, one after the other on both sides, in rows of any stride.
std::vector<Rows> drawn_rows(std::minstd_rand& random, Offset target, Offset source, Bytes room) {
    std::vector<Rows> rows;
    Bytes at_target = 0, at_source = 0;
    for (;;) {
        auto const upto = [&](unsigned n) { return static_cast<Bytes>(random() % n); };
        Rows row{.length = 1 + upto(300), .count = 1 + upto(4)};
        Bytes const target_gap = upto(3) * upto(50), source_gap = upto(3) * upto(50);
        row.target_stride = row.length + target_gap;
        row.source_stride = row.length + source_gap;
        row.target = target + at_target;
        row.source = source + at_source;
        at_target += row.count * row.target_stride;
        at_source += row.count * row.source_stride;
        if (std::max(at_target, at_source) > room) return rows;
        if (upto(4) == 0) {
            row.target += (row.count - 1) * row.target_stride;
            row.target_stride = -row.target_stride;
        }
        if (row.count == 1) row.target_stride = row.source_stride = 0;
        rows.push_back(row);
    }
}

/// What the target's bytes are afterwards.
std::vector<std::byte> expected_bytes(std::span<std::byte const> target, Offset target_address,
                                      std::span<std::byte const> source, Offset source_address,
                                      std::vector<Rows> const& rows) {
    std::vector<std::byte> bytes(target.begin(), target.end());
    for (Rows const& row : rows) {
        for (std::int64_t i = 0; i < row.count; ++i) {
            Offset const to = row.target + i * row.target_stride - target_address;
            Offset const from = row.source + i * row.source_stride - source_address;
            std::copy_n(source.begin() + from, row.length, bytes.begin() + to);
        }
    }
    return bytes;
}

TEST_F(GpuDeviceTest, RowsArriveBothWays) {
    for (unsigned const seed : testing::FreshSeeds(40)) {
        std::minstd_rand random(seed);
        Bytes const room = 4 * page_bytes();
        HostPages const host(room);
        Allocation there = allocation(room);
        fill(host.all(), seed);
        driver.has_kernel = random() % 2 == 0;
        if (random() % 4 > 0) device.hold(host.pages(0, 2));
        if (random() % 2 == 0) device.hold(host.pages(2, 1));

        Offset const here = address_of(host.data);
        auto rows = drawn_rows(random, here, there.address(), room);
        auto expected = expected_bytes(host.all(), here, there.bytes, there.address(), rows);
        EXPECT_FALSE(copy(Direction::write, rows));
        EXPECT_TRUE(std::ranges::equal(host.all(), expected)) << "seed " << seed;

        fill(host.all(), seed + 1);
        rows = drawn_rows(random, there.address(), here, room);
        expected = expected_bytes(there.bytes, there.address(), host.all(), here, rows);
        EXPECT_FALSE(copy(Direction::read, rows));
        EXPECT_TRUE(there.bytes == expected) << "seed " << seed;
        driver.registered.clear();  // The pages go.
    }
}

TEST_F(GpuDeviceTest, ItReturnsBeforeTheCopyIsFinishedAndRingsAfterIt) {
    HostPages const host(page_bytes());
    Allocation there = allocation(100);
    driver.stop();
    auto const started =
        device.start(Direction::write, {{address_of(host.data), there.address(), 100}});
    EXPECT_FALSE(started->finished());
    EXPECT_EQ(rings, 0);
    driver.go_on();
    started->wait();
    EXPECT_TRUE(started->finished());
    EXPECT_EQ(std::memcmp(host.data, there.bytes.data(), 100), 0);
    expect_rings(1);
}

TEST_F(GpuDeviceTest, ACopyThatIsGivenUpIsWaitedFor) {
    HostPages const host(page_bytes());
    Allocation there = allocation(100);
    driver.stop();
    auto started = device.start(Direction::write, {{address_of(host.data), there.address(), 100}});
    std::thread other([this] { driver.go_on(); });
    started.reset();
    EXPECT_EQ(std::memcmp(host.data, there.bytes.data(), 100), 0);
    other.join();
}

TEST_F(GpuDeviceTest, AnEmptyCopyIsFinished) {
    auto const started = device.start(Direction::write, {{0, 0, 0}});
    EXPECT_TRUE(started->finished());
    EXPECT_FALSE(started->error());
    EXPECT_EQ(driver.streams, 0);
    expect_rings(1);
}

TEST_F(GpuDeviceTest, AnErrorInTheMidstIsToldWhenWhatBeganBeforeHasEnded) {
    HostPages const host(page_bytes());
    Allocation there = allocation(100);
    driver.failing_call = 1;
    driver.stop();
    Offset const here = address_of(host.data);
    auto const started = device.start(
        Direction::write, {{here, there.address(), 10}, {here + 20, there.address() + 20, 10}});
    EXPECT_FALSE(started->finished());
    driver.go_on();
    started->wait();
    EXPECT_EQ(started->error().status, Status::no_memory);
    EXPECT_STREQ(started->error().what, "copy: error 2");
    EXPECT_EQ(std::memcmp(host.data, there.bytes.data(), 10), 0);
    expect_rings(1);
}

TEST_F(GpuDeviceTest, AnErrorOfTheDeviceIsTold) {
    HostPages const host(page_bytes());
    Allocation there = allocation(100);
    driver.lose(fake_gpu::lost);
    Error const error = copy(Direction::write, {{address_of(host.data), there.address(), 100}});
    EXPECT_EQ(error.status, Status::other);
    EXPECT_TRUE(std::string_view(error.what).ends_with(": LOST")) << error.what;
}

TEST_F(GpuDeviceTest, WithoutAStreamTheCopyIsFinishedAndTheNextOneTriesAgain) {
    HostPages const host(page_bytes());
    Allocation there = allocation(100);
    driver.streams_fail = fake_gpu::out_of_memory;
    std::vector<Rows> const rows{{address_of(host.data), there.address(), 100}};
    auto const started = device.start(Direction::write, rows);
    EXPECT_TRUE(started->finished());
    EXPECT_EQ(started->error().status, Status::no_memory);
    expect_rings(1);
    driver.streams_fail = 0;
    EXPECT_FALSE(copy(Direction::write, rows));
    EXPECT_FALSE(copy(Direction::write, rows));
    EXPECT_EQ(driver.streams, 1);
}

TEST_F(GpuDeviceTest, ADriverThatCannotCopySaysWhy) {
    driver.why_not = "it cannot";
    auto const started = device.start(Direction::read, {{fake_gpu::apart, 0, 1}});
    EXPECT_TRUE(started->finished());
    EXPECT_EQ(started->error().status, Status::unsupported);
    EXPECT_STREQ(started->error().what, "it cannot");
    EXPECT_EQ(device.take_window(), nullptr);
}

TEST_F(GpuDeviceTest, ManyShortRowsGoByTheKernelWhereTheirMemoryIsRegistered) {
    HostPages const host(page_bytes());
    Allocation there = allocation(page_bytes());
    std::vector<Rows> rows;
    for (Offset i = 0; i < 17; ++i)
        rows.push_back({address_of(host.data) + 100 * i, there.address() + 50 * i, 1 + i});
    driver.has_kernel = true;
    EXPECT_FALSE(copy(Direction::write, rows));
    EXPECT_EQ(driver.kernels, 0);
    EXPECT_EQ(driver.calls, 17);
    device.hold(host.all());
    EXPECT_FALSE(copy(Direction::write, rows));
    EXPECT_EQ(driver.kernels, 1);
    EXPECT_EQ(driver.calls, 17);
    rows.pop_back();
    EXPECT_FALSE(copy(Direction::write, rows));
    EXPECT_EQ(driver.kernels, 1);
    EXPECT_EQ(driver.calls, 33);
}

TEST_F(GpuDeviceTest, WindowsAreRegisteredAndUsedAgain) {
    auto first = device.take_window(), second = device.take_window();
    ASSERT_TRUE(first && second);
    EXPECT_EQ(address_of(first.get()) % page_bytes(), 0);
    std::memset(first.get(), 1, HostMemory::window_bytes);
    EXPECT_EQ(driver.registered.size(), 2U);
    auto const* const given_back = first.get();
    first.reset();
    EXPECT_EQ(device.take_window().get(), given_back);
    EXPECT_EQ(driver.registered.size(), 2U);
}

TEST_F(GpuDeviceTest, WithoutRegisteredMemoryThereIsNoWindow) {
    driver.registering_fails = fake_gpu::out_of_memory;
    EXPECT_EQ(device.take_window(), nullptr);
    EXPECT_EQ(device.take_window(), nullptr);
    EXPECT_EQ(driver.asked, 1);
}

TEST_F(GpuDeviceTest, PagesAreRegisteredOnce) {
    HostPages const host(8 * page_bytes());
    device.hold(host.pages(2, 2).subspan(1, 1));
    EXPECT_EQ(driver.asked, 1);
    device.hold(host.pages(2, 1));
    EXPECT_EQ(driver.asked, 1);
    device.hold(host.all());  // Before and behind.
    EXPECT_EQ(driver.asked, 3);
    device.hold(host.all());
    EXPECT_EQ(driver.asked, 3);
}

TEST_F(GpuDeviceTest, WhatTheDriverRefusesIsNotAskedForAgain) {
    HostPages const host(page_bytes());
    Allocation there = allocation(100);
    driver.registering_fails = fake_gpu::refused;
    device.hold(host.all());
    device.hold(host.all());
    EXPECT_EQ(driver.asked, 1);
    EXPECT_FALSE(copy(Direction::write, {{address_of(host.data), there.address(), 100}}));
}

TEST_F(GpuDeviceTest, ManyThreadsCopyAndHoldAtATime) {
    HostPages const host(16 * page_bytes());
    Allocation there = allocation(16 * page_bytes());
    auto const work = [&](Bytes mine) {
        for (int i = 0; i < 50; ++i) {
            device.hold(host.pages(mine / 2 * 2, 2));
            auto const window = device.take_window();
            Offset const shift = mine * page_bytes();
            Error const error =
                copy(Direction::write,
                     {{address_of(host.data) + shift, there.address() + shift, 16, 8, 64, 32}});
            EXPECT_FALSE(error);
            EXPECT_EQ(std::memcmp(host.data + shift + 64, there.bytes.data() + shift + 32, 16), 0);
        }
    };
    std::vector<std::thread> threads;
    for (Bytes i = 0; i < 8; ++i) threads.emplace_back(work, i);
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(driver.asked, static_cast<std::int64_t>(driver.registered.size()));
    expect_rings(400);
}

}  // namespace
}  // namespace sluice::gpu_device_test
