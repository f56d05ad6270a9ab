// Memory of a node as its peers find it: by number, or by a descriptor that was handed over.
// tests/old runs the same on systems that refuse it in part.
#include "system/fd_passing.hpp"
#include "system/shared_memory.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace sluice::shared_memory_test {
namespace {

constexpr std::size_t bytes = 64 * 1024;
constexpr Offset end = bytes;

TEST(SharedMemory, is_seen_by_a_process_that_attaches_it) {
    auto const memory = SharedMemory::create(bytes);
    ASSERT_TRUE(memory && memory->reserve({0, end}));
    memory->data()[4096] = std::byte{7};
    pid_t const child = fork();
    if (child == 0) {
        auto const found = SharedMemory::attach(memory->name(), bytes);
        bool const right = found && found->data()[4096] == std::byte{7};
        if (right) found->data()[8192] = std::byte{9};
        _exit(right ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(memory->data()[8192], std::byte{9});
}

TEST(SharedMemory, is_not_taken_for_another) {
    auto const one = SharedMemory::create(bytes), other = SharedMemory::create(bytes);
    ASSERT_TRUE(one && other);
    SharedMemoryName mixed = one->name();
    mixed.fd = other->name().fd;
    EXPECT_FALSE(SharedMemory::attach(mixed, bytes));
    EXPECT_FALSE(SharedMemory::adopt(dup(other->descriptor()), one->name(), bytes));
    EXPECT_FALSE(SharedMemory::attach({}, bytes));
}

TEST(SharedMemory, keeps_what_it_holds_when_it_is_reserved_again) {
    auto const memory = SharedMemory::create(bytes);
    ASSERT_TRUE(memory && memory->reserve({0, 8192}));
    memory->data()[5000] = std::byte{3};
    EXPECT_TRUE(memory->reserve({4096, end}));
    EXPECT_EQ(memory->data()[5000], std::byte{3});
    EXPECT_EQ(memory->data()[9000], std::byte{0});
}

TEST(SharedMemory, gives_addresses_to_parts) {
    auto const memory = SharedMemory::create_unmapped(bytes);
    ASSERT_TRUE(memory);
    EXPECT_EQ(memory->data(), nullptr);
    auto const one = memory->part({16384, end}), other = memory->part({16384, end});
    ASSERT_TRUE(one && other);
    ASSERT_TRUE(one->reserve({4096, 8192}));
    ASSERT_TRUE(other->open({4096, 8192}));
    one->data()[5000] = std::byte{3};
    EXPECT_EQ(other->data()[5000], std::byte{3});
    EXPECT_DEATH(_exit(static_cast<int>(one->data()[0])), "");
}

TEST(SharedMemory, has_private_parts) {
    SharedMemory const memory;
    auto part = memory.part({0, end});
    ASSERT_TRUE(part && part->reserve({0, 4096}));
    Mapping const moved = std::move(*part);
    moved.data()[7] = std::byte{1};
    EXPECT_EQ(moved.data()[7], std::byte{1});
}

TEST(FdPassing, brings_descriptors_in_their_order) {
    FdPassing const sender, receiver;
    auto const one = SharedMemory::create(bytes), other = SharedMemory::create(bytes);
    ASSERT_TRUE(one && other);
    EXPECT_TRUE(receiver.receive().empty());
    int const both[]{one->descriptor(), other->descriptor()};
    ASSERT_TRUE(sender.send(receiver.address(), both));
    auto const got = receiver.receive();
    ASSERT_EQ(got.size(), 2U);
    other->data()[1] = std::byte{5};
    EXPECT_TRUE(SharedMemory::adopt(got[0], one->name(), bytes));
    auto const adopted = SharedMemory::adopt(got[1], other->name(), bytes);
    ASSERT_TRUE(adopted);
    EXPECT_EQ(adopted->data()[1], std::byte{5});
}

TEST(FdPassing, reaches_itself_and_nobody_without_an_address) {
    FdPassing const own;
    int const descriptor[]{0};
    EXPECT_FALSE(own.send({}, descriptor));
    ASSERT_TRUE(own.send(own.address(), descriptor));
    auto const got = own.receive();
    ASSERT_EQ(got.size(), 1U);
    close(got[0]);
}

}  // namespace
}  // namespace sluice::shared_memory_test
