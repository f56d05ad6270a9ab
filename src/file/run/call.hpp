// A Call is what a rank brings to a collective call.
#pragma once
#include "file/plan/summary.hpp"
#include "schedule/port.hpp"

#include <functional>
#include <memory>

namespace sluice {

class Operation;

struct Call {
    char const* function = nullptr;  ///< Of MPI, for people; null: no single one.
    char const* file = "";           ///< Its name, for people; outlives the operation.
    Request request;
    UserMemory user;  ///< Must live until the operation is complete.
    /// The operation begins when this has ended, as if the call had come then: the program's work
    /// on a device, which may touch the same memory. Null: at once. Not of a call that may block.
    std::shared_ptr<DeviceWork> after;
    Hints hints;
    Status status = Status::ok;  ///< Not ok: bad arguments; the rank takes part without bytes.
    Storage* storage = nullptr;  ///< The file; outlives the operation.
    bool may_block = false;      ///< The caller waits and serves the file: run_callers_part().
    /// Bytes that earlier operations of the queue touch are left alone until those are complete,
    /// where one of the two writes. Equal on all ranks.
    bool ordered = false;
    /// Of an ordered one: a read that reaches behind the end of the file, as far as this rank
    /// knows. It waits for all earlier writes that may make the file longer.
    bool reads_beyond_end = false;
    /// Of a read: how many of those that come next this rank knows. All ranks learn the least.
    std::uint8_t foretold = 0;
    /// Kept until the operation is complete: what `user` lies in. A write that has it is one whose
    /// call returns before: its bytes are written, whatever becomes of the other ranks.
    std::shared_ptr<void> keeps;
    /// Called when all ranks have agreed on the end, before a later operation touches the same
    /// bytes: what is not in the file by then never comes. Not called where a rank was lost. By the
    /// thread that makes progress, under its lock. Null: nobody asks.
    std::function<void()> note_agreed;
    /// Told once of the first error of the system or of the MPI that this rank meets: by the thread
    /// that meets it, perhaps under the lock of progress. Null: nobody asks.
    std::function<void(Operation const&)> report_error;
    /// Brings `request.memory` where that takes long; null: it is there. Called once, by start(),
    /// in the thread that makes progress. Needs no MPI.
    std::function<std::shared_ptr<Layout const>()> find_memory;
};

}  // namespace sluice
