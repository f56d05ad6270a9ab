// What a request stands for. Requests and progress know neither files nor collectives: each of
// these derives from Started what it begins.
#pragma once
#include "base/extent.hpp"

namespace sluice {

/// Counts the time that a program is blocked in calls.
class WaitAccount {
public:
    virtual void blocked(double seconds) = 0;

protected:
    WaitAccount() = default;
    WaitAccount(WaitAccount const&) = default;
    WaitAccount& operator=(WaitAccount const&) = default;
    ~WaitAccount() = default;
};

/// An operation that has begun: an access to a file, or a collective between memories.
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
    /// Where the time that callers wait is counted; null: nowhere.
    [[nodiscard]] virtual WaitAccount* account() const noexcept { return nullptr; }

    // Once it is complete, by a thread of the program:
    virtual void finish() {}                        ///< May be called again.
    [[nodiscard]] virtual Bytes bytes() const = 0;  ///< For the status.
    /// Calls the error handler that is due. Returns the error class.
    virtual int raise() const = 0;
};

}  // namespace sluice
