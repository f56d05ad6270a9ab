// On which device memory lies, and what becomes of memory of which parts lie on several.
#include "gpu/copy_calls.hpp"
#include "gpu/driver_devices.hpp"
#include "gpu/gpus.hpp"
#include "gpu/loaded_library.hpp"
#include "gpu/mixed_memory.hpp"

#include "fake_gpu_driver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <thread>

namespace sluice::gpu_memory_test {
namespace {

using fake_gpu::Allocation;

Offset address_of(void const* memory) { return reinterpret_cast<Offset>(memory); }

Allocation allocation(Bytes bytes, GpuContext context, char first) {
    Allocation made{std::vector<std::byte>(static_cast<std::size_t>(bytes)), context};
    for (auto& byte : made.bytes) byte = static_cast<std::byte>(first++);
    return made;
}

struct GpuMemoryTest : ::testing::Test {
    Allocation one = allocation(64, {1, 0}, 'a'), other = allocation(64, {2, 0}, 'A');
    std::atomic<int> rings{0};
    fake_gpu::Driver* driver = new fake_gpu::Driver;  // Whose owner is the next one.
    DriverDevices devices{std::unique_ptr<GpuDriver>(driver), [this] { ++rings; }};
    int asked = 0;
    MixedMemory mixed{[this](Offset address) {
                          ++asked;
                          return devices.at(address);
                      },
                      [this] { ++rings; }};

    void SetUp() override { driver->allocations = {&one, &other}; }
    Error copy(Direction way, std::vector<Rows> rows) {
        auto const started = mixed.start(way, std::move(rows));
        started->wait();
        EXPECT_TRUE(started->finished());
        return started->error();
    }
};

TEST_F(GpuMemoryTest, EachContextIsOneDevice) {
    DeviceAt const first = devices.at(one.address()), last = devices.at(one.range().end - 1);
    ASSERT_TRUE(first.device);
    EXPECT_EQ(first.device, last.device);
    EXPECT_EQ(first.allocation, one.range());
    EXPECT_NE(devices.at(other.address()).device, first.device);
    EXPECT_EQ(devices.at(other.range().end).device, nullptr);
    one.kind = GpuPlace::Kind::managed;
    EXPECT_EQ(devices.at(one.address()).device, nullptr);
}

TEST_F(GpuMemoryTest, ManyThreadsSeeTheSameDevice) {
    std::array<Device*, 8> seen{};
    std::vector<std::thread> threads;
    for (Device*& mine : seen)
        threads.emplace_back([&] { mine = devices.at(one.address()).device; });
    for (auto& thread : threads) thread.join();
    EXPECT_TRUE(seen[0]);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), seen[0]), 8);
}

TEST_F(GpuMemoryTest, PartsOfAWriteComeFromWhereTheyLie) {
    std::string const here = "0123456789";
    std::string into(40, '.');
    Offset const to = address_of(into.data());
    EXPECT_FALSE(copy(Direction::write, {{to, one.address(), 4},
                                         {to + 4, address_of(here.data()), 3},
                                         {to + 8, other.address() + 1, 1, 4, 2, 3},
                                         {to + 20, one.address() + 30, 4}}));
    EXPECT_EQ(into.substr(0, 24), std::string("abcd012.B.E.H.K.....") + char('a' + 30) +
                                      char('a' + 31) + char('a' + 32) + char('a' + 33));
    EXPECT_EQ(driver->streams, 2);
}

TEST_F(GpuMemoryTest, PartsOfAReadGoToWhereTheyLie) {
    std::string const from = "0123456789";
    std::string here = "....";
    EXPECT_FALSE(copy(Direction::read, {{address_of(here.data()), address_of(from.data()), 2},
                                        {other.address() + 5, address_of(from.data()) + 2, 3}}));
    EXPECT_EQ(here, "01..");
    EXPECT_EQ(std::memcmp(other.bytes.data() + 5, "234", 3), 0);
    EXPECT_EQ(other.bytes[8], static_cast<std::byte>('A' + 8));
}

TEST_F(GpuMemoryTest, ARowAcrossDevicesIsDivided) {
    // Its second piece lies on the other device, its third one in neither.
    Offset const step = other.address() - one.address();
    std::string into(30, '.');
    std::vector<Rows> const rows{{address_of(into.data()), one.address(), 5, 2, 10, step}};
    EXPECT_FALSE(copy(Direction::write, rows));
    EXPECT_EQ(into.substr(0, 15), "abcde.....ABCDE");
    EXPECT_EQ(driver->of_contexts.size(), 2U);
}

TEST_F(GpuMemoryTest, APieceAcrossAllocationsIsDivided) {
    fake_gpu::Driver& itself = *driver;
    Allocation const whole = allocation(20, {1, 0}, 'a');
    auto const where = [&](Offset address) -> DeviceAt {
        Offset const border = whole.address() + 8;
        Span const part =
            address < border ? Span{whole.address(), border} : Span{border, whole.range().end};
        return {devices.at(one.address()).device, part};
    };
    MixedMemory divided(where, [] {});
    std::string into(20, '.');
    divided.start(Direction::write, {{address_of(into.data()), whole.address(), 20}})->wait();
    EXPECT_EQ(into, "abcdefghijklmnopqrst");
    EXPECT_EQ(itself.calls, 2);
}

TEST_F(GpuMemoryTest, RowsOfOneAllocationAreAskedForOnce) {
    std::string into(64, '.');
    std::vector<Rows> rows;
    for (Offset i = 0; i < 30; ++i)
        rows.push_back({address_of(into.data()) + 2 * i, one.address() + 2 * i, 1});
    EXPECT_FALSE(copy(Direction::write, rows));
    EXPECT_EQ(asked, 1);
}

TEST_F(GpuMemoryTest, WithoutNamesTheFirstAndTheLastPieceAreAskedFor) {
    one.is_named = false;
    std::string into(64, '.');
    EXPECT_FALSE(copy(Direction::write, {{address_of(into.data()), one.address(), 1, 20, 2, 3}}));
    EXPECT_EQ(asked, 2);
    EXPECT_EQ(driver->calls, 1);
    EXPECT_EQ(into.substr(0, 6), "a.d.g.");
}

TEST_F(GpuMemoryTest, WhatLiesOnTheHostIsCopiedAtOnce) {
    std::string const here = "0123456789";
    std::string into = "....";
    auto const started = mixed.start(
        Direction::write, {{address_of(into.data()), address_of(here.data()), 1, 3, 1, 4}});
    EXPECT_TRUE(started->finished());
    EXPECT_EQ(into, "048.");
    EXPECT_EQ(rings, 1);
}

TEST_F(GpuMemoryTest, TheFirstErrorOfSeveralDevicesIsTold) {
    driver->failing_call = 1;
    std::string into(64, '.');
    Offset const to = address_of(into.data());
    Error const error =
        copy(Direction::write, {{to, one.address(), 4}, {to + 8, other.address(), 4}});
    EXPECT_EQ(error.status, Status::no_memory);
    EXPECT_EQ(into.substr(0, 4), "abcd");
}

TEST_F(GpuMemoryTest, WindowsAndPagesAreOfTheDevicesThatWereMet) {
    std::string into(64, '.');
    std::span const memory(reinterpret_cast<std::byte*>(into.data()), into.size());
    mixed.hold(memory);
    EXPECT_EQ(mixed.take_window(), nullptr);
    EXPECT_EQ(driver->asked, 0);
    EXPECT_FALSE(copy(Direction::write, {{address_of(into.data()), one.address(), 4}}));
    driver->registered.clear();
    mixed.hold(memory);
    EXPECT_EQ(driver->asked, 1);
    EXPECT_NE(mixed.take_window(), nullptr);
}

TEST(Gpus, MemoryOfTheHostIsOnNone) {
    int on_stack = 0;
    static int in_data = 0;
    auto const on_heap = std::make_unique<int>();
    EXPECT_EQ(device_of(nullptr), nullptr);
    EXPECT_EQ(device_of(&on_stack), nullptr);
    EXPECT_EQ(device_of(&in_data), nullptr);
    EXPECT_EQ(device_of(on_heap.get()), nullptr);
}

TEST(LoadedLibrary, IsFoundByTheBeginOfItsNameAndAFunction) {
    auto const paths = loaded_library_paths();
    EXPECT_GT(loaded_library_count(), 1U);
    EXPECT_TRUE(LoadedLibrary::find(paths, "libc.so", "malloc").is_found());
    EXPECT_TRUE(LoadedLibrary::find(paths, "libsluice_none.so", "malloc").is_found());
    EXPECT_FALSE(LoadedLibrary::find(paths, "libc.so", "sluice_no_function").is_found());
    int (*absolute)(int) = nullptr;
    ASSERT_TRUE(LoadedLibrary::find(paths, "libc.so", "malloc").look_up("abs", absolute));
    EXPECT_EQ(absolute(-3), 3);
}

TEST(HeldRanges, KnowWhatWasAskedForAndWhatIsRegistered) {
    HeldRanges ranges;
    ranges.add({20, 30}, true);
    ranges.add({10, 20}, true);
    ranges.add({40, 50}, false);
    EXPECT_EQ(ranges.unknown_parts({0, 60}), (std::vector<Span>{{0, 10}, {30, 40}, {50, 60}}));
    EXPECT_TRUE(ranges.unknown_parts({12, 28}).empty());
    EXPECT_TRUE(ranges.is_registered({10, 30}));
    EXPECT_FALSE(ranges.is_registered({10, 31}));
    EXPECT_FALSE(ranges.is_registered({9, 30}));
    EXPECT_FALSE(ranges.is_registered({42, 44}));
    EXPECT_EQ(ranges.alike_until({0, 60}), 10);
    EXPECT_EQ(ranges.alike_until({15, 60}), 20);
    EXPECT_EQ(ranges.alike_until({20, 25}), 25);
    EXPECT_EQ(ranges.alike_until({30, 60}), 60);
}

TEST(CopyCalls, AreRowsOfPositiveStridesOrPieces) {
    HeldRanges held;
    held.add({0, 1000}, true);
    auto const is_one = [&](Rows const& row) { return is_one_call(Direction::write, row, held); };
    EXPECT_TRUE(is_one({0, 0, 10, 5, 10, 20}));
    EXPECT_FALSE(is_one({0, 0, 10, 5, 9, 20}));
    EXPECT_FALSE(is_one({500, 0, 10, 5, -20, 20}));
    EXPECT_FALSE(is_one({0, 0, 10, 5, 20, Offset{1} << 32}));
    EXPECT_FALSE(is_one({980, 0, 10, 5, 10, 20})) << "it crosses the border";
    std::vector<Rows> calls;
    for_each_call(Direction::write, {990, 5000, 15, 2, 100, 50}, held, [&](Rows const& call) {
        calls.push_back(call);
        return true;
    });
    EXPECT_EQ(calls, (std::vector<Rows>{{990, 5000, 10}, {1000, 5010, 5}, {1090, 5050, 15}}));
}

TEST(CopyCalls, LongOnesAreNoneOfTheKernels) {
    HeldRanges held;
    held.add({0, 1 << 30}, true);
    std::vector<Rows> rows{{0, 0, short_call_bytes}, {0, 0, 0}, {1 << 20, 0, 8, 17, -8, 8}};
    auto const divided = divide_rows(Direction::write, rows, held);
    EXPECT_EQ(divided.by_call, (std::vector<Rows>{rows[0]}));
    EXPECT_EQ(divided.by_kernel, (std::vector<Rows>{rows[2]}));
    rows[2].count = 16;
    EXPECT_TRUE(divide_rows(Direction::write, rows, held).by_kernel.empty());
}

}  // namespace
}  // namespace sluice::gpu_memory_test
