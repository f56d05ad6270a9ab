// When it pays to delay a write: what the file system tells first, and the last write then.
#include "behind/storage_speed.hpp"

#include "base/affinity.hpp"
#include "system/descriptor.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

namespace sluice::storage_speed_test {
namespace {

constexpr Bytes some = 4096, many = 16 << 20;

/// Its file system is tmpfs.
Descriptor file_in_memory() { return Descriptor(memfd_create("storage_speed_test", 0)); }

TEST(StorageSpeed, MemoryIsFastFromTheBeginning) {
    Descriptor const file = file_in_memory();
    StorageSpeed const speed(file.get(), {});
    EXPECT_FALSE(speed.pays_to_delay(some, false));
    EXPECT_FALSE(speed.pays_to_delay(many, false));
}

TEST(StorageSpeed, WhatIsNotKnownIsSlow) {
    Descriptor const file = file_in_memory();
    EXPECT_TRUE(StorageSpeed(-1, {}).pays_to_delay(many, false));
    EXPECT_TRUE(StorageSpeed(file.get(), {.past_cache = true}).pays_to_delay(some, false));
}

TEST(StorageSpeed, TheLastWriteOfItsLengthTells) {
    Descriptor const file = file_in_memory();
    StorageSpeed speed(file.get(), {});
    speed.note(many, 0.4);
    EXPECT_TRUE(speed.pays_to_delay(many, false));
    EXPECT_FALSE(speed.pays_to_delay(some, false)) << "a short write was not measured";
    speed.note(many, 0.001);
    EXPECT_FALSE(speed.pays_to_delay(many, false));
    speed.note(0, 1);
    EXPECT_FALSE(speed.pays_to_delay(some, false)) << "a write of nothing tells nothing";
}

TEST(StorageSpeed, AShortWriteDoesNotWaitForDelayedOnes) {
    StorageSpeed speed(-1, {});
    speed.note(some, 1e-6);
    speed.note(many, 0.4);
    EXPECT_FALSE(speed.pays_to_delay(some, false));
    EXPECT_TRUE(speed.pays_to_delay(some, true));
    speed.note(many, 0.001);
    EXPECT_FALSE(speed.pays_to_delay(some, true)) << "a page cache has nobody wait";
}

TEST(StorageSpeed, SpareCoresTakeLongWrites) {
    Descriptor const file = file_in_memory();
    StorageSpeed const speed(file.get(), {.spare_cores = true});
    EXPECT_TRUE(speed.pays_to_delay(many, false));
    EXPECT_FALSE(speed.pays_to_delay(some, false));
}

TEST(StorageSpeed, TestsMayDelayAll) {
    Descriptor const file = file_in_memory();
    StorageSpeed speed(file.get(), {.always_slow = true});
    speed.note(many, 1e-6);
    EXPECT_TRUE(speed.pays_to_delay(many, false));
}

TEST(SpareCores, EachRankAndItsThreadsNeedOne) {
    EXPECT_TRUE(has_spare_cores(2, 1, 1));
    EXPECT_FALSE(has_spare_cores(1, 1, 1)) << "bound to one core";
    EXPECT_FALSE(has_spare_cores(3, 2, 1));
    EXPECT_TRUE(has_spare_cores(64, 32, 1));
    EXPECT_FALSE(has_spare_cores(64, 4, 16)) << "OpenMP computes on all";
    EXPECT_TRUE(has_spare_cores(68, 4, 16));
}

}  // namespace
}  // namespace sluice::storage_speed_test
