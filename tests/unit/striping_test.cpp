// Lustre's layouts, made by hand byte by byte, and the attribute that they come in.
#include "storage/file_striping.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <sys/xattr.h>
#include <unistd.h>

namespace sluice::striping_test {
namespace {

using Blob = std::vector<std::byte>;

void put(Blob& to, std::uint64_t value, std::size_t width, bool big) {
    for (std::size_t i = 0; i < width; ++i) {
        to.push_back(static_cast<std::byte>(value >> (8 * (big ? width - 1 - i : i))));
    }
}

struct Plain {
    std::uint32_t magic = 0x0BD10BD0, pattern = 1, stripe_bytes = 1 << 20;
    std::uint16_t stripe_count = 4;
};

/// As lov_user_md: magic, pattern, an id of 16 bytes, stripe size, count, offset; in version 3 the
/// name of a pool; then 24 bytes for each object.
Blob plain(Plain const& p, bool big = false) {
    Blob blob;
    put(blob, p.magic, 4, big);
    put(blob, p.pattern, 4, big);
    put(blob, 0x1111111111111111, 8, big);
    put(blob, 0x2222222222222222, 8, big);
    put(blob, p.stripe_bytes, 4, big);
    put(blob, p.stripe_count, 2, big);
    put(blob, 0x3333, 2, big);
    if (p.magic == 0x0BD30BD0) blob.insert(blob.end(), 16, std::byte{'p'});
    blob.insert(blob.end(), std::size_t{24} * (p.stripe_count % 64), std::byte{0x44});
    return blob;
}

struct Component {
    std::uint64_t begin, end;
    Plain plain;
};

/// As lov_comp_md_v1: a head of 32 bytes, entries of 48, then the components.
Blob composite(std::vector<Component> const& components, bool big = false) {
    Blob head, blobs;
    put(head, 0x0BD60BD0, 4, big);
    put(head, 0, 4, big);
    put(head, 7, 4, big);
    put(head, 0, 2, big);
    put(head, components.size(), 2, big);
    head.insert(head.end(), 16, std::byte{0});
    std::size_t const blobs_at = 32 + 48 * components.size();
    for (Component const& c : components) {
        Blob const one = plain(c.plain, big);
        put(head, 1, 4, big);
        put(head, 0x10, 4, big);
        put(head, c.begin, 8, big);
        put(head, c.end, 8, big);
        put(head, blobs_at + blobs.size(), 4, big);
        put(head, one.size(), 4, big);
        head.insert(head.end(), 16, std::byte{0});
        blobs.insert(blobs.end(), one.begin(), one.end());
    }
    head.insert(head.end(), blobs.begin(), blobs.end());
    return head;
}

constexpr std::uint64_t to_the_end = ~std::uint64_t{0};

TEST(Striping, PlainLayoutsOfBothVersionsAndOrders) {
    Striping const expected{Bytes{1} << 20, 4};
    for (bool const big : {false, true}) {
        for (std::uint32_t const magic : {0x0BD10BD0, 0x0BD30BD0}) {
            EXPECT_EQ(parse_lustre_layout(plain({.magic = magic}, big)), expected);
        }
    }
    EXPECT_EQ(parse_lustre_layout(plain({.stripe_bytes = 65536, .stripe_count = 1})),
              (Striping{65536, 1}));
    EXPECT_EQ(parse_lustre_layout(plain({.stripe_bytes = 0xFFFF0000})), (Striping{0xFFFF0000, 4}));
    EXPECT_EQ(parse_lustre_layout(plain({.pattern = 0x201})), expected);  // Several on a server.
}

TEST(Striping, WhatIsNotInTurnIsNotKnown) {
    EXPECT_EQ(parse_lustre_layout({}), std::nullopt);
    EXPECT_EQ(parse_lustre_layout(plain({.magic = 0x0BD20BD0})), std::nullopt);
    EXPECT_EQ(parse_lustre_layout(plain({.pattern = 0x100})), std::nullopt);       // On the MDT.
    EXPECT_EQ(parse_lustre_layout(plain({.pattern = 0x80000001})), std::nullopt);  // Released.
    EXPECT_EQ(parse_lustre_layout(plain({.stripe_bytes = 0})), std::nullopt);
    EXPECT_EQ(parse_lustre_layout(plain({.stripe_count = 0})), std::nullopt);
    EXPECT_EQ(parse_lustre_layout(plain({.stripe_count = 0xFFFF})), std::nullopt);
}

TEST(Striping, OfACompositeLayoutTheLongestComponent) {
    for (bool const big : {false, true}) {
        EXPECT_EQ(parse_lustre_layout(composite({{0, 1 << 20, {.pattern = 0x100}},
                                                 {1 << 20, 1 << 30, {.stripe_count = 1}},
                                                 {1 << 30, to_the_end, {.stripe_count = 8}}},
                                                big)),
                  (Striping{Bytes{1} << 20, 8}));
    }
    EXPECT_EQ(parse_lustre_layout(composite({{0, to_the_end, {.stripe_count = 3}}})),
              (Striping{Bytes{1} << 20, 3}));
    EXPECT_EQ(parse_lustre_layout(
                  composite({{0, 1 << 20, {}}, {1 << 20, to_the_end, {.pattern = 0x100}}})),
              std::nullopt);
    EXPECT_EQ(parse_lustre_layout(composite({})), std::nullopt);
}

TEST(Striping, DamagedLayoutsAreReadNoFurtherThanTheyGo) {
    Blob const whole = composite({{0, 1 << 20, {}}, {1 << 20, to_the_end, {.stripe_count = 8}}});
    for (std::size_t length = 0; length < whole.size(); ++length) {
        Blob const cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
        auto const found = parse_lustre_layout(cut);
        bool const knows = length + 8 * 24 >= whole.size();  // But for the last objects.
        EXPECT_TRUE(knows || !found) << length;
    }
    Blob far = whole;
    far[32 + 48 + 24 + 3] = std::byte{0x7F};  // The second component lies behind the end.
    EXPECT_EQ(parse_lustre_layout(far), std::nullopt);
}

/// A file system of a test.
class Table final : public Attributes {
public:
    std::vector<std::byte> read(int fd, char const* name) override {
        return all[std::to_string(fd) + " " + name];
    }
    std::optional<Blob> at(std::string const& path, char const* name) override {
        auto const found = all.find(path + " " + name);
        if (found != all.end()) return found->second;
        return knows ? std::optional<Blob>(Blob()) : std::nullopt;
    }
    Error write(std::string const& path, char const* name,
                std::vector<std::byte> const& bytes) override {
        if (full) return {.status = Status::no_space, .what = "setxattr"};
        asked = bytes;
        all[path + " " + name] = given ? plain(*given) : bytes;
        return {};
    }
    void remove(std::string const& path, char const* name) override {
        all.erase(path + " " + name);
    }
    std::map<std::string, Blob> all;
    Blob asked;
    std::optional<Plain> given = Plain{};  ///< What is made of a layout; nothing: it is kept.
    bool knows = true, full = false;
};

TEST(Striping, ItIsReadFromTheFilesAttribute) {
    Table table;
    table.all["7 lustre.lov"] = plain({});
    EXPECT_EQ(striping_of(7, table), (Striping{Bytes{1} << 20, 4}));
    EXPECT_EQ(striping_of(8, table), std::nullopt);
}

TEST(Striping, ALayoutIsAskedForInTheWordsInWhichItIsTold) {
    Blob expected = plain({.stripe_count = 5});
    expected.resize(32);
    std::fill(expected.begin() + 8, expected.begin() + 24, std::byte{0});
    std::fill(expected.begin() + 30, expected.end(), std::byte{0xFF});
    if (std::endian::native == std::endian::little) {
        EXPECT_EQ(lustre_layout({Bytes{1} << 20, 5}), expected);
    }
    EXPECT_EQ(parse_lustre_layout(lustre_layout({Bytes{1} << 20, 5})),
              (Striping{Bytes{1} << 20, 5}));
}

TEST(Striping, WhatIsAskedForIsWhatLustreTakes) {
    constexpr Bytes multiple = 65536, below = Bytes{1} << 32;
    for (Bytes const bytes : {Bytes{1}, multiple, multiple + 1, below - 1, below, 5 * below}) {
        auto const asked = parse_lustre_layout(lustre_layout({bytes, 1 << 20}));
        ASSERT_TRUE(asked) << bytes;
        EXPECT_EQ(asked->stripe_bytes % multiple, 0) << bytes;
        EXPECT_EQ(asked->stripe_bytes,
                  std::min((bytes + multiple - 1) / multiple * multiple, below - multiple));
        EXPECT_EQ(asked->stripe_count, 0xFFFE);
    }
    // What nobody says is the file system's choice.
    EXPECT_EQ(parse_lustre_layout(lustre_layout({0, 4})), std::nullopt);
    EXPECT_EQ(lustre_layout({0, 4})[28], std::byte{4});
    EXPECT_EQ(lustre_layout({multiple, 0})[26], std::byte{1});
}

TEST(Striping, WhatIsNotAskedForIsAsTheFolderHasIt) {
    Blob const plain_folder = plain({.stripe_bytes = 1 << 22, .stripe_count = 7});
    EXPECT_EQ(parse_lustre_layout(lustre_layout({0, 3}, plain_folder)),
              (Striping{Bytes{1} << 22, 3}));
    EXPECT_EQ(parse_lustre_layout(lustre_layout({65536, 0}, plain_folder)), (Striping{65536, 7}));
    EXPECT_EQ(lustre_layout({65536, 2}, plain_folder), lustre_layout({65536, 2}));
    Blob const in_pool = plain({.magic = 0x0BD30BD0, .stripe_bytes = 1 << 22});
    Blob const asked = lustre_layout({65536, 2}, in_pool);
    ASSERT_EQ(asked.size(), 48u);
    EXPECT_EQ(parse_lustre_layout(asked), (Striping{65536, 2}));
    EXPECT_EQ(Blob(asked.begin() + 32, asked.end()), Blob(16, std::byte{'p'}));
    Blob const of_components = composite({{0, to_the_end, {.stripe_count = 8}}});
    EXPECT_EQ(lustre_layout({0, 3}, of_components), lustre_layout({0, 3}));
    EXPECT_EQ(lustre_layout({0, 3}, Blob(10)), lustre_layout({0, 3}));
}

/// A folder of the real file system, in which a Table keeps the attributes.
class NewFiles : public ::testing::Test {
protected:
    NewFiles() { EXPECT_NE(mkdtemp(folder.data()), nullptr); }
    ~NewFiles() override { std::filesystem::remove_all(folder); }

    std::string folder = "/tmp/striping-XXXXXX";
    Table table;
    Striping const wanted{Bytes{1} << 20, 4};
};

TEST_F(NewFiles, HaveTheirLayout) {
    std::string const path = folder + "/file";
    EXPECT_TRUE(can_be_striped(path, table));
    EXPECT_FALSE(make_striped(path, wanted, table));
    EXPECT_EQ(table.asked, lustre_layout(wanted));
    EXPECT_EQ(std::filesystem::file_size(path), 0);
    table.asked.clear();
    EXPECT_FALSE(make_striped(path, wanted, table));  // It is there.
    EXPECT_TRUE(table.asked.empty());
    EXPECT_FALSE(make_striped(folder + "/none/file", wanted, table));
    EXPECT_TRUE(table.asked.empty());
}

TEST_F(NewFiles, TellWhereTheyHaveAnother) {
    table.given->stripe_count = 2;  // There are no more servers.
    EXPECT_FALSE(make_striped(folder + "/fewer", wanted, table));
    table.given->stripe_count = 5;
    EXPECT_TRUE(make_striped(folder + "/more", wanted, table));
    table.given = Plain{.stripe_bytes = 1 << 16};
    EXPECT_TRUE(make_striped(folder + "/shorter", wanted, table));
    table.full = true;
    EXPECT_EQ(make_striped(folder + "/full", wanted, table).status, Status::no_space);
    EXPECT_TRUE(std::filesystem::exists(folder + "/full"));
}

TEST_F(NewFiles, HaveNoneWhereAnyAttributeIsKept) {
    table.given.reset();
    EXPECT_FALSE(make_striped(folder + "/file", wanted, table));
    EXPECT_FALSE(table.asked.empty());
    EXPECT_TRUE(table.all.empty());
    table.knows = false;
    EXPECT_FALSE(can_be_striped(folder + "/file", table));
}

TEST(Striping, ThisSystemsFoldersHaveNoLayouts) {
    SystemAttributes system(0);
    EXPECT_FALSE(can_be_striped("/tmp/file", system));
    EXPECT_FALSE(can_be_striped("/nowhere/file", system));
    EXPECT_EQ(system.write("/nowhere/file", "user.sluice", {}).status, Status::no_such_file);
}

TEST(Striping, TheSystemsAttributesAreReadWhole) {
    char path[] = "/tmp/striping-XXXXXX";
    int const fd = mkstemp(path);
    ASSERT_GE(fd, 0);
    SystemAttributes system(0);
    EXPECT_TRUE(system.read(fd, "lustre.lov").empty());
    EXPECT_EQ(striping_of(fd, system), std::nullopt);
    EXPECT_TRUE(system.read(-1, "lustre.lov").empty());
    bool compared = false;
    for (std::size_t const length : {1, 100, 4000}) {
        Blob const value(length, std::byte{42});
        if (setxattr(path, "user.sluice", value.data(), value.size(), 0) != 0) continue;
        EXPECT_EQ(system.read(fd, "user.sluice"), value);
        compared = true;
    }
    close(fd);
    unlink(path);
    if (!compared) GTEST_SKIP() << "this file system keeps no attributes of users";
}

}  // namespace
}  // namespace sluice::striping_test
