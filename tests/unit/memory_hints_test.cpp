// What programs say of the memory of their buffers, in the words of MPI and of MPICH.
#include "settings_cases.hpp"

#include <gtest/gtest.h>

namespace sluice::memory_hints_test {
namespace {

using namespace testing;
using Type = ProgramStream::Type;

/// As MPICH 5.0.2 and MPICH 4.0 write it.
TEST(MemoryHints, AHandleIsReadInBothWaysOfMpich) {
    EXPECT_EQ(parse_handle("24C2CEF7FC7F[2]"), 0x7ffcf7cec224U);
    EXPECT_EQ(parse_handle("24c2cef7fc7f0000"), 0x7ffcf7cec224U);
    EXPECT_EQ(parse_handle("02[6]01"), 0x100000000000002U);
    EXPECT_EQ(parse_handle("[8]"), 0U);
    EXPECT_EQ(parse_handle("0000000000000000"), 0U);
}

TEST(MemoryHints, NothingElseIsAHandle) {
    for (char const* const text : {"",
                                   "0",
                                   "00",
                                   "24C2CEF7FC7F",
                                   "24C2CEF7FC7F00000",
                                   "24C2CEF7FC7F[2]00",
                                   "[9]",
                                   "[0]",
                                   "[8",
                                   "[",
                                   "[]",
                                   "[-8]",
                                   "[8]x",
                                   "0x7ffcf7cec224",
                                   "24C2CEF7FC7F[3]",
                                   "zzzzzzzzzzzzzzzz",
                                   "+1+1+1+1+1+1+1+1",
                                   " 1 1 1 1 1 1 1 1",
                                   "[ 8]",
                                   "[2][2][2][1]1"})
        EXPECT_EQ(parse_handle(text), std::nullopt) << text;
}

TEST(MemoryHints, AStreamStaysUntilAnotherIsGiven) {
    ReadHints const first(Table{{"type", "cudaStream_t"}, {"value", "0100000000000000"}});
    EXPECT_TRUE(first.complaints.empty());
    EXPECT_EQ(first.hints.memory.stream, (ProgramStream{Type::cuda, 1}));
    EXPECT_EQ(ReadHints(Table{}, first.hints).hints, first.hints);
    ReadHints const second(Table{{"type", "hipStream_t"}, {"value", "[8]"}}, first.hints);
    EXPECT_EQ(second.hints.memory.stream, (ProgramStream{Type::hip, 0}));
    ReadHints const none(Table{{"type", "none"}}, second.hints);
    EXPECT_TRUE(none.complaints.empty());
    EXPECT_EQ(none.hints.memory.stream, ProgramStream{});
}

TEST(MemoryHints, NonsenseIsToldAndIgnored) {
    ReadHints const bad(Table{{"type", "cudaStream_t"}, {"value", "stream"}});
    EXPECT_EQ(bad.complaints.size(), 1U);
    EXPECT_EQ(bad.hints, FileHints{});
    EXPECT_EQ(ReadHints(Table{{"type", "cudaStream_t"}}).complaints.size(), 1U);
    // Others may mean something else by these names.
    ReadHints const other(Table{{"type", "table"}, {"value", "12"}});
    EXPECT_TRUE(other.complaints.empty());
    EXPECT_EQ(other.hints, FileHints{});
}

bool may_be_on_device(char const* kinds) {
    return ReadHints(Table{{"mpi_assert_memory_alloc_kinds", kinds}})
        .hints.memory.may_be_on_device();
}

TEST(MemoryHints, KindsOfTheHostKeepDevicesOut) {
    EXPECT_TRUE(FileHints{}.memory.may_be_on_device());
    for (char const* const kinds :
         {"system", "mpi", "system,mpi", "mpi:win_allocate", "cuda:host", "rocm:managed,system",
          "cuda:host:managed", "level_zero:shared"})
        EXPECT_FALSE(may_be_on_device(kinds)) << kinds;
    for (char const* const kinds : {"cuda", "system,cuda", "cuda:device", "cuda:host:device",
                                    "rocm", "level_zero:device", "another", "system,", "cuda:"})
        EXPECT_TRUE(may_be_on_device(kinds)) << kinds;
}

TEST(MemoryHints, KindsAreShownAsTheyWereGiven) {
    ReadHints const read(Table{{"mpi_assert_memory_alloc_kinds", "system,mpi"}});
    auto const shown = hints_in_force(read.hints, 1);
    EXPECT_NE(std::ranges::find(shown, std::pair<std::string, std::string>(
                                           "mpi_assert_memory_alloc_kinds", "system,mpi")),
              shown.end());
}

}  // namespace
}  // namespace sluice::memory_hints_test
