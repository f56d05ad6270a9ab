// The name of a communicator is a word by which messages of the library are told from those of all
// other communicators. All of its ranks have the same one when the call has made it: no message is
// needed for it later, when a nonblocking collective must not wait (decision 0051).
#pragma once
#include "mpi/attribute.hpp"

#include <atomic>
#include <cstdint>
#include <mpi.h>

namespace sluice {

/// A communicator's name, and how many communicators were made of it.
struct CommunicatorName {
    explicit CommunicatorName(std::uint64_t its) noexcept : word(its) {}
    /// The name of the next communicator that is made of this one. The calls that make one are
    /// collective, and come in the same order on all ranks, so all of them have the same name.
    [[nodiscard]] std::uint64_t next() const noexcept;

    std::uint64_t const word;
    std::atomic<std::uint64_t> made{0};
};

/// A word that no other process of the job draws, and no name that follows from another one.
[[nodiscard]] std::uint64_t draw_name();

/// From now on communicators that are made of `world` get names. All ranks of `world` run under
/// Sluice and pass the same name. Local.
void begin_names(MPI_Comm world, std::uint64_t name);
/// Before MPI goes away.
void forget_names();
/// 0, on all of its ranks, where it has no name. Local.
[[nodiscard]] std::uint64_t name_of(MPI_Comm communicator);

/// The name of `parent`; null: it has none.
[[nodiscard]] std::shared_ptr<CommunicatorName> name_record(MPI_Comm parent);
/// After a call on it that all ranks of `parent` make: `made` may be null on some of them.
void name_child(CommunicatorName& parent, MPI_Comm made);
/// After a call that only the ranks of `made` make: one of them tells the others the name. Blocks.
void agree_on_name(MPI_Comm made);

/// While MPI_Comm_idup duplicates `parent`: the new one may not be used before its request is
/// complete, so it is named by the MPI, which copies the attribute.
class NamesDuplicate {
public:
    explicit NamesDuplicate(MPI_Comm parent);
    ~NamesDuplicate();
    NamesDuplicate(NamesDuplicate const&) = delete;
    NamesDuplicate& operator=(NamesDuplicate const&) = delete;
    /// The call has made the duplicate.
    void succeeded() noexcept;

private:
    std::shared_ptr<CommunicatorName> parent_;
};

/// `make` is the MPI's function, `made` what it sets.
template <class Make> int make_child(MPI_Comm parent, MPI_Comm const* made, Make make) {
    auto const name = name_record(parent);
    int const code = make();
    if (name && code == MPI_SUCCESS) name_child(*name, *made);
    return code;
}
template <class Make> int make_by_members(MPI_Comm const* made, Make make) {
    int const code = make();
    if (code == MPI_SUCCESS) agree_on_name(*made);
    return code;
}
template <class Make> int make_duplicate(MPI_Comm parent, Make make) {
    NamesDuplicate names(parent);
    int const code = make();
    if (code == MPI_SUCCESS) names.succeeded();
    return code;
}

}  // namespace sluice
