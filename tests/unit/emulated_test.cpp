// Storage on an emulated device, in virtual time and in that of the system.
#include "conformance_faults.hpp"
#include "device/model/emulated.hpp"
#include "posix_files.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

namespace sluice::emulated_test {
namespace {

class HandClock final : public Clock {
public:
    double now() override { return now_; }
    void set(double now) { now_ = now; }

private:
    std::atomic<double> now_{0};
};

class Emulated : public ::testing::Test {
protected:
    Emulated() {
        path_ = std::filesystem::temp_directory_path() /
                ("emulated-" + std::to_string(getpid()) + "-" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name());
        std::ofstream{path_};
    }
    ~Emulated() override { std::filesystem::remove(path_); }

    std::unique_ptr<EmulatedFile> open(EmulatedDevice& device, WorkerPool& pool) {
        return std::make_unique<EmulatedFile>(
            device, path_,
            [&](std::function<void()> finished) {
                return std::make_unique<PosixFile>(path_, AccessMode::both, PosixWay{pool},
                                                   std::move(finished));
            },
            [this] { ++rings_; });
    }

    std::string path_;
    std::atomic<int> rings_{0};
};

DeviceProfile slow() {
    std::string error;
    return device_described("[device]\nread_bandwidth = 1e6\nwrite_bandwidth = 1e6\n"
                            "latency_seconds = 0.01\n",
                            error)
        .value();
}

TEST_F(Emulated, ATransferIsDoneWhenTheDeviceIs) {
    HandClock clock;
    EmulatedDevice device(slow(), &clock);
    WorkerPool at_once(0);
    auto const file = open(device, at_once);
    Buffer memory = pattern(100'000);
    ListTransfer transfer(Direction::write, {{0, memory.data(), 100'000}});
    file->start(transfer);  // The bytes are in the file, the device is not done: 10 ms + 100 ms.
    EXPECT_EQ(std::filesystem::file_size(path_), 100'000U);
    clock.set(0.109);
    EXPECT_NEAR(device.advance(), 0.11, 1e-9);
    EXPECT_FALSE(transfer.done);
    clock.set(0.111);
    device.advance();
    EXPECT_TRUE(transfer.done);
    EXPECT_EQ(rings_, 1);
    EXPECT_EQ(transfer.status(), Status::ok);
    EXPECT_EQ(transfer.bytes, 100'000);
}

TEST_F(Emulated, SegmentsThatTouchAreOneAccess) {
    HandClock clock;
    EmulatedDevice device(slow(), &clock);
    WorkerPool at_once(0);
    auto const file = open(device, at_once);
    Buffer memory = pattern(3000);
    ListTransfer transfer(Direction::write, {{0, memory.data(), 1000},
                                             {1000, memory.data() + 1000, 1000},
                                             {5000, memory.data() + 2000, 1000}});
    file->start(transfer);
    EXPECT_NEAR(device.advance(), 2 * 0.01 + 0.003, 1e-9);
}

TEST_F(Emulated, AReadBehindTheEndCostsWhatItBrings) {
    HandClock clock;
    EmulatedDevice device(slow(), &clock);
    WorkerPool at_once(0);
    std::ofstream(path_) << std::string(500, 'x');
    auto const file = open(device, at_once);
    Buffer memory(4000);
    ListTransfer transfer(Direction::read, {{0, memory.data(), 4000}});
    file->start(transfer);
    EXPECT_NEAR(device.advance(), 0.01 + 0.0005, 1e-9);
    clock.set(1);
    device.advance();
    EXPECT_EQ(transfer.bytes, 500);
    EXPECT_EQ(transfer.end_of_file, 500);
}

TEST_F(Emulated, ErrorsComeBack) {
    EmulatedDevice device(slow());
    WorkerPool pool(1);
    std::filesystem::remove(path_);
    auto const file = open(device, pool);
    Buffer memory(10);
    ListTransfer transfer(Direction::read, {{0, memory.data(), 10}});
    file->run(transfer);
    EXPECT_NE(transfer.status(), Status::ok);
}

TEST_F(Emulated, ManyTransfersFromManyThreadsInTheTimeOfTheSystem) {
    std::string error;
    auto const fast = device_described("[device]\nread_bandwidth = 1e9\nwrite_bandwidth = 1e9\n"
                                       "latency_seconds = 1e-4\nqueue_depth = 4\n",
                                       error)
                          .value();
    EmulatedDevice device(fast);
    WorkerPool pool(2);
    constexpr int threads = 4, each = 25;
    constexpr Bytes piece = 4096;
    Buffer memory = pattern(threads * each * piece);
    auto const file = open(device, pool);
    auto const begin = device.now();
    std::vector<std::future<void>> all;
    for (int t = 0; t < threads; ++t) {
        all.push_back(std::async(std::launch::async, [&, t] {
            for (int i = 0; i < each; ++i) {
                Offset const at = (t * each + i) * piece;
                ListTransfer transfer(Direction::write, {{at, memory.data() + at, piece}});
                file->start(transfer);
                while (!transfer.done) std::this_thread::yield();
                EXPECT_EQ(transfer.bytes, piece);
            }
        }));
    }
    for (auto& one : all) one.get();
    EXPECT_GE(device.now() - begin, 0.8 * each * 1e-4);
    EXPECT_EQ(file->sync().status, Status::ok);
    Buffer back(memory.size());
    ListTransfer reading(Direction::read, {{0, back.data(), static_cast<Bytes>(back.size())}});
    file->run(reading);
    EXPECT_EQ(back, memory);
    while (rings_ < threads * each) std::this_thread::yield();
}

// ---- What every storage does, on a device -------------------------------------------------------

class OnDevice : public ::testing::TestWithParam<std::tuple<PageCache, conformance::Case>> {};

TEST_P(OnDevice, conforms) {
    SKIP_OUTSIDE_SAMPLE();
    auto const& [page_cache, what] = GetParam();
    if (std::string(what.name) == "more_than_two_gibibytes")
        GTEST_SKIP() << "once is enough: conformance_test";
    std::string error;
    auto const fast = device_described("[device]\nread_bandwidth = 1e11\nwrite_bandwidth = 1e11\n"
                                       "latency_seconds = 1e-5\nqueue_depth = 4\n",
                                       error);
    TestFolder const folder;
    conformance::OrderedFaults faults;
    FileParts parts(page_cache);
    EmulatedDevice device(fast.value());
    conformance::Subject subject{
        .open =
            [&](std::string const& path, AccessMode mode, std::function<void()> finished) {
                auto const open_below = [&](std::function<void()> moved) {
                    return std::make_unique<PosixFile>(path, mode, parts.way(&faults),
                                                       std::move(moved));
                };
                return std::make_unique<EmulatedFile>(device, path, open_below,
                                                      std::move(finished));
            },
        .folder = folder.path(),
        .fail = [](std::string const& text) { ADD_FAILURE() << text; },
        .faults = &faults};
    what.run(subject);
}

std::vector<conformance::Case> all_cases() {
    auto all = conformance::cases();
    all.insert(all.end(), conformance::fault_cases().begin(), conformance::fault_cases().end());
    return all;
}

INSTANTIATE_TEST_SUITE_P(all, OnDevice,
                         ::testing::Combine(::testing::ValuesIn(page_caches),
                                            ::testing::ValuesIn(all_cases())),
                         [](auto const& of) {
                             return name_of(std::get<0>(of.param)) + "_" +
                                    std::get<1>(of.param).name;
                         });

}  // namespace
}  // namespace sluice::emulated_test
