// A rank hands its keeper what must outlive it: the descriptions that have its marks, and the files
// that it delays writes to. So the marks stay until the keeper has written, and the keeper writes
// to the files that the rank had, whatever their names lead to by then.
#pragma once
#include "system/descriptor.hpp"

#include <map>

namespace sluice {

/// The rank's end of a socket that `sluice run` has made; it is never closed. Any thread may call
/// it.
class KeeperLine {
public:
    /// Less than 0: there is no keeper, and every call returns false.
    explicit KeeperLine(int socket = -1) noexcept : socket_(socket) {}

    /// The keeper takes a copy of the descriptor, which the caller may close. False where it does
    /// not take any more now. None of these blocks.
    [[nodiscard]] bool give_file(FileIdentity const& file, int descriptor) const noexcept;
    /// The description whose locks are marks: in that file, or, with no identity, of the node.
    [[nodiscard]] bool give_marks(FileIdentity const& file, int descriptor) const noexcept;
    /// The keeper closes its copies of both.
    void take_back(FileIdentity const& file) const noexcept;

private:
    int socket_;
};

/// The keeper's end.
class HandedOver {
public:
    /// `socket`: see new_keeper_line().
    explicit HandedOver(Descriptor socket) noexcept : socket_(std::move(socket)) {}

    /// To be polled: something was handed over; -1: no process has the other end any more.
    [[nodiscard]] int socket() const noexcept { return socket_.get(); }
    /// Takes all that was. Does not block.
    void take();

    /// -1: there is none.
    [[nodiscard]] int file(FileIdentity const& file) const;
    void close_files() { files_.clear(); }
    /// What they keep others from is done.
    void end_marks();

private:
    Descriptor socket_;
    std::map<FileIdentity, Descriptor> files_;
    std::multimap<FileIdentity, Descriptor> marks_;  ///< Each handle of a file has its own.
};

/// The keeper's end and the rank's end; none where the system refuses.
std::pair<Descriptor, Descriptor> new_keeper_line() noexcept;

}  // namespace sluice
