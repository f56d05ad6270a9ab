// What a rank of kills_program notes for kills.py, in a file that outlives it, and the bytes that
// ranks write. kills.py knows the layout of the record by the string in it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace kills {

enum State : std::int32_t { absent, starting, running, failed, crashed };

/// Read by kills.py: "<qqqqiiiiii32s".
struct Record {
    std::int64_t started = 0, done = 0;  ///< Writes: begun, and those that said success.
    std::int64_t failed_at = 0;          ///< Nanoseconds of the system's steady clock.
    std::int64_t killed_at = 0;          ///< The same: when this rank is to end by SIGKILL.
    std::int32_t state = absent;
    std::int32_t error_class = 0;
    std::int32_t signal = 0;  ///< By which it crashed.
    std::int32_t wrong = 0;   ///< Bytes that a call which said success got wrong.
    std::int32_t rounds = 0;
    std::int32_t exit_status = -1;  ///< As waitpid tells it, where somebody waited.
    char where[32] = {};            ///< What the rank was doing last.
};
static_assert(sizeof(Record) == 88);

inline std::string record_name(std::string const& folder, int rank) {
    return folder + "/rank." + std::to_string(rank);
}

/// The record of a rank, shared with all who map it; null if it is not there.
inline Record* map_record(std::string const& folder, int rank, bool create) {
    int const fd = open(record_name(folder, rank).c_str(), O_RDWR | (create ? O_CREAT : 0), 0600);
    if (fd < 0) return nullptr;
    struct stat found{};
    bool const is_there = create ? ftruncate(fd, sizeof(Record)) == 0
                                 : fstat(fd, &found) == 0 && found.st_size == sizeof(Record);
    void* const memory =
        is_there ? mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                 : MAP_FAILED;
    close(fd);
    return memory == MAP_FAILED ? nullptr : static_cast<Record*>(memory);
}

/// Pieces of all ranks side by side, and a gap behind them into which nobody writes.
struct Part {
    int pieces, bytes, gap;
    [[nodiscard]] std::int64_t of_rank() const { return std::int64_t(pieces) * bytes; }
    [[nodiscard]] std::int64_t step(int ranks) const { return std::int64_t(ranks) * bytes + gap; }
    [[nodiscard]] std::int64_t extent(int ranks) const { return pieces * step(ranks); }
};

/// A round writes one region: each of its writes has a part of it.
constexpr Part parts[] = {{16, 500, 100}, {3, 6000, 512}, {3, 6000, 0}, {1, 30000, 777}};
constexpr int writes_a_round = 4;

inline std::int64_t region_extent(int ranks) {
    std::int64_t all = 0;
    for (Part const& part : parts) all += part.extent(ranks);
    return all;
}
inline std::int64_t region_of_rank() {
    std::int64_t all = 0;
    for (Part const& part : parts) all += part.of_rank();
    return all;
}
/// Where a part begins in what a rank writes in one round.
inline std::int64_t part_begin(int part) {
    std::int64_t begin = 0;
    for (int i = 0; i < part; ++i) begin += parts[i].of_rank();
    return begin;
}

/// No byte that is written is 0, as holes are.
inline unsigned char value(std::int64_t round, int rank, std::int64_t position) {
    return static_cast<unsigned char>(1 + (round * 67 + rank * 29 + position * 7) % 251);
}

/// Compares the file with what the ranks noted, and says on stdout what may not be: what said
/// success is there, what was begun is old (0) or new, and nothing else was touched.
class FileCheck {
public:
    FileCheck(std::vector<unsigned char> const& file, std::vector<Record const*> const& ranks)
        : file_(file),
          ranks_(ranks) {}

    int run() {
        int const count = int(ranks_.size());
        std::int64_t at = 0;
        for (std::int64_t round = 0; at < std::int64_t(file_.size()) || is_written(round);
             ++round) {
            for (int part = 0; part < writes_a_round; ++part) {
                check_part(round, part, at);
                at += parts[part].extent(count);
            }
        }
        return faults_;
    }

private:
    [[nodiscard]] bool is_written(std::int64_t round) const {
        for (Record const* rank : ranks_) {
            if (rank->done > round * writes_a_round) return true;
        }
        return false;
    }
    void check_part(std::int64_t round, int part, std::int64_t begin) {
        int const count = int(ranks_.size());
        Part const& its = parts[part];
        for (int piece = 0; piece < its.pieces; ++piece) {
            std::int64_t const at = begin + piece * its.step(count);
            for (int rank = 0; rank < count; ++rank)
                check_piece(round, part, piece, rank, at + std::int64_t(rank) * its.bytes);
            for (std::int64_t i = at + std::int64_t(count) * its.bytes; i < at + its.step(count);
                 ++i)
                if (byte(i) != 0)
                    fault("a byte that nobody writes was written", round, part, -1, i);
        }
    }
    void check_piece(std::int64_t round, int part, int piece, int rank, std::int64_t at) {
        Record const& its = *ranks_[std::size_t(rank)];
        std::int64_t const write = round * writes_a_round + part;
        std::int64_t const position = part_begin(part) + std::int64_t(piece) * parts[part].bytes;
        if (write < its.done) return check_new(round, part, rank, at, position);
        for (int i = 0; i < parts[part].bytes; ++i) {
            unsigned char const found = byte(at + i);
            bool const is_new = write < its.started && found == value(round, rank, position + i);
            if (found != 0 && !is_new)
                return fault("a write that failed or never began", round, part, rank, at + i);
        }
    }
    /// Most are right: these are compared as a whole.
    void check_new(std::int64_t round, int part, int rank, std::int64_t at, std::int64_t position) {
        auto const size = std::size_t(parts[part].bytes);
        meant_.resize(size);
        for (std::size_t i = 0; i < size; ++i)
            meant_[i] = value(round, rank, position + std::int64_t(i));
        bool const is_there = at + std::int64_t(size) <= std::int64_t(file_.size());
        if (is_there && std::memcmp(file_.data() + at, meant_.data(), size) == 0) return;
        for (std::size_t i = 0; i < size; ++i)
            if (byte(at + std::int64_t(i)) != meant_[i])
                return fault("a write said success", round, part, rank, at + std::int64_t(i));
    }
    [[nodiscard]] unsigned char byte(std::int64_t at) const {
        return at < std::int64_t(file_.size()) ? file_[std::size_t(at)] : 0;
    }
    void fault(char const* what, std::int64_t round, int part, int rank, std::int64_t at) {
        if (++faults_ > 10) return;
        std::printf("%s: round %ld, part %d, rank %d: byte %ld is %d\n", what, long(round), part,
                    rank, long(at), byte(at));
    }

    std::vector<unsigned char> const& file_;
    std::vector<Record const*> const& ranks_;
    std::vector<unsigned char> meant_;
    int faults_ = 0;
};

}  // namespace kills
