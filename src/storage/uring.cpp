// The loop of the thread that owns the ring. See uring.hpp.
#include "storage/uring.hpp"

#include "system/library_thread.hpp"

#include <array>
#include <future>
#include <mutex>
#include <vector>

#ifdef SLUICE_HAVE_URING

#include <liburing.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr unsigned ring_entries = 64;

/// A transfer under way.
struct Flight {
    Flight(Route const& its_route, Transfer& its_transfer, std::function<void()> when_finished)
        : route(its_route),
          transfer(its_transfer),
          finished(std::move(when_finished)),
          segments(its_transfer, batch_bytes_under_way, its_route.unit()) {}

    struct Part {
        Flight* flight = nullptr;
        Batch batch;
    };
    Route route;
    Transfer& transfer;
    std::function<void()> finished;
    Segments segments;
    std::array<Part, batches_under_way> parts;
    std::size_t under_way = 0;
};

/// Linux 5.1 had rings, but requests without vectors, and a way to ask for them, came with 5.6.
bool knows_requests(io_uring& ring) noexcept {
    io_uring_probe* const probe = io_uring_get_probe_ring(&ring);
    if (!probe) return false;
    bool all = true;
    for (int const request : {IORING_OP_READ, IORING_OP_WRITE, IORING_OP_READV, IORING_OP_WRITEV})
        all = all && io_uring_opcode_supported(probe, request) != 0;
    io_uring_free_probe(probe);
    return all;
}

/// Its ring belongs to the thread that made it.
class Ring {
public:
    explicit Ring(int workers) noexcept {
        // Completions are looked at when the thread waits, and interrupt nobody. Older kernels
        // know neither flag.
        unsigned const flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
        works_ = io_uring_queue_init(ring_entries, &ring_, flags) == 0 ||
                 io_uring_queue_init(ring_entries, &ring_, 0) == 0;
        if (works_ && !knows_requests(ring_)) {
            io_uring_queue_exit(&ring_);
            works_ = false;
        }
        if (!works_ || workers <= 0) return;
        unsigned limits[2]{static_cast<unsigned>(workers), 0};  // Files and others; 0: as it is.
        io_uring_register_iowq_max_workers(&ring_, limits);
        keep_workers_with_this_thread();
    }
    ~Ring() {
        if (works_) io_uring_queue_exit(&ring_);
    }
    Ring(Ring const&) = delete;
    Ring& operator=(Ring const&) = delete;

    [[nodiscard]] bool works() const noexcept { return works_; }

    io_uring_sqe* entry() noexcept {
        io_uring_sqe* free = io_uring_get_sqe(&ring_);
        for (; !free; free = io_uring_get_sqe(&ring_)) io_uring_submit(&ring_);
        return free;
    }

    /// Submits, waits, and calls `visit(data, result)` for each completion.
    template <typename Visit> void wait(Visit&& visit) {
        io_uring_submit_and_wait(&ring_, 1);  // Whatever it says, what has completed is looked at.
        io_uring_cqe* completion = nullptr;
        while (io_uring_peek_cqe(&ring_, &completion) == 0 && completion) {
            void* const data = io_uring_cqe_get_data(completion);
            int const result = completion->res;
            io_uring_cqe_seen(&ring_, completion);
            visit(data, result);
        }
    }

private:
    /// The kernel's threads may run wherever the process may, unless told.
    void keep_workers_with_this_thread() noexcept {
        Cores cores = thread_cores();
        auto& words = cores.words();
        if (cores.empty()) return;
        io_uring_register_iowq_aff(&ring_, sizeof words,
                                   reinterpret_cast<cpu_set_t*>(words.data()));
    }

    io_uring ring_{};
    bool works_ = false;
};

}  // namespace

class Uring::Loop {
public:
    explicit Loop(int workers) : wake_fd_(eventfd(0, EFD_CLOEXEC)) {
        auto const started = std::make_shared<std::promise<bool>>();
        auto works = started->get_future();
        thread_ = library_thread_if_any("sluice-storage", [this, workers, started] {
            Ring ring(workers);
            bool const usable = ring.works() && wake_fd_ >= 0;
            started->set_value(usable);
            if (usable) run(ring);
        });
        works_ = thread_.joinable() && works.get();
    }
    ~Loop() {
        {
            std::lock_guard const lock(mutex_);
            stopping_ = true;
        }
        eventfd_write(wake_fd_, 1);
        thread_.join();
        if (wake_fd_ >= 0) close(wake_fd_);
    }
    Loop(Loop const&) = delete;
    Loop& operator=(Loop const&) = delete;

    [[nodiscard]] bool works() const noexcept { return works_; }

    [[nodiscard]] double processor_seconds() noexcept { return sluice::processor_seconds(thread_); }

    void start(Route const& route, Transfer& transfer, std::function<void()> finished) {
        bool first = false;
        {
            std::lock_guard const lock(mutex_);
            first = incoming_.empty();
            incoming_.push_back({route, &transfer, std::move(finished)});
        }
        if (first) eventfd_write(wake_fd_, 1);
    }

private:
    struct Incoming {
        Route route;
        Transfer* transfer;
        std::function<void()> finished;
    };

    void run(Ring& ring) {
        ask_for_wake(ring);
        while (take_incoming(ring)) {
            ring.wait([&](void* data, int result) {
                if (data)
                    completed(ring, *static_cast<Flight::Part*>(data), result);
                else
                    ask_for_wake(ring);
            });
        }
    }

    void ask_for_wake(Ring& ring) {
        io_uring_sqe* const entry = ring.entry();
        io_uring_prep_read(entry, wake_fd_, &wakes_, sizeof wakes_, 0);
        io_uring_sqe_set_data(entry, nullptr);
    }

    /// False when the loop is to end.
    bool take_incoming(Ring& ring) {
        std::vector<Incoming> taken;
        {
            std::lock_guard const lock(mutex_);
            taken.swap(incoming_);
            if (stopping_ && taken.empty() && flights_ == 0) return false;
        }
        for (Incoming& next : taken) {
            auto* const flight = new Flight(next.route, *next.transfer, std::move(next.finished));
            ++flights_;
            for (Flight::Part& part : flight->parts) {
                part.flight = flight;
                if (!go_on(ring, part)) break;
                ++flight->under_way;
            }
            end_if_done(flight);
        }
        return true;
    }

    /// Asks for what is left of the part's batch, or for the next one. False where the transfer has
    /// nothing more to ask for.
    bool go_on(Ring& ring, Flight::Part& part) {
        Flight& flight = *part.flight;
        while (!part.batch.ask(flight.route, flight.transfer)) {
            bool const more = !flight.transfer.error && flight.segments.fill(part.batch);
            if (!more) return false;
        }
        make_request(ring, part, flight.transfer.direction == Direction::write);
        return true;
    }

    void make_request(Ring& ring, Flight::Part& part, bool write) {
        Batch const& batch = part.batch;
        int const fd = batch.fd();
        auto const at = static_cast<std::uint64_t>(batch.offset());
        auto const count = static_cast<unsigned>(batch.count());
        iovec const& first = batch.vectors()[0];
        auto const length = static_cast<unsigned>(first.iov_len);
        io_uring_sqe* const entry = ring.entry();
        if (count == 1 && write)
            io_uring_prep_write(entry, fd, first.iov_base, length, at);
        else if (count == 1)
            io_uring_prep_read(entry, fd, first.iov_base, length, at);
        else if (write)
            io_uring_prep_writev(entry, fd, batch.vectors(), count, at);
        else
            io_uring_prep_readv(entry, fd, batch.vectors(), count, at);
        io_uring_sqe_set_data(entry, &part);
    }

    void completed(Ring& ring, Flight::Part& part, int result) {
        part.batch.take(result, part.flight->transfer);
        if (go_on(ring, part)) return;
        --part.flight->under_way;
        end_if_done(part.flight);
    }

    void end_if_done(Flight* flight) {
        if (flight->under_way > 0) return;
        auto const finished = std::move(flight->finished);
        delete flight;
        --flights_;
        finished();
    }

    int wake_fd_;
    bool works_ = false;
    std::mutex mutex_;  ///< Guards the two below.
    std::vector<Incoming> incoming_;
    bool stopping_ = false;
    std::int64_t flights_ = 0;  ///< The rest is the thread's alone.
    eventfd_t wakes_ = 0;
    std::thread thread_;
};

bool Uring::available() { return Loop(0).works(); }

std::unique_ptr<Uring> Uring::make(int workers) {
    auto loop = std::make_unique<Loop>(workers);
    if (!loop->works()) return nullptr;
    return std::unique_ptr<Uring>(new Uring(std::move(loop)));
}

void Uring::start(Route const& route, Transfer& transfer, std::function<void()> finished) {
    Route by_ring = route;
    by_ring.uring = true;
    loop_->start(by_ring, transfer, std::move(finished));
}

double Uring::processor_seconds() noexcept { return loop_->processor_seconds(); }

}  // namespace sluice

#else

namespace sluice {

class Uring::Loop {};
bool Uring::available() { return false; }
std::unique_ptr<Uring> Uring::make(int) { return nullptr; }
void Uring::start(Route const&, Transfer&, std::function<void()>) {}
double Uring::processor_seconds() noexcept { return 0; }

}  // namespace sluice

#endif

namespace sluice {

Uring::Uring(std::unique_ptr<Loop> loop) : loop_(std::move(loop)) {}
Uring::~Uring() = default;

}  // namespace sluice
