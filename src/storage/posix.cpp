// How transfers are run. See posix.hpp.
#include "storage/posix.hpp"

#include "storage/divided_transfer.hpp"
#include "storage/range_lock.hpp"
#include "system/errno_status.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr Bytes direct_read_bytes_in_memory = 8 * 1024;

/// The errno, or 0.
int allocate(int fd, Bytes bytes) noexcept {
    while (fallocate(fd, 0, 0, bytes) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

/// EPERM: also what a container says to calls that it forbids.
bool is_missing(int error) noexcept {
    return error == EOPNOTSUPP || error == ENOSYS || error == EPERM;
}

/// Never touches what is there, and never makes the file shorter. The errno, or 0.
int fill_behind_end(int fd, Bytes bytes) noexcept {
    constexpr Bytes block_bytes = 4096;
    struct stat about{};
    if (fstat(fd, &about) != 0) return errno;
    Patience patience;
    for (Offset at = about.st_size; at < bytes;) {
        Offset const end = std::min(at / block_bytes * block_bytes + block_bytes, bytes);
        ssize_t const written = pwrite(fd, "", 1, end - 1);
        long const result = written < 0 ? -errno : written;
        if (written > 0)
            at = end;
        else if (!patience.again(result))
            return result == 0 ? EIO : static_cast<int>(-result);
        if (written > 0) patience = {};
    }
    return 0;
}

/// Short pieces go into a mapping where that pays and the system lets them.
void write_mappable(Segments& segments, Transfer& transfer, MappedPieces& mapped_pieces) {
    while (mapped_pieces.is_possible()) {
        auto const pieces = segments.mappable();
        if (pieces.empty() || !mapped_pieces.write(pieces)) return;
        for (Segment const& piece : pieces) transfer.bytes += piece.length;
        segments.drop_mappable();
    }
}

template <typename Call>
void ask_for_all(Transfer& transfer, Route const& route, Call const& call) {
    Batch batch;
    bool const maps = route.mapped_pieces && transfer.direction == Direction::write;
    do {
        Segments segments(transfer, bytes_at_once, route.unit());
        while (!transfer.error) {
            if (maps) write_mappable(segments, transfer, *route.mapped_pieces);
            if (!segments.fill(batch)) break;
            while (batch.ask(route, transfer)) batch.take(call(batch), transfer);
        }
    } while (transfer.next_part());
}

}  // namespace

void transfer_all(Transfer& transfer, TransferCall const& call) {
    ask_for_all(transfer, {}, [&](Batch const& batch) -> long {
        long const result =
            call(transfer.direction, batch.vectors(), batch.count(), batch.offset());
        return result < 0 ? -errno : result;
    });
}

void transfer_all(Transfer& transfer, Route const& route) {
    ask_for_all(transfer, route,
                [&](Batch const& batch) { return make_request(batch, transfer.direction); });
}

PosixFile::PosixFile(OpenedFile file, AccessMode mode, PosixWay way, std::function<void()> finished)
    : way_(way),
      mode_(mode),
      finished_(std::move(finished)),
      descriptor_(std::move(file.descriptor)),
      opened_(file.error) {
    int const fd = descriptor_.get();
    route_.fd = fd;
    route_.faults = way.faults;
    route_.tracer = way.tracer;
    route_.traced_file = way.traced_file;
    if (fd < 0) return;
    if (way_.page_cache == PageCache::direct_io) {
        direct_io_ = DirectIo::open(fd, mode, way_.faults);
        route_.direct_io = direct_io_.get();
    }
}

PosixFile::PosixFile(std::string const& path, AccessMode mode, PosixWay way,
                     std::function<void()> finished)
    : PosixFile(open_file(path, mode), mode, way, std::move(finished)) {}

PosixFile::~PosixFile() { (void)PosixFile::release(); }

void PosixFile::allow_mapping() {
    bool const may = descriptor_.get() >= 0 && !direct_io_ && !way_.faults;
    if (may) route_.mapped_pieces = &mapped_pieces_.emplace(descriptor_.get());
}

Bytes PosixFile::room() const {
    struct statfs found{};
    if (fstatfs(route_.fd, &found) != 0 || found.f_blocks == 0) return endless;
    auto const blocks = static_cast<Bytes>(found.f_bavail);
    return blocks > endless / found.f_bsize ? endless : blocks * found.f_bsize;
}

Error PosixFile::release() {
    if (!opened_) opened_ = {.status = Status::bad_file, .what = "the file is closed"};
    route_.direct_io = nullptr, route_.mapped_pieces = nullptr;
    mapped_pieces_.reset();
    int const failed = descriptor_.close();  // The first close of a file tells, and no other.
    int const direct = direct_io_ ? direct_io_->close() : 0;
    direct_io_.reset();
    return system_error("close", failed ? failed : direct);
}

/// False where the transfer can only fail.
bool PosixFile::prepare(Transfer& transfer) {
    bool const reads = transfer.direction == Direction::read;
    transfer.error = opened_;
    // The descriptor may read: see open_file().
    if (reads && mode_ == AccessMode::write) transfer.fail(system_error("pread", EBADF));
    if (transfer.error) return false;
    if (transfer.direction == Direction::write) written_ = true;
    return true;
}

/// Where no device is behind it, a read of a piece costs one system call and no staging (decision
/// 0014). Elsewhere it may cost a seek, or a message and a lock of the file's servers.
Bytes PosixFile::independent_piece_bytes(Direction way) {
    bool const alone = way == Direction::read && !has_device();
    return alone ? direct_read_bytes_in_memory : Storage::independent_piece_bytes(way);
}

bool PosixFile::has_device() {
    int known = in_memory_;
    if (known < 0) in_memory_ = known = is_in_memory(route_.fd) ? 1 : 0;
    return known == 0;
}

/// Requests that wait for a device gain when several are under way. Writes into the page cache do
/// not: the system copies those of a file one after the other. Reads may name the same memory for
/// all gaps that are read along, so one thread makes their requests.
bool PosixFile::may_divide(Direction way) {
    return way == Direction::write && direct_io_ && has_device();
}

void PosixFile::run(Transfer& transfer) {
    if (!prepare(transfer)) return;
    if (!transfer.exclusive.empty()) return run_exclusive(transfer);
    transfer_all(transfer, route_);
}

void PosixFile::run_exclusive(Transfer& transfer) {
    std::lock_guard const one_at_a_time(exclusive_mutex_);
    RangeLock const lock(route_.fd, transfer.direction, transfer.exclusive);
    transfer.error = lock.error();
    if (!transfer.error) transfer_all(transfer, route_);
}

/// The file may be gone once `done` is seen.
void PosixFile::start(Transfer& transfer) {
    auto finish = [&transfer, ring = finished_] {
        transfer.done.store(true, std::memory_order_release);
        ring();
    };
    bool const exclusive = !transfer.exclusive.empty();
    bool const divides = !exclusive && !transfer.has_parts() && may_divide(transfer.direction);
    if (divides && prepare(transfer)) {
        auto const divided =
            std::make_shared<DividedTransfer>(transfer, route_, way_.pool, std::move(finish));
        return way_.pool.submit([divided] { divided->work(); });
    }
    WorkerPool& threads = exclusive ? lock_waiter_ : way_.pool;
    threads.submit([this, &transfer, finish = std::move(finish)] {
        run_transfer(transfer, [&] { run(transfer); });
        finish();
    });
}

Error PosixFile::preallocate(Bytes bytes) {
    if (opened_ || bytes == 0) return opened_;
    int error = way_.faults ? way_.faults->refusal(Faults::Ability::fallocate) : 0;
    if (error == 0) error = allocate(route_.fd, bytes);
    written_ = true;
    if (!is_missing(error)) return system_error("fallocate", error, bytes, 0);
    return system_error("pwrite behind the end of the file", fill_behind_end(route_.fd, bytes));
}

/// What failed is tried again by the next one.
Error PosixFile::sync() {
    if (opened_) return {};  // Nothing was written.
    int const failed = written_.exchange(false) ? sync_data(route_.fd) : 0;
    if (failed) written_ = true;
    return system_error("fdatasync", failed);
}

DirectIoTally PosixFile::direct_io_tally() const {
    return direct_io_ ? direct_io_->tally() : DirectIoTally{};
}

}  // namespace sluice
