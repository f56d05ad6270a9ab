// Which file system holds a path, and what the profile of a host and a file system is called.
#include "base/profile_place.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::profile_place_test {
namespace {

constexpr char const* table =
    "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
    "23 22 0:21 / /dev/shm rw,nosuid shared:7 master:2 - tmpfs tmpfs rw,size=1g\n"
    "30 22 0:40 / /scratch rw - lustre 10.0.0.1@tcp:/work rw\n"
    "31 22 0:41 /sub /my\\040files rw - nfs4 server:/a\\040b rw\n"
    "32 30 0:42 / /scratch/fast rw - fuse.emulated device rw\n"
    "33 30 0:43 / /scratch/fast rw - fuse.emulated upper rw\n"
    "damaged line\n"
    "34 30 0:43 / /half rw -\n";

TEST(MountOf, TakesTheNearestFolder) {
    EXPECT_EQ(mount_of(table, "/home/file")->source, "/dev/vda");
    EXPECT_EQ(mount_of(table, "/")->type, "ext4");
    EXPECT_EQ(mount_of(table, "/dev/shm")->type, "tmpfs");
    EXPECT_EQ(mount_of(table, "/dev/shm/x/y")->type, "tmpfs");
    EXPECT_EQ(mount_of(table, "/dev/shmem")->type, "ext4");
    EXPECT_EQ(mount_of(table, "/scratch/a")->source, "10.0.0.1@tcp:/work");
}

TEST(MountOf, TakesTheLastOfThoseOverOneAnother) {
    EXPECT_EQ(mount_of(table, "/scratch/fast/x")->source, "upper");
}

TEST(MountOf, ReadsEscapes) {
    auto const mount = mount_of(table, "/my files/x");
    ASSERT_TRUE(mount);
    EXPECT_EQ(mount->point, "/my files");
    EXPECT_EQ(mount->source, "server:/a b");
}

TEST(MountOf, SaysNothingOfAnEmptyTable) {
    EXPECT_FALSE(mount_of("", "/x"));
    EXPECT_FALSE(mount_of("1 2 3\n- - -\n", "/x"));
}

TEST(ProfileName, TellsFileSystemsApart) {
    EXPECT_EQ(profile_name("node7", {"/", "ext4", "/dev/vda1"}), "node7-ext4-dev-vda1.toml");
    EXPECT_EQ(profile_name("node7", {"/w", "lustre", "10.0.0.1@tcp:/work"}),
              "node7-lustre-10.0.0.1-tcp-work.toml");
    // Any number of these have the same source: their folders tell them apart.
    EXPECT_EQ(profile_name("node7", {"/dev/shm", "tmpfs", "tmpfs"}), "node7-tmpfs-dev-shm.toml");
    EXPECT_EQ(profile_name("node7", {"/a", "tmpfs", "none"}), "node7-tmpfs-a.toml");
    EXPECT_NE(profile_name("node7", {"/a", "fuse.x", "device"}),
              profile_name("node7", {"/b", "fuse.x", "device"}));
    EXPECT_NE(profile_name("node7", {"/", "ext4", "/dev/vda1"}),
              profile_name("node8", {"/", "ext4", "/dev/vda1"}));
}

RC_GTEST_PROP(ProfileName, IsAPlainName,
              (std::string const& host, std::string const& type, std::string const& source)) {
    std::string const name = profile_name(host, {"/", type, source});
    RC_ASSERT(name.size() <= 205U);
    RC_ASSERT(name.ends_with(".toml"));
    RC_ASSERT(name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789._-") == std::string::npos);
}

RC_GTEST_PROP(MountOf, TakesAnyText, (std::string const& text, std::string const& path)) {
    auto const mount = mount_of(text, path);
    RC_ASSERT(!mount || path.starts_with(mount->point) || mount->point == "/");
}

}  // namespace
}  // namespace sluice::profile_place_test
