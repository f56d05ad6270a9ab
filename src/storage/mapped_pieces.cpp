// Pieces are gathered in memory that has a descriptor, from which preadv scatters them into the
// mapping. A page that is gone, as somebody has made the file shorter, is an error of that call; a
// store of this process to it would end the process by a signal. See mapped_pieces.hpp.
#include "storage/mapped_pieces.hpp"

#include "system/page_bytes.hpp"
#include "system/shared_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::int64_t requests_least = 64;
constexpr Bytes step_most = 512;  ///< From request to request, on average.
constexpr std::size_t pieces_of_a_call = 1024;

Span span_of(std::span<Segment const> pieces) noexcept {
    return {pieces.front().file_offset, pieces.back().file_offset + pieces.back().length};
}

/// Memory that the system reads as a file. Of a thread, as threads write at the same time.
class Staging {
public:
    /// Null where there can be none.
    static Staging const* of_this_thread() {
        static thread_local Staging const staging;
        return staging.memory_ ? &staging : nullptr;
    }
    [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
    [[nodiscard]] std::byte* data() const noexcept { return memory_->data(); }

private:
    Staging() : file_(beside_the_programs(Descriptor(open_unnamed("/dev/shm")))) {
        constexpr Span all{0, mapped_window_bytes};
        if (file_.get() < 0 || set_length(file_.get(), all.end) != 0) return;
        memory_ = Mapping::of(file_.get(), all);
        if (memory_ && !memory_->reserve(all)) memory_.reset();
    }

    Descriptor file_;
    std::optional<Mapping> memory_;
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

/// Some hundred pieces: from the memory to their places.
bool scatter(std::span<Segment const> pieces, Staging const& from, MappedPages const& to) {
    iovec places[pieces_of_a_call];
    std::size_t gathered = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        auto const length = static_cast<std::size_t>(pieces[i].length);
        std::memcpy(from.data() + gathered, pieces[i].memory, length);
        places[i] = {to.place_of(pieces[i].file_offset), length};
        gathered += length;
    }
    ssize_t moved = 0;
    do moved = preadv(from.descriptor(), places, static_cast<int>(pieces.size()), 0);
    while (moved < 0 && errno == EINTR);
    return moved == static_cast<ssize_t>(gathered);
}

/// By a request: times of a file on a tmpfs tell of no stores to a mapping.
bool write_by_request(int fd, Segment const& piece) noexcept {
    auto const length = static_cast<std::size_t>(piece.length);
    ssize_t moved = 0;
    do moved = pwrite(fd, piece.memory, length, piece.file_offset);
    while (moved < 0 && errno == EINTR);
    return moved == piece.length;
}

}  // namespace

/// Pieces that touch go in one request.
bool mapping_pays(std::span<Segment const> pieces) noexcept {
    std::int64_t requests = 0;
    Offset behind = -1;
    for (Segment const& piece : pieces) {
        requests += piece.file_offset != behind;
        behind = piece.file_offset + piece.length;
    }
    return requests >= requests_least && span_of(pieces).bytes() <= requests * step_most;
}

bool MappedPieces::write(std::span<Segment const> pieces) {
    std::call_once(once_, [this] { prepare(); });
    Staging const* const staging = is_refused_ ? nullptr : Staging::of_this_thread();
    if (!staging || !reserve(span_of(pieces))) return false;
    MappedPages const pages(reopened_.get() < 0 ? fd_ : reopened_.get(), span_of(pieces));
    if (!pages.is_there()) {
        is_refused_ = errno == EACCES || errno == ENODEV || errno == EPERM;
        return false;
    }
    Segment const last = pieces.back();
    for (pieces = pieces.first(pieces.size() - 1); !pieces.empty();) {
        auto const part = pieces.first(std::min(pieces.size(), pieces_of_a_call));
        if (!scatter(part, *staging, pages)) return false;
        pieces = pieces.subspan(part.size());
    }
    return write_by_request(fd_, last);
}

/// Pages of a hole may find no room when they are touched: a lack has to be an error before.
bool MappedPieces::reserve(Span span) noexcept {
    while (fallocate(fd_, 0, span.begin, span.bytes()) != 0) {
        if (errno == EINTR) continue;
        is_refused_ = errno == EOPNOTSUPP || errno == ENOSYS || errno == EPERM;
        return false;
    }
    return true;
}

/// Servers of file systems may see stores late, and a durable write ends on the device.
void MappedPieces::prepare() {
    auto const file = identity_of(fd_);
    bool const is_local = file && consistency_of(fd_, *file) == Consistency::posix;
    is_refused_ = !is_local || (fcntl(fd_, F_GETFL) & O_DSYNC) != 0;
    if (is_refused_ || mode_ == AccessMode::both) return;
    auto opened = open_file(name_of_descriptor(fd_), AccessMode::both);
    is_refused_ = static_cast<bool>(opened.error);
    reopened_ = std::move(opened.descriptor);
}

}  // namespace sluice
