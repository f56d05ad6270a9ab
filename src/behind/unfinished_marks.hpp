// Marks tell other processes which bytes of a file this one has still to write though the program's
// call has returned. The system's table of locks keeps them: a mark is a read lock of an open file
// description, which any number of processes may hold, and it is gone when nobody has the
// description any more.
//
// The locks lie in a file of this user's that all his processes of the node have, not in the file
// that is written: there a lock of the program, or of anybody who may read the file, could not be
// told from a mark. Ranks of other nodes see only locks of the file itself; for them marks lie
// there.
#pragma once
#include "base/extent.hpp"
#include "base/span_counts.hpp"
#include "system/descriptor.hpp"

#include <limits>
#include <memory>
#include <mutex>
#include <string>

namespace sluice {

/// An open file description whose locks are marks. Any thread may call it.
class MarkTable {
public:
    /// The marks of one open file, seen by all nodes. `fd` stays open as long as this lives.
    static std::shared_ptr<MarkTable> of_file(int fd);
    /// The marks of a process, seen by this user's processes of the node; null where the system
    /// refuses, or where another user has a file of the name. The last one that has it removes the
    /// file, which has no bytes.
    static std::shared_ptr<MarkTable> of_node(std::string const& folder = "/dev/shm");
    ~MarkTable();
    MarkTable(MarkTable const&) = delete;
    MarkTable& operator=(MarkTable const&) = delete;

    /// False where the system or the file system has no such locks. Ranges may overlap, and be the
    /// same.
    [[nodiscard]] bool hold(Span range) noexcept;
    /// A range that was held, once.
    void release(Span range) noexcept;
    /// Whether another description has a lock in the range. Where there are no locks none has.
    [[nodiscard]] bool is_held_by_others(Span range) noexcept;
    /// For another process, which keeps the marks when this one ends; -1: there is none yet.
    [[nodiscard]] int descriptor() const noexcept;

    /// Another process was handed the descriptor: releases all marks, and removes the file of the
    /// node's table where nobody else has it.
    static void end(int descriptor, bool of_node, std::string const& folder = "/dev/shm") noexcept;

    /// Of the node's: where the marks of a file begin. Two files may share a place: then one waits
    /// for marks of the other, without need.
    [[nodiscard]] static Offset place_of(FileIdentity const& file) noexcept;

private:
    MarkTable(int file, Descriptor own, std::string path) noexcept;
    bool open() noexcept;

    int file_;
    std::string path_;          ///< Of the node's.
    mutable std::mutex mutex_;  ///< Guards the field below.
    Descriptor own_;
    std::mutex held_mutex_;  ///< Guards the field below, also while the system locks.
    SpanCounts held_;
};

/// The marks of one file.
class UnfinishedMarks {
public:
    /// In a table of the node, or, with none, in the file itself, behind `fd`.
    UnfinishedMarks(std::shared_ptr<MarkTable> node, int fd, FileIdentity const& file);

    /// Of the node's table: held by keepers that write what ranks have left.
    static constexpr Span of_keepers{std::numeric_limits<Offset>::max() - 2,
                                     std::numeric_limits<Offset>::max() - 1};

    /// From here on, behind the end of all files, marks are of calls and not of bytes.
    static constexpr Offset of_calls = Offset{1} << 62;

    [[nodiscard]] bool hold(Span range) noexcept;
    void release(Span range) noexcept;
    /// Whether another process has a mark in the range. Where they lie in the file itself, another
    /// handle of this one counts, too, and a lock of anybody.
    [[nodiscard]] bool is_held_by_others(Span range) noexcept;
    /// Of marks in the file: see MarkTable::descriptor(); -1 for those of the node.
    [[nodiscard]] int descriptor_of_file() const noexcept;

private:
    [[nodiscard]] Span place_of(Span range) const noexcept;

    std::shared_ptr<MarkTable> table_;
    Offset begin_ = 0;        ///< The place of its first byte.
    Offset most_ = of_calls;  ///< Bytes of a file that have places.
};

}  // namespace sluice
