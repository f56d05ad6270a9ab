// An access to a file that a request stands for.
#pragma once
#include "mpi/errors.hpp"
#include "mpi/file/access.hpp"
#include "mpi/requests/started.hpp"

namespace sluice {

class StartedAccess final : public Started {
public:
    /// `begin()` returns the Access. It begins when the memory for all of this is there.
    template <class Begin> explicit StartedAccess(Begin&& begin) : access_(begin()) {}

    [[nodiscard]] bool complete() const noexcept override { return access_.complete(); }
    void wait() const override { access_.wait(); }
    void poke() const override { access_.file->team->poke(); }
    [[nodiscard]] WaitAccount* account() const noexcept override { return access_.file.get(); }
    void finish() override { access_.finish(); }
    [[nodiscard]] Bytes bytes() const override { return access_.bytes(); }
    int raise() const override { return sluice::raise(access_.file->handle, access_.status()); }
    [[nodiscard]] Status status() const noexcept { return access_.status(); }

private:
    Access access_;
};

}  // namespace sluice
