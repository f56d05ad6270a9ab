// An Error is what the rank knows that meets an error first: all that a person needs to find the
// cause. Between ranks only its status travels. src/mpi/errors.hpp puts it into a sentence. Pure.
#pragma once
#include "base/extent.hpp"
#include "base/status.hpp"
#include "base/topology.hpp"

namespace sluice {

/// What failed, and what it was asked for. No error by default, as std::error_code.
struct Error {
    enum class Source : std::uint8_t {
        library,  ///< `what` says all, or else the status.
        system,   ///< `code` is an errno.
        mpi,      ///< `code` is what a function of the MPI returned.
    };

    Status status = Status::ok;
    Source source = Source::library;
    int code = 0;
    char const* what = nullptr;  ///< The function that failed, or what happened. Never freed.
    Bytes bytes = 0;             ///< That it was asked for.
    Offset offset = -1;          ///< Of these in the file; negative: they have no place in a file.
    Rank peer = -1;              ///< Of a message; negative: it is none.

    [[nodiscard]] explicit operator bool() const noexcept { return status != Status::ok; }
};

/// The first of two errors of one thing is kept: later ones often follow from it.
[[nodiscard]] constexpr Error first_of(Error const& a, Error const& b) noexcept {
    return a.status != Status::ok ? a : b;
}

}  // namespace sluice
