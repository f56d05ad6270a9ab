// What a served device reads of a peer: messages of FUSE that lie, names that lead out of a folder,
// secrets. Every message lies in memory of exactly its size, so that the sanitizer sees a look
// beyond.
#include "device/fuse/message.hpp"
#include "device/fuse/secret.hpp"
#include "device/fuse/store.hpp"
#include "drawn.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <linux/fuse.h>
#include <random>

namespace sluice::device::device_hostile_test {
namespace {

using Kind = Verdict::Kind;

std::vector<char> message(std::uint32_t opcode, std::string const& arguments) {
    fuse_in_header header{};
    header.len = static_cast<std::uint32_t>(sizeof header + arguments.size());
    header.opcode = opcode, header.unique = 1, header.nodeid = root_inode;
    std::vector<char> bytes(header.len);
    std::memcpy(bytes.data(), &header, sizeof header);
    std::ranges::copy(arguments, bytes.data() + sizeof header);
    return bytes;
}

template <class Argument> std::string bytes_of(Argument const& argument) {
    return {reinterpret_cast<char const*>(&argument), sizeof argument};
}

std::string hello() {
    fuse_init_in init{};
    init.major = 7, init.minor = 31;
    return bytes_of(init).substr(0, 16);
}

struct DeviceMessage : ::testing::Test {
    DeviceMessage() { EXPECT_EQ(ask(FUSE_INIT, hello()).kind, Kind::serve); }
    Verdict ask(std::uint32_t opcode, std::string const& arguments) {
        auto const bytes = message(opcode, arguments);
        return check(bytes.data(), bytes.size());
    }
    static std::string name(char const* text) { return std::string(text) + '\0'; }
    MessageCheck check;
};

TEST_F(DeviceMessage, namesAreOfOneEntry) {
    for (char const* good : {"a", "...", ".hidden", "a b", "\xff"})
        EXPECT_EQ(ask(FUSE_LOOKUP, name(good)).kind, Kind::serve) << good;
    for (char const* bad : {"", ".", "..", "/", "a/b", "../a", "/etc/passwd", "a/"}) {
        EXPECT_EQ(ask(FUSE_LOOKUP, name(bad)).error, EINVAL) << bad;
        EXPECT_EQ(ask(FUSE_RENAME, std::string(8, 0) + name("a") + name(bad)).error, EINVAL);
        EXPECT_EQ(ask(FUSE_RENAME, std::string(8, 0) + name(bad) + name("a")).error, EINVAL);
        EXPECT_EQ(ask(FUSE_SYMLINK, name(bad) + name("anything/at/../all")).error, EINVAL);
    }
    EXPECT_EQ(ask(FUSE_LOOKUP, name(std::string(255, 'n').c_str())).kind, Kind::serve);
    EXPECT_EQ(ask(FUSE_LOOKUP, name(std::string(256, 'n').c_str())).error, ENAMETOOLONG);
    EXPECT_EQ(ask(FUSE_LOOKUP, "no end").kind, Kind::end);
    EXPECT_EQ(ask(FUSE_LOOKUP, name("one") + name("more")).kind, Kind::end);
    EXPECT_EQ(ask(FUSE_RENAME, std::string(8, 0) + name("one")).kind, Kind::end);
}

TEST_F(DeviceMessage, countsAreThoseOfTheBytes) {
    fuse_write_in write{};
    write.size = 5;
    EXPECT_EQ(ask(FUSE_WRITE, bytes_of(write) + "12345").kind, Kind::serve);
    EXPECT_EQ(ask(FUSE_WRITE, bytes_of(write) + "1234").kind, Kind::end);
    write.offset = ~std::uint64_t{0} >> 1;
    EXPECT_EQ(ask(FUSE_WRITE, bytes_of(write) + "12345").error, EFBIG);
    fuse_read_in read{};
    read.size = request_bytes_max;
    EXPECT_EQ(ask(FUSE_READ, bytes_of(read)).kind, Kind::serve);
    EXPECT_EQ(ask(FUSE_READ, bytes_of(read).substr(1)).kind, Kind::end);
    read.size += 1;
    EXPECT_EQ(ask(FUSE_READ, bytes_of(read)).error, EINVAL);
    EXPECT_EQ(ask(FUSE_READDIR, bytes_of(read)).error, EINVAL);
    fuse_batch_forget_in forgets{};
    forgets.count = 1U << 31;
    EXPECT_EQ(ask(FUSE_BATCH_FORGET, bytes_of(forgets)).kind, Kind::end);
    EXPECT_EQ(ask(FUSE_INTERRUPT, std::string(8, 0)).error, ENOSYS);
    EXPECT_EQ(ask(FUSE_INIT, hello()).kind, Kind::end);
}

TEST(DeviceMessages, theFirstIsTheBeginning) {
    MessageCheck check;
    auto const early = message(FUSE_LOOKUP, std::string("file") + '\0');
    EXPECT_EQ(check(early.data(), early.size()).kind, Kind::end);
    auto const old = message(FUSE_INIT, std::string(16, 1));
    EXPECT_EQ(check(old.data(), old.size()).kind, Kind::end);
    auto longer = hello();
    longer[15] = 0x40;  // It says that more follows.
    auto const cut = message(FUSE_INIT, longer);
    EXPECT_EQ(check(cut.data(), cut.size()).kind, Kind::end);
}

TEST_F(DeviceMessage, garbageIsRead) {
    std::mt19937_64 dice(testing::run_seed());
    int served = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string arguments(dice() % 140, 0);
        for (char& c : arguments) c = dice() % 3 == 0 ? static_cast<char>(dice()) : 0;
        auto bytes = message(static_cast<std::uint32_t>(dice() % 60), arguments);
        if (dice() % 8 == 0) bytes.resize(dice() % (bytes.size() + 1)), bytes.shrink_to_fit();
        served += check(bytes.data(), bytes.size()).kind == Kind::serve;
    }
    EXPECT_GT(served, 0);
}

void never_outside(Store& store) {
    Found found;
    struct stat now{};
    std::vector<Listed> entries;
    std::uint64_t handle = 0;
    Inode const inner = store.lookup(root_inode, "inner", found) == 0 ? found.inode : root_inode;
    for (char const* name : {"..", ".", "", "../outside", "/etc/passwd", "inner/../../outside"}) {
        for (Inode const at : {root_inode, inner}) {
            EXPECT_NE(store.lookup(at, name, found), 0) << name;
            EXPECT_NE(store.make(at, name, S_IFREG | 0644, {}, found), 0) << name;
            EXPECT_NE(store.make(at, name, S_IFDIR | 0755, {}, found), 0) << name;
            EXPECT_NE(store.make_symlink(at, name, "to", {}, found), 0) << name;
            EXPECT_NE(store.remove(at, name, false), 0) << name;
            EXPECT_NE(store.rename(at, name, root_inode, "taken", 0), 0) << name;
            EXPECT_NE(store.rename(root_inode, "file", at, name, 0), 0) << name;
            EXPECT_NE(store.make_link(root_inode, at, name, found), 0) << name;
        }
    }
    for (Inode const wrong : {Inode{0}, Inode{99}, ~Inode{0}}) {
        EXPECT_NE(store.attributes(wrong, now), 0);
        EXPECT_NE(store.change(wrong, now, FATTR_SIZE, now), 0);
        EXPECT_NE(store.open(wrong, O_RDWR, handle), 0);
        EXPECT_NE(store.lookup(wrong, "file", found), 0);
        EXPECT_NE(store.list(wrong, 0, 10, entries), 0);
        store.forget(wrong, 3);
    }
    EXPECT_NE(store.open(root_inode, O_RDONLY, handle), 0);
}

TEST(DeviceStores, aFolderIsNotLeft) {
    namespace fs = std::filesystem;
    auto const above = fs::temp_directory_path() / ("hostile-" + std::to_string(getpid()));
    fs::create_directories(above / "folder" / "inner");
    std::ofstream(above / "outside") << "nobody's";
    std::ofstream(above / "folder" / "file") << "inside";
    fs::create_symlink("../outside", above / "folder" / "link");
    {
        auto const store = store_over((above / "folder").string());
        ASSERT_TRUE(store);
        never_outside(*store);
        Found found;
        std::uint64_t handle = 0;
        ASSERT_EQ(store->lookup(root_inode, "link", found), 0);
        EXPECT_TRUE(S_ISLNK(found.attributes.st_mode));
        EXPECT_NE(store->open(found.inode, O_RDWR | O_TRUNC, handle), 0);
        EXPECT_EQ(store->lookup(found.inode, "x", found), ENOTDIR);
        ASSERT_EQ(store->lookup(root_inode, "file", found), 0);
        ASSERT_EQ(store->open(found.inode, O_RDWR, handle), 0);
        std::vector<char> data;
        EXPECT_EQ(store->read(found.inode, handle, 100, 0, data), 0);
        EXPECT_EQ(std::string(data.begin(), data.end()), "inside");
        store->close(handle);
    }
    EXPECT_EQ(fs::file_size(above / "outside"), 8U);
    EXPECT_EQ(std::distance(fs::directory_iterator(above), fs::directory_iterator()), 2);
    fs::remove_all(above);
}

TEST(DeviceStores, memoryIsBounded) {
    auto const store = store_in_memory(Count{4} << 20);
    never_outside(*store);
    Found found;
    ASSERT_EQ(store->make(root_inode, "far", S_IFREG | 0644, {}, found), 0);
    for (int i = 0; i < 8; ++i)
        EXPECT_EQ(store->write(found.inode, 0, "x", 1, Count{1} << (62 - i)), 0);
    std::vector<char> data;
    ASSERT_EQ(store->read(found.inode, 0, 4, (Count{1} << 62) - 1, data), 0);
    EXPECT_EQ(std::string(data.begin(), data.end()), std::string("\0x", 2));
    int error = 0;
    for (int i = 0; error == 0 && i < 2000; ++i)
        error = store->make(root_inode, std::to_string(i).c_str(), S_IFREG | 0644, {}, found);
    EXPECT_EQ(error, ENOSPC);
}

std::string hexadecimal(Digest const& digest) {
    std::string text;
    for (unsigned char const byte : digest)
        text += "0123456789abcdef"[byte >> 4], text += "0123456789abcdef"[byte & 15];
    return text;
}

TEST(DeviceSecret, digestsAreThoseOfTheStandards) {
    EXPECT_EQ(hexadecimal(sha256("abc")),  // FIPS 180-4
              "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hexadecimal(sha256("")),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hexadecimal(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hexadecimal(hmac_sha256("Jefe", "what do ya want for nothing?")),  // RFC 4231
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hexadecimal(hmac_sha256(std::string(131, '\xaa'),
                                      "Test Using Larger Than Block-Size Key - Hash Key First")),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(DeviceSecret, proofsHoldOnce) {
    std::string const secret = "known to both of them";
    auto const greeting = new_greeting(), another = new_greeting();
    auto const claim = claim_for(secret, greeting);
    EXPECT_TRUE(is_greeting(greeting));
    EXPECT_TRUE(proves(secret, greeting, claim));
    EXPECT_FALSE(proves(secret, another, claim));
    EXPECT_FALSE(proves("known to one of them", greeting, claim));
    auto answer = answer_to(secret, greeting, claim, accepted);
    EXPECT_TRUE(proves(secret, greeting, claim, answer));
    answer.status = full;
    EXPECT_FALSE(proves(secret, greeting, claim, answer));
    answer = {accepted, claim.proof};
    EXPECT_FALSE(proves(secret, greeting, claim, answer));
}

TEST(DeviceSecret, theFileIsItsOwnersOnly) {
    namespace fs = std::filesystem;
    auto const folder = fs::temp_directory_path() / ("secret-" + std::to_string(getpid()));
    fs::create_directories(folder);
    std::string const file = folder / "secret";
    std::string from, why;
    EXPECT_FALSE(find_secret(file, false, from, why));
    auto const made = find_secret(file, true, from, why);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->size(), 64U);
    EXPECT_EQ(find_secret(file, false, from, why), made);
    EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    fs::permissions(file, fs::perms::group_read, fs::perm_options::add);
    EXPECT_FALSE(find_secret(file, true, from, why));
    EXPECT_NE(why.find("chmod 600"), std::string::npos);
    std::ofstream(folder / "short") << "short\n";
    fs::permissions(folder / "short", fs::perms::owner_read);
    EXPECT_FALSE(find_secret(folder / "short", true, from, why));
    fs::remove_all(folder);
}

}  // namespace
}  // namespace sluice::device::device_hostile_test
