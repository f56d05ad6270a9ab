// An UnfinishedMark tells other processes which bytes of a file this one has still to write though
// the program's call has returned. The system's table of locks keeps the marks: a mark is a read
// lock of the range, which any number of processes may hold. So marks belong to the file, whatever
// its name, and they are gone when their process is.
#pragma once
#include "base/extent.hpp"
#include "system/descriptor.hpp"

#include <mutex>

namespace sluice {

/// Any thread may call it.
class UnfinishedMark {
public:
    /// `fd` is of the file, and stays open as long as this lives. Opens the file once more, since
    /// locks belong to an open file and not to a descriptor.
    explicit UnfinishedMark(int fd) noexcept : fd_(fd) {}

    /// False where the system or the file system has no such locks.
    [[nodiscard]] bool hold(Span range) noexcept;
    /// The same range again.
    void release(Span range) noexcept;
    /// Whether another process, or another handle of this one, holds a mark in the range. Where
    /// there are no locks nobody does.
    [[nodiscard]] bool is_held_by_others(Span range) noexcept;

private:
    bool open() noexcept;

    int fd_;
    std::mutex mutex_;  ///< Guards the opening.
    Descriptor own_;
};

}  // namespace sluice
