// Reads that take the gaps between their pieces along: the pieces are right, the gaps go nowhere,
// and the count at the end of the file is that of the pieces alone. Through the page cache and past
// it.
#include "drawn.hpp"
#include "file/run/sieved_read.hpp"
#include "posix_files.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::sieve_test {
namespace {

class Sieve : public ::testing::TestWithParam<PageCache> {
protected:
    TestFolder folder_;
    conformance::Doorbell doorbell_;  // Outlives those whose threads ring it.
    FileParts parts_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(PageCaches, Sieve, ::testing::ValuesIn(page_caches),
                         [](auto const& of) { return name_of(of.param); });

/// Pieces with short and long gaps, some behind the file's end.
Request drawn_request() {
    Extents extents;
    Offset at = *rc::gen::inRange<Offset>(0, 50);
    for (int i = *rc::gen::inRange(1, 300); i > 0; --i) {
        auto const length = *rc::gen::inRange<Bytes>(1, 400);
        extents.add({at, length, 0, 1});
        at += length + *rc::gen::inRange<Offset>(1, 400);
    }
    Request request;
    request.direction = Direction::read;
    request.view.displacement = *rc::gen::inRange<Offset>(0, 5000);
    request.view.filetype = std::make_shared<Layout const>(std::move(extents).take(), at);
    request.position = *rc::gen::inRange<Bytes>(0, 100);
    request.bytes = *rc::gen::inRange<Bytes>(1, 40'000);
    return request;
}

/// Each byte that the file has is there, and memory behind the file's end was not touched.
void expect_pieces(Request const& request, UserTransfer const& read, Buffer const& memory,
                   Buffer const& contents) {
    RC_ASSERT(read.status() == Status::ok);
    auto const size = static_cast<Offset>(contents.size());
    Bytes const there = bytes_before(request, size);
    RC_ASSERT(read.wanted_bytes() == there);
    for (Bytes i = 0; i < there; ++i) {
        Offset const place = offset_in_file(request, i);
        RC_ASSERT(memory[static_cast<std::size_t>(i)] == contents[static_cast<std::size_t>(place)]);
    }
    for (Bytes i = there; i < request.bytes; ++i) {
        RC_ASSERT(memory[static_cast<std::size_t>(i)] == std::byte{77});
    }
}

TEST_P(Sieve, BringsWhatAReadWithoutBrings) {
    auto const contents = pattern(60'000);
    auto const path = conformance::make_file(folder_.path() + "/file", contents);
    rc::check([&] {
        PosixFile file(path, AccessMode::read, parts_.way(), doorbell_.ringer());
        Request const request = drawn_request();
        Buffer memory(static_cast<std::size_t>(request.bytes), std::byte{77});
        auto const gap = *rc::gen::element<Bytes>(1, 50, 200, 4096);
        UserTransfer read(request, memory.data(), gap);
        file.start(read);
        doorbell_.wait_for(read);
        expect_pieces(request, read, memory, contents);
    });
}

TEST_P(Sieve, WindowsBringTheSame) {
    auto const contents = pattern(700'000);  // More than a window.
    auto const path = conformance::make_file(folder_.path() + "/file", contents);
    rc::check([&] {
        PosixFile file(path, AccessMode::read, parts_.way(), doorbell_.ringer());
        Request request = drawn_request();
        request.view.displacement = *rc::gen::inRange<Offset>(0, 650'000);
        Buffer memory(static_cast<std::size_t>(request.bytes), std::byte{77});
        UserTransfer read(request, memory.data(), 4096);
        read_sieved(request, memory.data(), file, read);
        expect_pieces(request, read, memory, contents);
    });
}

TEST(SieveTransfer, WindowsPayForShortDistancesOnly) {
    Request request;
    request.view.filetype =
        std::make_shared<Layout const>(std::vector<sluice::Run>{{0, 10, 0, 1}}, 100);
    request.bytes = 1000;
    EXPECT_TRUE(sieving_pays(request, 100));
    EXPECT_FALSE(sieving_pays(request, 90));
    EXPECT_FALSE(sieving_pays(request, 0));
    request.atomic = true;  // The lock is of the whole request, and not of a window.
    EXPECT_FALSE(sieving_pays(request, 100));
    request.atomic = false;
    request.bytes = 10;
    EXPECT_FALSE(sieving_pays(request, 100));
    request.view.filetype = Layout::contiguous();
    request.bytes = 1000;
    EXPECT_FALSE(sieving_pays(request, 100));
}

TEST(SieveTransfer, LongGapsAndWritesAreNotSieved) {
    Request request;
    request.direction = Direction::read;
    request.view.filetype =
        std::make_shared<Layout const>(std::vector<sluice::Run>{{0, 10, 0, 1}}, 100);
    request.bytes = 30;
    std::byte memory[30];
    auto const segments = [&](Bytes gap) {
        UserTransfer transfer(request, memory, gap);
        int count = 0;
        while (transfer.next()) ++count;
        return count;
    };
    EXPECT_EQ(segments(0), 3);
    EXPECT_EQ(segments(89), 3);
    EXPECT_EQ(segments(90), 5);
    request.direction = Direction::write;
    EXPECT_EQ(segments(90), 3);
}

}  // namespace
}  // namespace sluice::sieve_test
