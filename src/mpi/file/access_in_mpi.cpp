// Who waits for an access of the MPI, and what is kept until then. See access_in_mpi.hpp.
#include "mpi/file/access_in_mpi.hpp"

#include "mpi/errors.hpp"
#include "mpi/requests/requests.hpp"

#include <unordered_map>
#include <utility>

namespace sluice {
namespace {

/// A request of the MPI's own, behind one of the library's: its completion brings back what was
/// read.
class AccessInMpi final : public Started {
public:
    /// `start()` begins it; see code().
    AccessInMpi(std::unique_ptr<StagedMemory> staged, FunctionOfMpi<MPI_Request> const& start)
        : staged_(std::move(staged)),
          code_(start(staged_->arguments(), &request_)) {}

    /// What the MPI said of it so far.
    [[nodiscard]] int code() const noexcept { return code_; }
    /// Asks the MPI, but no more once it has said so: MPICH's own requests may fail then.
    [[nodiscard]] bool complete() const noexcept override {
        if (complete_.load(std::memory_order_acquire)) return true;
        std::unique_lock const asking(mutex_, std::try_to_lock);
        if (!asking || complete_) return complete_;
        int done = 0;
        code_ = PMPI_Test(&request_, &done, &status_);
        complete_.store(done || code_ != MPI_SUCCESS, std::memory_order_release);
        return complete_;
    }
    void wait() const override {
        Progress::instance().drive({.mpi_done = [this] { return complete(); }, .mpi_often = true});
    }
    void poke() const override { static_cast<void>(complete()); }
    void finish() override {
        if (!std::exchange(finished_, true) && code_ == MPI_SUCCESS) staged_->finish(status_);
    }
    [[nodiscard]] Bytes bytes() const override { return staged_->bytes(); }
    /// What the MPI said, its handler knows already.
    int raise() const override {
        if (code_ != MPI_SUCCESS) return code_;
        return sluice::raise(staged_->arguments().handle, staged_->status());
    }

private:
    std::unique_ptr<StagedMemory> const staged_;
    mutable std::mutex mutex_;  ///< One thread asks at a time.
    mutable MPI_Request request_ = MPI_REQUEST_NULL;
    mutable MPI_Status status_{};
    mutable int code_;
    mutable std::atomic<bool> complete_{false};
    bool finished_ = false;
};

/// Split collectives that the MPI has begun with staged memory, of which a file has one at a time.
struct Begun {
    std::mutex mutex;
    std::unordered_map<MPI_File, std::unique_ptr<StagedMemory>> all;
};
Begun& begun() {
    static auto* const only = new Begun;
    return *only;
}

}  // namespace

int access_in_mpi(AccessArguments const& arguments, MPI_Status* status,
                  FunctionOfMpi<MPI_Status> const& function) {
    auto const staged = StagedMemory::of(arguments);
    AccessArguments const& its = staged ? staged->arguments() : arguments;
    return complete_or_raise(staged.get(), status,
                             [&](MPI_Status* result) { return function(its, result); });
}

int access_in_mpi(AccessArguments const& arguments, MPI_Request* request,
                  FunctionOfMpi<MPI_Request> const& function) {
    auto staged = StagedMemory::of(arguments);
    if (!staged) return function(arguments, request);
    reap(false);
    NewRequest made;
    *request = MPI_REQUEST_NULL;
    auto started = std::make_unique<AccessInMpi>(std::move(staged), function);
    if (int const code = started->code(); code != MPI_SUCCESS) return code;
    *request = made.stand_for(std::move(started));
    return MPI_SUCCESS;
}

int begin_in_mpi(AccessArguments const& arguments, std::unique_ptr<StagedMemory>& staged,
                 std::function<int(AccessArguments const&)> const& function) {
    int const code = function(staged ? staged->arguments() : arguments);
    std::lock_guard const lock(begun().mutex);
    begun().all.erase(arguments.handle);  // A program may have closed a file without an end.
    if (!staged || code != MPI_SUCCESS) return code;
    begun().all[arguments.handle] = std::move(staged);
    return code;
}

std::unique_ptr<StagedMemory> take_begun(MPI_File file) {
    std::lock_guard const lock(begun().mutex);
    auto const found = begun().all.extract(file);
    return found ? std::move(found.mapped()) : nullptr;
}

}  // namespace sluice
