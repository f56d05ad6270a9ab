// How threads share the batches of a transfer. See divided_transfer.hpp.
#include "storage/divided_transfer.hpp"

#include <algorithm>

namespace sluice {

/// The results of one thread's batch, until they are added to the transfer's.
class DividedTransfer::Part final : public Transfer {
public:
    Part(Direction way, std::int64_t its_operation) : Transfer(way) { operation = its_operation; }
    std::optional<Segment> next() override { return std::nullopt; }
};

DividedTransfer::DividedTransfer(Transfer& transfer, Route const& route, WorkerPool& pool,
                                 std::function<void()> finish)
    : route_(route),
      pool_(pool),
      direction_(transfer.direction),
      operation_(transfer.operation),
      transfer_(transfer),
      segments_(transfer, bytes_at_once, route.unit()),
      finish_(std::move(finish)) {}

void DividedTransfer::work() {
    Batch batch;
    while (take(batch)) {
        Part part(direction_, operation_);
        run_transfer(part, [&] {
            while (batch.ask(route_, part)) batch.take(make_request(batch, direction_), part);
        });
        give_back(part);
    }
}

/// False where no batch is left; the last thread that hears this finishes the transfer.
bool DividedTransfer::take(Batch& batch) {
    std::lock_guard const lock(mutex_);
    if (ended_) return false;
    bool found = false;
    run_transfer(transfer_, [&] { found = !transfer_.error && segments_.fill(batch); });
    if (found) {
        ++at_work_;
        if (segments_.has_more() && !invited_) invite();
    } else if (at_work_ == 0) {
        ended_ = true;
        finish_();
    }
    return found;
}

void DividedTransfer::give_back(Part const& part) {
    std::lock_guard const lock(mutex_);
    --at_work_;
    transfer_.fail(part.error);
    transfer_.bytes += part.bytes;
    transfer_.end_of_file = std::min(transfer_.end_of_file, part.end_of_file);
}

/// One thread at a time, which invites the next. Where there is no memory for that, the threads
/// that there are do it.
void DividedTransfer::invite() {
    auto const join = [self = shared_from_this()] {
        {
            std::lock_guard const lock(self->mutex_);
            self->invited_ = false;
        }
        self->work();
    };
    try {
        invited_ = pool_.offer(join);
    } catch (std::bad_alloc const&) {
        invited_ = false;
    }
}

}  // namespace sluice
