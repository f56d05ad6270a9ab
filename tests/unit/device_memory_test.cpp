// Bytes between a file and memory that no processor reaches: they go through windows, in parts.
// Memory behind the end of the file stays as it was, and what a device refuses is an error.
#include "drawn.hpp"
#include "file/run/sieved_read.hpp"
#include "posix_files.hpp"
#include "simulate/simulated_device.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>

namespace sluice::device_memory_test {
namespace {

using namespace conformance;

struct NoWaker final : simulated::Waker {
    void wake(Rank) override {}
};

class DeviceMemory : public ::testing::Test {
protected:
    simulated::SimulatedDevice device_{time_, waker_, 0, 1e-3};

    void SetUp() override { device_.use_windows_of(1000); }

    TestFolder folder_;
    Doorbell doorbell_;  // Outlives those whose threads ring it.
    FileParts parts_{PageCache::keep};

private:
    simulated::Time time_{1};
    NoWaker waker_;
};

Buffer contents_of(std::string const& path) {
    Buffer all(std::filesystem::file_size(path));
    std::ifstream(path).read(reinterpret_cast<char*>(all.data()),
                             static_cast<std::streamsize>(all.size()));
    return all;
}

std::shared_ptr<Layout const> drawn_layout(bool ascends) {
    Extents extents;
    Offset at = *rc::gen::inRange<Offset>(0, 50);
    for (int i = *rc::gen::inRange(1, 40); i > 0; --i) {
        auto const length = *rc::gen::inRange<Bytes>(1, 200);
        extents.add({at, length, 0, 1});
        at += length + *rc::gen::inRange<Offset>(1, 200);
    }
    if (!ascends) extents.add({0, 5, 0, 1});
    return std::make_shared<Layout const>(std::move(extents).take(), at);
}

/// Memory for all bytes that the request names.
Buffer memory_for(Request const& request) {
    Offset const end = request.bytes > 0 ? request.memory->offset_at(request.bytes - 1) + 1 : 0;
    return Buffer(static_cast<std::size_t>(end), std::byte{77});
}

Request drawn_request(Direction way) {
    Request request;
    request.direction = way;
    request.view.displacement = *rc::gen::inRange<Offset>(0, 500);
    request.view.filetype = drawn_layout(way == Direction::write || *rc::gen::arbitrary<bool>());
    request.memory = *rc::gen::arbitrary<bool>() ? drawn_layout(true) : Layout::contiguous();
    request.position = *rc::gen::inRange<Bytes>(0, 100);
    request.bytes = *rc::gen::inRange<Bytes>(0, 9'000);
    return request;
}

TEST_F(DeviceMemory, ReadsAsHostMemoryDoes) {
    auto const contents = pattern(9'000);
    auto const path = make_file(folder_.path() + "/file", contents);
    rc::check([&] {
        PosixFile file(path, AccessMode::read, parts_.way(), doorbell_.ringer());
        Request const request = drawn_request(Direction::read);
        Buffer near = memory_for(request), far = near;
        auto const gap = *rc::gen::element<Bytes>(0, 50, 4096);
        UserTransfer host(request, near.data(), gap);
        file.run(host);
        UserTransfer staged(request, device_.memory(far.data()), gap);
        file.start(staged);
        doorbell_.wait_for(staged);
        RC_ASSERT(staged.status() == Status::ok);
        RC_ASSERT(staged.wanted_bytes() == host.wanted_bytes());
        RC_ASSERT(near == far);
    });
}

TEST_F(DeviceMemory, SievedReadsBringTheSame) {
    auto const contents = pattern(9'000);
    auto const path = make_file(folder_.path() + "/file", contents);
    rc::check([&] {
        PosixFile file(path, AccessMode::read, parts_.way(), doorbell_.ringer());
        Request request = drawn_request(Direction::read);
        request.view.filetype = drawn_layout(true);
        Buffer near = memory_for(request), far = near;
        UserTransfer host(request, near.data(), 4096), sieved(request, near.data(), 4096);
        read_sieved(request, near.data(), file, host);
        read_sieved(request, device_.memory(far.data()), file, sieved);
        RC_ASSERT(near == far);
    });
}

TEST_F(DeviceMemory, WritesAsHostMemoryDoes) {
    rc::check([&] {
        auto const a = make_file(folder_.path() + "/a", {}),
                   b = make_file(folder_.path() + "/b", {});
        PosixFile near(a, AccessMode::both, parts_.way(), doorbell_.ringer());
        PosixFile far(b, AccessMode::both, parts_.way(), doorbell_.ringer());
        Request const request = drawn_request(Direction::write);
        Buffer copy = pattern(memory_for(request).size());
        UserTransfer host(request, copy.data());
        near.run(host);
        UserTransfer staged(request, device_.memory(copy.data()));
        far.start(staged);
        doorbell_.wait_for(staged);
        RC_ASSERT(staged.status() == Status::ok);
        RC_ASSERT(staged.bytes == host.bytes);
        RC_ASSERT(contents_of(a) == contents_of(b));
    });
}

TEST_F(DeviceMemory, WhatTheDeviceRefusesIsAnErrorOfTheTransfer) {
    auto const path = make_file(folder_.path() + "/file", pattern(9'000));
    PosixFile file(path, AccessMode::both, parts_.way(), doorbell_.ringer());
    for (auto const way : {Direction::write, Direction::read}) {
        for (int fails_at = 0; fails_at < 5; ++fails_at) {
            Request request;
            request.direction = way;
            request.bytes = 4'500;  // Five windows.
            Buffer memory(4'500);
            device_.fail_after(fails_at);
            UserTransfer transfer(request, device_.memory(memory.data()));
            file.run(transfer);
            EXPECT_EQ(transfer.status(), Status::buffer) << describe(way) << " " << fails_at;
        }
    }
}

}  // namespace
}  // namespace sluice::device_memory_test
