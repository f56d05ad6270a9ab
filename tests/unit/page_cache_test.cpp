// What becomes of the page cache: which pages of a file the system keeps, and which way requests
// go past them.
#include "posix_files.hpp"
#include "system/page_bytes.hpp"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

namespace sluice::page_cache_test {
namespace {

constexpr Bytes mebibyte = Bytes{1} << 20;
constexpr Bytes file_bytes = 32 * mebibyte;

TEST(DirectIo, whole_units_go_past_the_cache) {
    constexpr Bytes unit = 16;
    for (Offset offset = 0; offset < 40; ++offset) {
        for (Bytes bytes = 1; bytes < 60; ++bytes) {
            Front const front = front_of(offset, bytes, unit);
            ASSERT_GT(front.bytes, 0);
            ASSERT_LE(front.bytes, bytes);
            if (front.direct_io) {
                ASSERT_EQ(offset % unit + front.bytes % unit, 0);
                ASSERT_LT(bytes - front.bytes, unit) << "only the rest of a unit is left";
            } else {  // No whole unit is in it.
                ASSERT_LT((offset + front.bytes) / unit * unit, offset + unit);
                bool const to_border = (offset + front.bytes) % unit == 0;
                ASSERT_TRUE(to_border || front.bytes == bytes);
            }
        }
    }
}

/// Bytes of the file that the system has in memory.
Bytes resident_bytes(std::string const& path) {
    auto const size = static_cast<std::size_t>(std::filesystem::file_size(path));
    auto const page = static_cast<std::size_t>(page_bytes());
    int const fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    void* const at = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    std::vector<unsigned char> pages((size + page - 1) / page);
    EXPECT_EQ(mincore(at, size, pages.data()), 0);
    munmap(at, size);
    close(fd);
    auto const there =
        std::count_if(pages.begin(), pages.end(), [](auto p) { return (p & 1) != 0; });
    return there * static_cast<Bytes>(page);
}

bool has_device(std::string const& path) {
    struct statfs found{};
    return statfs(path.c_str(), &found) == 0 && found.f_type != TMPFS_MAGIC &&
           found.f_type != RAMFS_MAGIC;
}

class PagesOf : public ::testing::TestWithParam<PageCache> {
protected:
    void SetUp() override {
        if (!has_device(folder_.path())) GTEST_SKIP() << "these files are in memory only";
        path_ = conformance::make_file(folder_.path() + "/file", {});
        memory_ = std::make_unique<conformance::Place>(file_bytes);
        std::memcpy(memory_->data(), content_.data(), content_.size());
    }
    /// In transfers of 1 MiB, each waited for.
    void transfer_all_of(PosixFile& file, Direction way) {
        for (Offset at = 0; at < file_bytes; at += mebibyte) {
            ListTransfer one(way, {{at, memory_->data() + at, mebibyte}});
            file.start(one);
            doorbell_.wait_for(one);
            EXPECT_EQ(one.status(), Status::ok);
        }
    }
    [[nodiscard]] std::unique_ptr<PosixFile> open_file() {
        return std::make_unique<PosixFile>(path_, AccessMode::both, parts_.way(),
                                           doorbell_.ringer());
    }
    /// Nearly all, as the system may want some pages itself; or none but those of the edges.
    void expect_kept(Bytes kept) const {
        if (GetParam() == PageCache::keep) {
            EXPECT_GE(kept, file_bytes / 4 * 3);
        } else {
            EXPECT_LE(kept, 64 * 1024);
        }
    }

    TestFolder folder_;
    std::string path_;
    Buffer const content_ = pattern(file_bytes);
    std::unique_ptr<conformance::Place> memory_;
    conformance::Doorbell doorbell_;
    FileParts parts_{GetParam()};
};

TEST_P(PagesOf, what_was_written) {
    auto file = open_file();
    transfer_all_of(*file, Direction::write);
    expect_kept(resident_bytes(path_));
    EXPECT_EQ(file->sync().status, Status::ok);
    expect_kept(resident_bytes(path_));
    EXPECT_TRUE(conformance::content_of(path_) == content_);
}

TEST_P(PagesOf, what_was_read) {
    {
        auto const file = open_file();
        transfer_all_of(*file, Direction::write);
        EXPECT_EQ(file->sync().status, Status::ok);
    }
    int const fd = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    fsync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
    std::memset(memory_->data(), 0, file_bytes);
    auto file = open_file();
    transfer_all_of(*file, Direction::read);
    EXPECT_EQ(std::memcmp(memory_->data(), content_.data(), file_bytes), 0);
    file.reset();
    expect_kept(resident_bytes(path_));
}

INSTANTIATE_TEST_SUITE_P(all, PagesOf, ::testing::ValuesIn(page_caches),
                         [](auto const& of) { return name_of(of.param); });

/// Bytes written through one way are seen by the other at once, in both directions, in one page and
/// in neighbouring ones.
TEST(DirectIo, both_ways_see_the_same_bytes) {
    TestFolder const folder;
    auto const path = conformance::make_file(folder.path() + "/file", pattern(1 << 20));
    WorkerPool pool(0);
    PosixFile direct(path, AccessMode::both, {.pool = pool, .page_cache = PageCache::direct_io},
                     [] {});
    PosixFile keeping(path, AccessMode::both, {.pool = pool}, [] {});
    Buffer model = pattern(1 << 20);
    conformance::Place memory(1 << 20), back(1 << 20);
    for (int i = 0; i < 200; ++i) {
        Offset const begin = (i * 7919) % 900'000;
        Bytes const length = 1 + (i * 4241) % 100'000;
        auto const content = pattern(static_cast<std::size_t>(length), i);
        std::memcpy(memory.data(), content.data(), content.size());
        ListTransfer write(Direction::write, {{begin, memory.data(), length}});
        (i % 2 == 0 ? direct : keeping).run(write);
        ASSERT_EQ(write.bytes, length);
        conformance::write_model(model, {{begin, memory.data(), length}});
        ListTransfer read(Direction::read, {{0, back.data(), 1 << 20}});
        (i % 3 == 0 ? direct : keeping).run(read);
        ASSERT_EQ(std::memcmp(back.data(), model.data(), model.size()), 0) << i;
    }
}

}  // namespace
}  // namespace sluice::page_cache_test
