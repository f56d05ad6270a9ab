// Descriptors lead to the same file whatever becomes of its name.
#include "posix_files.hpp"
#include "system/descriptor.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sys/resource.h>

namespace sluice::descriptor_test {
namespace {

class DescriptorTest : public ::testing::Test {
protected:
    std::string made(char const* name, Buffer const& content) {
        return conformance::make_file(folder_.path() + "/" + name, content);
    }
    TestFolder folder_;
};

TEST_F(DescriptorTest, IsClosedOnceAndByItsLastOwner) {
    auto const path = made("file", pattern(10));
    auto opened = open_file(path, AccessMode::read);
    int const fd = opened.descriptor.get();
    ASSERT_GE(fd, 0);
    EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    Descriptor moved = std::move(opened.descriptor);
    opened.descriptor.reset();
    EXPECT_TRUE(identity_of(fd));
    moved = Descriptor();
    EXPECT_FALSE(identity_of(fd));
}

TEST_F(DescriptorTest, SaysWhyAFileIsNotOpen) {
    EXPECT_EQ(open_file(folder_.path() + "/none", AccessMode::both).error.status,
              Status::no_such_file);
    auto const path = made("file", pattern(10));
    rlimit before{};
    getrlimit(RLIMIT_NOFILE, &before);
    int const next = dup(0);
    close(next);
    rlimit const limit{static_cast<rlim_t>(next), before.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
    auto const refused = open_file(path, AccessMode::both);
    setrlimit(RLIMIT_NOFILE, &before);
    EXPECT_EQ(refused.error.code, EMFILE);
    EXPECT_EQ(open_file(path, AccessMode::both).error.code, 0);
}

TEST_F(DescriptorTest, AnotherOneOfTheSameFileIsFoundWhereverItIs) {
    auto const path = made("file", pattern(10)), other = made("other", pattern(10));
    auto const opened = open_file(path, AccessMode::read);
    int const fd = opened.descriptor.get();
    auto const others = open_file(other, AccessMode::read);
    auto const file = identity_of(fd).value(),
               others_file = identity_of(others.descriptor.get()).value();
    EXPECT_NE(file, others_file);
    EXPECT_FALSE(held_beside(fd, file));
    for (int const at_least : {0, 600}) {
        Descriptor const same(fcntl(fd, F_DUPFD_CLOEXEC, at_least));
        for (int twice = 0; twice < 2; ++twice) EXPECT_TRUE(held_beside(fd, file)) << same.get();
        EXPECT_FALSE(held_beside(others.descriptor.get(), others_file));
    }
    EXPECT_FALSE(held_beside(fd, file));
}

/// A name that another file took, and none at all: the opened file is written, and opened again.
TEST_F(DescriptorTest, FilesAreHeldWhateverBecomesOfTheirNames) {
    for (PageCache const page_cache : page_caches) {
        auto const path = made("file", Buffer(8192));
        FileParts parts(page_cache);
        conformance::Doorbell doorbell;
        PosixFile file(path, AccessMode::both, parts.way(), doorbell.ringer());
        std::filesystem::rename(path, path + ".moved");
        made("file", Buffer(8192));
        conformance::Place memory(8192, std::byte{9});
        ListTransfer write(Direction::write, {{0, memory.data(), 8192}});
        file.start(write);
        doorbell.wait_for(write);
        EXPECT_EQ(write.status(), Status::ok) << name_of(page_cache);
        EXPECT_EQ(file.sync().status, Status::ok);
        EXPECT_EQ(conformance::content_of(path), Buffer(8192)) << name_of(page_cache);
        EXPECT_EQ(conformance::content_of(path + ".moved"), Buffer(8192, std::byte{9}));
        std::filesystem::remove(path + ".moved");
        std::filesystem::remove(path);
        ListTransfer again(Direction::write, {{0, memory.data(), 8192}});
        file.run(again);
        EXPECT_EQ(again.status(), Status::ok) << name_of(page_cache);
    }
}

}  // namespace
}  // namespace sluice::descriptor_test
