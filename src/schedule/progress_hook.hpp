// A ProgressHook is what a driving thread moves on: the operation queue of a file, or the
// collectives of a communicator. An EventSource moves on what several of them share.
#pragma once
#include "events/event.hpp"

#include <string>

namespace sluice {

class ProgressHook {
public:
    ProgressHook() = default;
    virtual ~ProgressHook() = default;
    ProgressHook(ProgressHook const&) = delete;
    ProgressHook& operator=(ProgressHook const&) = delete;

    /// Moves everything on as far as possible without waiting; true when anything moved.
    virtual bool progress() = 0;
    [[nodiscard]] virtual bool idle() const noexcept = 0;
    /// What it waits for that rings no doorbell: while there is any, it has to look again soon.
    [[nodiscard]] virtual int due() const noexcept = 0;
    /// As that of a Network.
    [[nodiscard]] virtual bool must_look_again() noexcept { return false; }
    /// Whether it waits for a device or a network, which works while the program computes. Then its
    /// progress is worth a core that computes; copies between memories gain nothing by taking it.
    [[nodiscard]] virtual bool waits_for_devices() const noexcept { return true; }
    /// What the first operation waits for, for people; empty when idle.
    [[nodiscard]] virtual std::string describe() const = 0;
    /// The same for a trace: sets `detail` and what else is known of the wait.
    virtual void describe(TraceEvent&) const {}
};

/// A network that tells by a descriptor when something came.
class EventSource {
public:
    virtual ~EventSource() = default;
    /// Whether anything is under way, so that it must be moved on.
    [[nodiscard]] virtual bool is_busy() const noexcept = 0;
    /// True when anything moved. Does not wait.
    virtual bool progress() = 0;
    /// Whether something that peers may wait for has not gone, or has not for certain, though all
    /// that was started here may be complete.
    [[nodiscard]] virtual bool has_unsent() const noexcept = 0;
    /// It polls readable when progress() has something to do; -1: there is none, and the hooks say
    /// themselves that they must look again soon.
    [[nodiscard]] virtual int descriptor() const noexcept = 0;
    /// Asked before a sleep on the descriptor: false where progress() has something to do at once.
    virtual bool may_sleep() = 0;
    /// Whether anything waits for room. Not every network tells when there is some, so sleeps must
    /// be short; but a peer that computes gives none for long, so it is no reason to stay awake.
    [[nodiscard]] virtual bool waits_for_room() const noexcept = 0;
};

}  // namespace sluice
