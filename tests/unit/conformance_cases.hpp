// What every storage does with a file. See conformance.hpp.
#pragma once
#include "conformance.hpp"
#include "sanitizers.hpp"

#include <sys/mman.h>

namespace sluice::conformance {

struct Case {
    char const* name;
    void (*run)(Subject&);
};

/// More than one system call takes, and one by one.
inline void many_segments(Subject& subject) {
    Tester tester(subject);
    for (int const touching : {1, 1000}) {
        auto memory = pattern(40'000, touching);
        auto const segments = pieces_of(memory, 16, touching);
        tester.write(segments);
        Buffer back(memory.size());
        ListTransfer read(Direction::read, pieces_of(back, 16, touching));
        tester.transfer(read);
        tester.equal(read.bytes, total_of(segments), "bytes read");
        tester.is(expected_file(pieces_of(back, 16, touching)) == expected_file(segments),
                  "what was written is read");
    }
    tester.equal(tester.file().sync().status, Status::ok, "status of the sync");
}

inline void one_byte_pieces(Subject& subject) {
    Buffer model = pattern(9000);
    Tester tester(subject, model);
    auto memory = pattern(10'000, 5);
    std::vector<Segment> segments;
    for (Offset i = 0; i < 5000; ++i) {
        // Some touch, in groups that cross pages; memory is never in one piece.
        segments.push_back({4000 + i + i / 700 * 3, memory.data() + 2 * i, 1});
    }
    tester.write(segments);
    write_model(model, segments);
    tester.holds(model);
}

/// Every combination of where pages begin in file and memory, in writing and reading.
inline void misaligned(Subject& subject) {
    constexpr Offset places[] = {0, 1, 512, 4095, 4096, 4097};
    constexpr Bytes lengths[] = {1, 511, 4096, 4097, 8191, 12'289};
    Buffer model = pattern(30'000);
    Tester tester(subject, model);
    Place memory(20'000);
    auto const content = pattern(20'000, 9);
    for (Offset const in_file : places) {
        for (Offset const in_memory : {Offset{0}, Offset{1}, Offset{512}, Offset{4095}}) {
            for (Bytes const length : lengths) {
                std::memcpy(memory.data(), content.data(), content.size());
                std::vector<Segment> const one{{in_file, memory.data() + in_memory, length}};
                tester.write(one);
                write_model(model, one);
                std::memset(memory.data(), 0xee, 20'000);
                ListTransfer read(Direction::read, one);
                tester.transfer(read);
                tester.equal(read.bytes, length, "bytes read");
                tester.is(std::memcmp(memory.data() + in_memory, model.data() + in_file,
                                      static_cast<std::size_t>(length)) == 0,
                          "what was written is read");
                tester.is(memory.data()[in_memory + length] == std::byte{0xee},
                          "memory behind is not touched");
            }
        }
    }
    tester.holds(model);
}

inline void across_the_end(Subject& subject) {
    for (std::size_t const size : {std::size_t{1000}, std::size_t{8192}, std::size_t{2'345'678}}) {
        Tester tester(subject, pattern(size));
        tester.reopen(AccessMode::read);
        for (Offset const begin : {Offset{0}, Offset{900}}) {
            Place memory(8 << 20);
            ListTransfer read(Direction::read, {{begin, memory.data(), 8 << 20}});
            tester.transfer(read);
            Bytes const there = static_cast<Bytes>(size) - begin;
            tester.equal(read.status(), Status::ok, "status of reading");
            tester.equal(read.bytes, there, "bytes before the end");
            tester.equal(read.end_of_file, static_cast<Offset>(size), "end of the file");
            tester.is(memory.data()[there] == std::byte{0xee}, "memory behind is not touched");
            tester.is(std::memcmp(memory.data(), pattern(size).data() + begin,
                                  static_cast<std::size_t>(there)) == 0,
                      "the file's bytes are read");
        }
    }
}

inline void behind_the_end(Subject& subject) {
    Tester tester(subject, pattern(5000));
    for (Offset const begin : {Offset{5000}, Offset{8192}, Offset{100'001}}) {
        Place memory(10'000);
        ListTransfer read(Direction::read, {{begin, memory.data(), 9000}});
        tester.transfer(read);
        tester.equal(read.status(), Status::ok, "status of reading");
        tester.equal(read.bytes, 0, "bytes read");
        tester.equal(read.end_of_file, begin, "end of the file, as far as it was seen");
        tester.is(memory.data()[0] == std::byte{0xee}, "memory is not touched");
    }
}

inline void missing_file(Subject& subject) {
    Doorbell doorbell;
    auto const file = subject.open(subject.folder + "/none", AccessMode::both, doorbell.ringer());
    Buffer memory(10);
    for (int attempt = 0; attempt < 2; ++attempt) {
        ListTransfer read(Direction::read, {{0, memory.data(), 10}});
        file->start(read);
        doorbell.wait_for(read);
        if (read.status() != Status::no_such_file || read.bytes != 0) {
            subject.fail("a missing file is not told");
        }
    }
    if (file->sync()) subject.fail("a missing file has something to sync");
}

inline void forbidden_directions(Subject& subject) {
    Buffer const content = pattern(10'000);
    Tester tester(subject, content);
    Place memory(10'000);
    tester.reopen(AccessMode::read);
    ListTransfer write(Direction::write, {{0, memory.data(), 9000}});
    tester.transfer(write);
    tester.is(write.status() != Status::ok, "a file for reading is not written");
    tester.reopen(AccessMode::write);
    ListTransfer read(Direction::read, {{0, memory.data(), 9000}});
    tester.transfer(read);
    tester.is(read.status() != Status::ok, "a file for writing is not read");
    tester.holds(content);
}

inline void many_at_once(Subject& subject) {
    Tester tester(subject);
    auto memory = pattern(100 * 5000);
    std::vector<std::unique_ptr<ListTransfer>> all;
    for (Offset i = 0; i < 100; ++i) {
        all.push_back(std::make_unique<ListTransfer>(
            Direction::write, std::vector<Segment>{{i * 5000, memory.data() + i * 5000, 5000}}));
        tester.start(*all.back());
    }
    for (auto const& each : all) {
        tester.finish(*each);
        tester.equal(each->status(), Status::ok, "status");
        tester.equal(each->bytes, 5000, "bytes");
    }
    tester.holds(memory);
}

/// As ranks do: neighbours in the file, which share pages, at the same time through handles of
/// their own; each then reads what the others wrote.
inline void several_handles(Subject& subject) {
    constexpr std::size_t handles = 3;
    constexpr Bytes piece = 5000, memory_bytes = 100 * piece;
    Buffer model = pattern(2'000'000);
    Tester tester(subject, model);
    std::vector<std::unique_ptr<StoredFile>> files;
    std::vector<Buffer> memories;
    for (std::size_t h = 0; h < handles; ++h) {
        files.push_back(subject.open(tester.path(), AccessMode::both, tester.doorbell().ringer()));
        memories.push_back(pattern(memory_bytes, static_cast<int>(60 * h)));
    }
    for (Offset shift = 0; shift < 3000; shift += 1000) {
        std::vector<std::unique_ptr<ListTransfer>> all;
        for (std::size_t h = 0; h < handles; ++h) {
            std::vector<Segment> segments;
            for (Offset i = 0; i < 100; ++i) {
                Offset const place = i * static_cast<Offset>(handles) + static_cast<Offset>(h);
                segments.push_back({shift + place * piece, memories[h].data() + i * piece, piece});
            }
            write_model(model, segments);
            all.push_back(std::make_unique<ListTransfer>(Direction::write, segments));
        }
        for (std::size_t h = 0; h < handles; ++h) files[h]->start(*all[h]);
        for (auto const& each : all) {
            tester.finish(*each);
            tester.equal(each->status(), Status::ok, "status");
        }
        for (auto const& file : files) {
            Buffer back(model.size());
            ListTransfer read(Direction::read, {{0, back.data(), static_cast<Bytes>(back.size())}});
            file->start(read);
            tester.finish(read);
            tester.is(back == model, "every handle reads what all wrote");
            tester.equal(file->sync().status, Status::ok, "status of the sync");
        }
        tester.holds(model);
    }
}

inline void the_callers_thread_may_end(Subject& subject) {
    Tester tester(subject);
    auto memory = pattern(4 << 20);
    std::vector<std::unique_ptr<ListTransfer>> all;
    std::thread([&] {
        for (Offset i = 0; i < 4; ++i) {
            all.push_back(std::make_unique<ListTransfer>(
                Direction::write,
                std::vector<Segment>{{i << 20, memory.data() + (i << 20), 1 << 20}}));
            tester.start(*all.back());
        }
    }).join();
    for (auto const& each : all) tester.finish(*each);
    tester.holds(memory);
}

inline void in_the_calling_thread(Subject& subject) {
    Buffer model = pattern(20'000);
    Tester tester(subject, model);
    auto memory = pattern(9000, 4);
    std::vector<Segment> const one{{3000, memory.data(), 9000}};
    ListTransfer write(Direction::write, one);
    tester.file().run(write);
    tester.equal(write.status(), Status::ok, "status");
    tester.equal(write.bytes, 9000, "bytes");
    write_model(model, one);
    tester.holds(model);
}

inline void exclusive(Subject& subject) {
    Tester tester(subject);
    auto memory = pattern(5000);
    std::vector<std::unique_ptr<ListTransfer>> all;
    for (int i = 0; i < 20; ++i) {
        all.push_back(std::make_unique<ListTransfer>(Direction::write, pieces_of(memory, 10, 1)));
        if (i % 2 == 0) all.back()->exclusive = {0, 10'000};
        tester.start(*all.back());
    }
    for (auto const& each : all) {
        tester.finish(*each);
        tester.equal(each->status(), Status::ok, "status");
    }
    Buffer model = pattern(10);
    write_model(model, pieces_of(memory, 10, 1));
    tester.holds(model);
}

inline void idle_files_end(Subject& subject) {
    Buffer const content = pattern(5000);
    Tester tester(subject, content);
    for (int i = 0; i < 3; ++i) tester.reopen(AccessMode::both);  // Never used.
    Buffer back(5000);
    ListTransfer read(Direction::read, {{0, back.data(), 5000}});
    tester.transfer(read);
    tester.reopen(AccessMode::both);  // Used.
    tester.is(back == content, "the file's bytes are read");
}

inline void preallocated(Subject& subject) {
    Buffer model = pattern(5000);
    Tester tester(subject, model);
    tester.equal(tester.file().preallocate(100'001).status, Status::ok, "status");
    model.resize(100'001);
    tester.holds(model);
    tester.equal(tester.file().preallocate(50'000).status, Status::ok, "status");
    tester.holds(model);  // Never shorter.
    tester.equal(tester.file().preallocate(0).status, Status::ok, "status");
}

/// Much address space over little memory: the same pages again and again.
class AliasedMemory {
public:
    explicit AliasedMemory(std::size_t bytes) : bytes_(bytes) {
        constexpr std::size_t part = 16 << 20;
        int const fd = memfd_create("storage-test", MFD_CLOEXEC);
        bool made = ftruncate(fd, part) == 0;
        at_ = static_cast<std::byte*>(
            mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
        for (std::size_t done = 0; made && done < bytes; done += part) {
            made = mmap(at_ + done, std::min(part, bytes - done), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED;
        }
        close(fd);
        if (!made) std::abort();
    }
    ~AliasedMemory() { munmap(at_, bytes_); }
    AliasedMemory(AliasedMemory const&) = delete;
    AliasedMemory& operator=(AliasedMemory const&) = delete;
    [[nodiscard]] std::byte* data() const noexcept { return at_; }

private:
    std::size_t bytes_;
    std::byte* at_ = nullptr;
};

/// One segment longer than any system call transfers, from a file of holes.
inline void more_than_two_gibibytes(Subject& subject) {
    if (testing::has_thread_sanitizer) return;  // It would note every byte.
    constexpr Bytes length = (Bytes{1} << 31) + 8192;
    Tester tester(subject);
    tester.is(truncate(tester.path().c_str(), length + 100) == 0, "a file of holes");
    std::byte last{0x77};
    tester.write({{length - 1, &last, 1}});
    AliasedMemory const memory(length);
    std::byte found{};  // Apart: the parts of the other memory are one, and are read in any order.
    ListTransfer read(Direction::read, {{0, memory.data(), length - 1}, {length - 1, &found, 1}});
    tester.transfer(read);
    tester.equal(read.status(), Status::ok, "status");
    tester.equal(read.bytes, length, "bytes read");
    tester.is(found == last, "the last byte is read");
}

inline std::vector<Case> const& cases() {
    static std::vector<Case> const all{
        {"many_segments", many_segments},
        {"one_byte_pieces", one_byte_pieces},
        {"misaligned", misaligned},
        {"across_the_end", across_the_end},
        {"behind_the_end", behind_the_end},
        {"missing_file", missing_file},
        {"forbidden_directions", forbidden_directions},
        {"many_at_once", many_at_once},
        {"several_handles", several_handles},
        {"the_callers_thread_may_end", the_callers_thread_may_end},
        {"in_the_calling_thread", in_the_calling_thread},
        {"exclusive", exclusive},
        {"idle_files_end", idle_files_end},
        {"preallocated", preallocated},
        {"more_than_two_gibibytes", more_than_two_gibibytes},
    };
    return all;
}

}  // namespace sluice::conformance
