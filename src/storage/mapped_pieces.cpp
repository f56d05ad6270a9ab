// The bytes are never touched by this process itself, as a store to a page that is gone, or a load
// from memory that cannot be read, would end it by a signal. The system gathers them in a file in
// memory (pwritev), and scatters them from there into the mapping (preadv): what it does not reach
// is an error of the call. See mapped_pieces.hpp.
#include "storage/mapped_pieces.hpp"

#include "system/descriptor.hpp"
#include "system/page_bytes.hpp"
#include "system/shared_memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::int64_t requests_least = 64;
constexpr Bytes step_most = 512;  ///< From request to request, on average.
constexpr std::size_t pieces_of_a_call = 1024;
constexpr Bytes call_bytes_most = Bytes{pieces_of_a_call} * mapped_piece_bytes_most;

Span span_of(std::span<Segment const> pieces) noexcept {
    return {pieces.front().file_offset, pieces.back().file_offset + pieces.back().length};
}

/// A file in memory, of this call alone while it lasts; some are kept for later calls.
class Staging {
public:
    Staging() {
        std::lock_guard const lock(kept().mutex);
        if (kept().count > 0) file_ = std::move(kept().files[--kept().count]);
    }
    ~Staging() {
        std::lock_guard const lock(kept().mutex);
        bool const is_kept = file_.get() >= 0 && kept().count < kept().files.size();
        if (is_kept) kept().files[kept().count++] = std::move(file_);
    }
    Staging(Staging const&) = delete;
    Staging& operator=(Staging const&) = delete;

    /// -1: the system has none.
    [[nodiscard]] int descriptor() {
        if (file_.get() >= 0) return file_.get();
        Descriptor made(memory_file());
        if (made.get() >= 0) file_ = out_of_the_way(std::move(made)).descriptor;
        return file_.get();
    }

private:
    struct Kept {
        std::mutex mutex;
        std::array<Descriptor, 8> files;
        std::size_t count = 0;
    };
    static Kept& kept() {
        static auto* const only = new Kept;  // Threads may outlive main().
        return *only;
    }

    Descriptor file_;
};

/// The pages of a part of a file, in memory while it lives.
class MappedPages {
public:
    MappedPages(int fd, Span span) noexcept
        : begin_(span.begin / page_bytes() * page_bytes()),
          bytes_(static_cast<std::size_t>(span.end - begin_)),
          at_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
                   static_cast<off_t>(begin_))) {}
    ~MappedPages() {
        if (is_there()) munmap(at_, bytes_);
    }
    MappedPages(MappedPages const&) = delete;
    MappedPages& operator=(MappedPages const&) = delete;

    [[nodiscard]] bool is_there() const noexcept { return at_ != MAP_FAILED; }
    [[nodiscard]] std::byte* place_of(Offset in_file) const noexcept {
        return static_cast<std::byte*>(at_) + (in_file - begin_);
    }

private:
    Offset begin_;
    std::size_t bytes_;
    void* at_;
};

template <class Call> bool moves(Bytes bytes, Call const& call) {
    ssize_t moved = 0;
    do moved = call();
    while (moved < 0 && errno == EINTR);
    return moved == bytes;
}

/// As many as one call takes.
bool copy(std::span<Segment const> pieces, int staging, MappedPages const& pages) {
    iovec memory[pieces_of_a_call], places[pieces_of_a_call];
    auto const count = static_cast<int>(pieces.size());
    Bytes bytes = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        auto const length = static_cast<std::size_t>(pieces[i].length);
        memory[i] = {pieces[i].memory, length};
        places[i] = {pages.place_of(pieces[i].file_offset), length};
        bytes += pieces[i].length;
    }
    return moves(bytes, [&] { return pwritev(staging, memory, count, 0); }) &&
           moves(bytes, [&] { return preadv(staging, places, count, 0); });
}

/// Beyond its limit of a file's size the system would end the process by a signal.
bool is_within_limit(Bytes bytes) noexcept {
    rlimit limit{};
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && static_cast<rlim_t>(bytes) <= limit.rlim_cur;
}

}  // namespace

std::int64_t requests_of(std::span<Segment const> pieces) noexcept {
    std::int64_t requests = 0;
    Offset behind = -1;
    for (Segment const& piece : pieces) {
        requests += piece.file_offset != behind;
        behind = piece.file_offset + piece.length;
    }
    return requests;
}

bool mapping_pays(std::span<Segment const> pieces) noexcept {
    std::int64_t const requests = requests_of(pieces);
    return requests >= requests_least && span_of(pieces).bytes() <= requests * step_most;
}

bool MappedPieces::is_possible() {
    std::call_once(once_, [this] {
        if (!takes_stores(fd_)) is_refused_ = true;
    });
    return !is_refused_;
}

bool MappedPieces::write(std::span<Segment const> pieces) {
    Staging staging;
    Span const span = span_of(pieces);
    if (!is_within_limit(std::max(span.end, call_bytes_most))) return false;
    if (staging.descriptor() < 0 || !reserve(span)) return false;
    MappedPages const pages(fd_, span);
    if (!pages.is_there()) {
        if (errno != ENOMEM && errno != EAGAIN) is_refused_ = true;
        return false;
    }
    Segment const last = pieces.back();
    for (pieces = pieces.first(pieces.size() - 1); !pieces.empty();) {
        auto const part = pieces.first(std::min(pieces.size(), pieces_of_a_call));
        if (!copy(part, staging.descriptor(), pages)) return false;
        pieces = pieces.subspan(part.size());
    }
    // A request, as times of a file on a tmpfs tell of no stores to a mapping.
    return moves(last.length, [&] {
        return pwrite(fd_, last.memory, static_cast<std::size_t>(last.length), last.file_offset);
    });
}

/// Pages of a hole may find no room when they are touched: a lack has to be an error before.
bool MappedPieces::reserve(Span span) noexcept {
    while (fallocate(fd_, 0, span.begin, span.bytes()) != 0) {
        if (errno == EINTR) continue;
        if (errno != ENOSPC && errno != EDQUOT && errno != ENOMEM) is_refused_ = true;
        return false;
    }
    return true;
}

}  // namespace sluice
