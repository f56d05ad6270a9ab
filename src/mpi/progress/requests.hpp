// The request of a nonblocking operation is a generalized request, which the MPI itself made. It is
// completed inside intercepted calls only, in the program's thread, so no thread level is needed.
// Where the program waits for the library's requests alone, the MPI is not told at all, and the
// request serves another operation later.
#pragma once
#include "mpi/errors.hpp"
#include "mpi/file/access.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace sluice {

/// What a request stands for: an access to a file, or a collective between memories.
class Started {
public:
    Started() = default;
    virtual ~Started() = default;
    Started(Started const&) = delete;
    Started& operator=(Started const&) = delete;

    [[nodiscard]] virtual bool complete() const noexcept = 0;
    /// Until it is complete; the calling thread moves it on.
    virtual void wait() const = 0;
    /// Lets the MPI move on what it was given, while a caller waits for this and for others.
    virtual void poke() const = 0;
    /// Whose statistics count the time that callers wait; null: nobody's.
    [[nodiscard]] virtual File* file() const noexcept { return nullptr; }

    // Once it is complete, by a thread of the program:
    virtual void finish() {}                        ///< May be called again.
    [[nodiscard]] virtual Bytes bytes() const = 0;  ///< For the status.
    /// Calls the error handler that is due. Returns the error class.
    virtual int raise() const = 0;
};

/// One request of ours. The MPI has a pointer to it until free_fn.
struct Pending {
    std::unique_ptr<Started> what;  ///< Null: it stands for nothing now.
    MPI_Request request = MPI_REQUEST_NULL;
    bool told_mpi = false;  ///< PMPI_Grequest_complete was called.
};

/// An access of a request.
class StartedAccess final : public Started {
public:
    /// `begin()` returns the Access. It begins when the memory for all of this is there.
    template <class Begin> explicit StartedAccess(Begin&& begin) : access_(begin()) {}

    [[nodiscard]] bool complete() const noexcept override { return access_.complete(); }
    void wait() const override { access_.wait(); }
    void poke() const override { access_.file->team->poke(); }
    [[nodiscard]] File* file() const noexcept override { return access_.file.get(); }
    void finish() override { access_.finish(); }
    [[nodiscard]] Bytes bytes() const override { return access_.bytes(); }
    int raise() const override { return sluice::raise(access_.file->handle, access_.status()); }
    [[nodiscard]] Status status() const noexcept { return access_.status(); }

private:
    Access access_;
};

/// A request that is made before its operation begins, so that what has begun can be handed over
/// for sure. One that comes to stand for nothing serves another operation.
class NewRequest {
public:
    NewRequest();
    ~NewRequest();
    NewRequest(NewRequest const&) = delete;
    NewRequest& operator=(NewRequest const&) = delete;

    /// Once. The program gets the handle.
    [[nodiscard]] MPI_Request stand_for(std::unique_ptr<Started> what) noexcept;

private:
    Pending* pending_;
};

inline std::atomic<int> live_requests{0};

/// True when there is any request of ours, for the price of one load.
[[nodiscard]] inline bool any_requests() noexcept {
    return live_requests.load(std::memory_order_relaxed) > 0;
}

/// Ours, or null. It is gone when the MPI frees it: for that, hold it.
[[nodiscard]] Pending* find_request(MPI_Request request);

/// One of an array, there until it is let go, also when the MPI frees it.
struct Held {
    int index;
    std::shared_ptr<Pending> pending;
};
/// Those of ours, by index.
[[nodiscard]] std::vector<Held> hold_requests(int count, MPI_Request const* all);

/// Tells the MPI if the operation is complete and it does not know yet; true when it is complete.
bool settle(Pending& pending);

/// In place of the MPI, which was not told: one that is complete is gone for the program.
void conclude(Pending& pending, MPI_Request& request, MPI_Status* status);

/// After the MPI, or conclude(), has completed the request: raises the error handler. Returns the
/// error class.
int retire(Pending& pending);

/// The program freed the request, which is held: it ends by itself.
void abandon(Pending& pending);

/// What no request stands for ends by itself, too.
void abandon(std::unique_ptr<Started> what);

/// Frees what was abandoned and is complete; `all`: waits for it.
void reap(bool all);

/// Before MPI goes away: frees what is spare.
void free_spares();

}  // namespace sluice
