// What every storage does with a file, whoever moves its bytes: the frame of its test, without a
// test library, so that MPI programs can use it as well. The cases are in conformance_cases.hpp and
// conformance_faults.hpp.
#pragma once
#include "list_transfer.hpp"
#include "storage/faults.hpp"
#include "storage/posix.hpp"

#include <condition_variable>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::conformance {

/// Requests that fail as told. Without orders nothing happens.
class OrderedFaults final : public Faults {
public:
    struct Orders {
        Bytes most = endless;                ///< Bytes of one request.
        int interruptions = 0;               ///< EINTR before each success.
        int fail_at = -1;                    ///< Number of the request that fails.
        long result = 0;                     ///< What it gives.
        int fail_times = 1;                  ///< So many one after the other.
        int direct_io_error = 0;             ///< Of requests past the page cache.
        bool refuse_open_direct_io = false;  ///< So that the file is never opened this way.
        bool refuse_fallocate = false;
    };
    void set(Orders const& orders) {
        std::lock_guard const lock(mutex_);
        orders_ = orders;
        requests_ = interrupted_ = direct_requests_ = 0;
    }
    [[nodiscard]] int direct_requests() {
        std::lock_guard const lock(mutex_);
        return direct_requests_;
    }

    long meet(Request const& request) override {
        std::lock_guard const lock(mutex_);
        if (request.direct_io) ++direct_requests_;
        if (request.direct_io && orders_.direct_io_error != 0) return -orders_.direct_io_error;
        if (interrupted_ < orders_.interruptions) {
            ++interrupted_;
            return -EINTR;
        }
        interrupted_ = 0;
        int const behind = requests_++ - orders_.fail_at;
        if (orders_.fail_at >= 0 && behind >= 0 && behind < orders_.fail_times)
            return orders_.result;
        return std::min(request.bytes, orders_.most);
    }
    int refusal(Ability ability) override {
        std::lock_guard const lock(mutex_);
        bool refused = orders_.refuse_open_direct_io;
        if (ability == Ability::fallocate) refused = orders_.refuse_fallocate;
        return refused ? EOPNOTSUPP : 0;
    }

private:
    std::mutex mutex_;
    Orders orders_;
    int requests_ = 0, interrupted_ = 0, direct_requests_ = 0;
};

/// The storage that is tested.
struct Subject {
    /// `finished` rings, as PosixFile's.
    std::function<std::unique_ptr<StoredFile>(std::string const& path, AccessMode mode,
                                              std::function<void()> finished)>
        open;
    std::string folder;                            ///< For files; the tester's alone.
    std::function<void(std::string const&)> fail;  ///< Told what is wrong.
    OrderedFaults* faults = nullptr;               ///< Null: none can be ordered.
};

/// Waits for transfers as a rank does: the file rings, perhaps a little after this is gone.
class Doorbell {
public:
    [[nodiscard]] std::function<void()> ringer() {
        return [shared = shared_] {
            std::lock_guard const lock(shared->mutex);
            shared->rung.notify_all();
        };
    }
    void wait_for(Transfer const& transfer) {
        std::unique_lock lock(shared_->mutex);
        shared_->rung.wait(lock, [&] { return transfer.done.load(); });
    }

private:
    struct Shared {
        std::mutex mutex;
        std::condition_variable rung;
    };
    std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

/// The bytes of a range, read past the storage that is tested.
inline Buffer content_of(std::string const& path) {
    Buffer content(static_cast<std::size_t>(std::filesystem::file_size(path)));
    int const fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    std::size_t done = 0;
    while (done < content.size()) {
        ssize_t const some =
            pread(fd, content.data() + done, content.size() - done, static_cast<off_t>(done));
        if (some <= 0) break;
        done += static_cast<std::size_t>(some);
    }
    close(fd);
    content.resize(done);
    return content;
}

inline std::string make_file(std::string const& path, Buffer const& content) {
    int const fd = open(path.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    bool const whole =
        write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size());
    close(fd);
    return whole ? path : "";
}

/// One case's file, and what is asked of it.
class Tester {
public:
    explicit Tester(Subject& subject, Buffer const& content = pattern(10))
        : subject_(subject),
          path_(make_file(subject.folder + "/file", content)) {
        is(!path_.empty(), "the folder takes files");
        reopen(AccessMode::both);
    }

    void reopen(AccessMode mode) {
        file_.reset();
        file_ = subject_.open(path_, mode, doorbell_.ringer());
    }
    void is(bool condition, std::string const& what) {
        if (!condition) subject_.fail(what + " does not hold");
    }
    template <typename A, typename B>
    void equal(A const& found, B const& expected, std::string const& what) {
        if (found == expected) return;
        subject_.fail(what + ": " + text(found) + ", expected " + text(expected));
    }

    void start(Transfer& transfer) { file_->start(transfer); }
    void finish(Transfer& transfer) { doorbell_.wait_for(transfer); }
    void transfer(Transfer& what) {
        start(what);
        finish(what);
    }
    /// Writes all, or complains.
    void write(std::vector<Segment> const& segments) {
        ListTransfer all(Direction::write, segments);
        transfer(all);
        equal(all.status(), Status::ok, "status of writing");
        equal(all.bytes, total_of(segments), "bytes written");
    }
    void holds(Buffer const& expected) {
        Buffer const found = content_of(path_);
        equal(found.size(), expected.size(), "size of the file");
        auto const common = std::min(found.size(), expected.size());
        // Byte by byte it would take most of the time of a test with the thread sanitizer. An empty
        // buffer may have no address, which memcmp does not take.
        if (common == 0 || std::memcmp(found.data(), expected.data(), common) == 0) return;
        for (std::size_t i = 0; i < common; ++i) {
            if (found[i] == expected[i]) continue;
            return subject_.fail("byte " + std::to_string(i) + " of the file is wrong");
        }
    }

    [[nodiscard]] StoredFile& file() { return *file_; }
    [[nodiscard]] std::string const& path() const { return path_; }
    [[nodiscard]] Subject& subject() { return subject_; }
    [[nodiscard]] Doorbell& doorbell() { return doorbell_; }

private:
    template <typename T> static std::string text(T const& value) {
        if constexpr (std::is_enum_v<T>)
            return std::to_string(static_cast<long long>(value));
        else
            return std::to_string(value);
    }

    Subject& subject_;
    std::string path_;
    Doorbell doorbell_;  // Outlives the file, which rings it.
    std::unique_ptr<StoredFile> file_;
};

/// Aligned memory with some bytes in front, so that any address can be tried.
class Place {
public:
    explicit Place(std::size_t bytes, std::byte value = std::byte{0xee})
        : memory_(bytes + page, value) {
        auto const at = reinterpret_cast<std::uintptr_t>(memory_.data());
        skipped_ = (page - at % page) % page;
    }
    [[nodiscard]] std::byte* data() noexcept { return memory_.data() + skipped_; }

private:
    static constexpr std::size_t page = 4096;
    Buffer memory_;
    std::size_t skipped_ = 0;
};

// ---- Anything, against a model of bytes --------------------------------------------------------

/// One piece, after the one before.
struct Piece {
    Bytes file_gap = 0, memory_gap = 0, length = 1;
};

struct Step {
    Direction direction = Direction::write;
    Offset begin = 0;
    std::vector<Piece> pieces;
};

struct Script {
    Bytes size = 0;  ///< Of the file at first.
    std::vector<Step> steps;
};

inline std::vector<Segment> segments_of(Step const& step, std::byte* memory) {
    std::vector<Segment> all;
    Offset in_file = step.begin;
    for (Piece const& piece : step.pieces) {
        in_file += piece.file_gap;
        memory += piece.memory_gap;
        all.push_back({in_file, memory, piece.length});
        in_file += piece.length;
        memory += piece.length;
    }
    return all;
}

/// What a read of the model gives: its bytes, and the first wanted byte that is not there.
struct Expected {
    Bytes bytes = 0;
    Offset end_of_file = endless;
};

inline Expected read_model(Buffer const& model, std::vector<Segment> const& segments) {
    Expected expected;
    auto const size = static_cast<Offset>(model.size());
    for (Segment const& s : segments) {
        Bytes const there = std::clamp<Bytes>(size - s.file_offset, 0, s.length);
        if (there > 0) {
            std::memcpy(s.memory, model.data() + s.file_offset, static_cast<std::size_t>(there));
        }
        expected.bytes += there;
        if (there < s.length) {
            expected.end_of_file = std::min(expected.end_of_file, s.file_offset + there);
        }
    }
    return expected;
}

inline void write_model(Buffer& model, std::vector<Segment> const& segments) {
    for (Segment const& s : segments) {
        auto const end = static_cast<std::size_t>(s.file_offset + s.length);
        if (model.size() < end) model.resize(end);
        std::memcpy(model.data() + s.file_offset, s.memory, static_cast<std::size_t>(s.length));
    }
}

inline void run_step(Tester& tester, Step const& step, Buffer& model, int number) {
    Bytes memory_bytes = 0;
    for (Piece const& piece : step.pieces) memory_bytes += piece.memory_gap + piece.length;
    auto const room = static_cast<std::size_t>(memory_bytes);
    Place place(room), model_place(room);
    auto const own = segments_of(step, place.data());
    auto const in_model = segments_of(step, model_place.data());
    if (step.direction == Direction::write) {
        auto const content = pattern(room, 3 + number);
        std::memcpy(place.data(), content.data(), room);
        std::memcpy(model_place.data(), content.data(), room);
        tester.write(own);
        write_model(model, in_model);
    } else {
        ListTransfer read(Direction::read, own);
        tester.transfer(read);
        auto const expected = read_model(model, in_model);
        tester.equal(read.status(), Status::ok, "status of reading");
        tester.equal(read.bytes, expected.bytes, "bytes read");
        tester.equal(read.end_of_file, expected.end_of_file, "end of the file");
    }
    tester.is(std::memcmp(place.data(), model_place.data(), room) == 0, "memory as in the model");
}

/// Existing bytes, holes and new bytes: each step does what it does to a list of bytes.
inline void run_script(Subject& subject, Script const& script) {
    Buffer model = pattern(static_cast<std::size_t>(script.size));
    Tester tester(subject, model);
    int number = 0;
    for (Step const& step : script.steps) run_step(tester, step, model, number++);
    tester.equal(tester.file().sync().status, Status::ok, "status of the sync");
    tester.holds(model);
}

}  // namespace sluice::conformance
