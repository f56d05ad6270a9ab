// aio_read, aio_write and aio_suspend. See aio.hpp.
#include "ports/aio.hpp"

#include <aio.h>
#include <array>
#include <cerrno>
#include <unistd.h>

namespace sluice {
namespace {

/// One of the requests under way, and the batch that it is of.
struct Part {
    Batch batch;
    aiocb block{};
    bool under_way = false;
};

class Flight {
public:
    Flight(Transfer& transfer, Route const& route)
        : transfer_(transfer),
          route_(route),
          segments_(transfer, batch_bytes_under_way, route.unit()) {
        route_.one_range = true;
    }

    void run() {
        for (Part& part : parts_) go_on(part);
        while (wait()) {
            for (Part& part : parts_) collect(part);
        }
    }

private:
    /// Asks until a request is under way, or nothing is left.
    void go_on(Part& part) {
        for (;;) {
            while (part.batch.ask(route_, transfer_)) {
                if (begin(part)) return;
                // The system has no room for it now.
                part.batch.take(make_request(part.batch, transfer_.direction), transfer_);
            }
            if (transfer_.status != Status::ok || !segments_.fill(part.batch)) return;
        }
    }

    bool begin(Part& part) {
        if (route_.faults && route_.faults->refusal(Faults::Ability::aio) != 0) return false;
        iovec const& range = part.batch.vectors()[0];
        part.block = {};
        part.block.aio_fildes = part.batch.fd();
        part.block.aio_offset = part.batch.offset();
        part.block.aio_buf = range.iov_base;
        part.block.aio_nbytes = range.iov_len;
        part.block.aio_sigevent.sigev_notify = SIGEV_NONE;
        bool const write = transfer_.direction == Direction::write;
        part.under_way = (write ? aio_write(&part.block) : aio_read(&part.block)) == 0;
        return part.under_way;
    }

    /// Until one has ended; false where none is under way.
    bool wait() {
        std::array<aiocb const*, batches_under_way> blocks{};
        bool any = false;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            if (!parts_[i].under_way) continue;
            blocks[i] = &parts_[i].block;
            any = true;
        }
        // Whatever it says, what has ended is looked at.
        if (any) aio_suspend(blocks.data(), static_cast<int>(blocks.size()), nullptr);
        return any;
    }

    void collect(Part& part) {
        if (!part.under_way) return;
        int const error = aio_error(&part.block);
        if (error == EINPROGRESS) return;
        part.under_way = false;
        ssize_t const result = aio_return(&part.block);
        part.batch.take(error == 0 ? result : -error, transfer_);
        go_on(part);
    }

    Transfer& transfer_;
    Route route_;
    Segments segments_;
    std::array<Part, batches_under_way> parts_;
};

}  // namespace

bool has_aio() noexcept { return sysconf(_SC_ASYNCHRONOUS_IO) > 0; }

void transfer_by_aio(Transfer& transfer, Route const& route) { Flight(transfer, route).run(); }

}  // namespace sluice
