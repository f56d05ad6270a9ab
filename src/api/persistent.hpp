// Persistent collective accesses: what `sluice_request` of sluice.h points to. A file that the MPI
// serves has them too: each start is then a nonblocking call of the MPI.
#pragma once
#include "api/access.hpp"

#include <optional>

namespace sluice {

class Persistent {
public:
    /// Captures an access to a file of ours. Collective; all ranks get the same status. Null: bad
    /// arguments of a rank.
    static std::unique_ptr<Persistent> make(std::shared_ptr<File> const& file,
                                            AccessArguments const& arguments, Status& status);
    /// Of a file that the MPI serves. Local.
    static std::unique_ptr<Persistent> make_in_mpi(AccessArguments const& arguments);

    /// What converts needs the datatype at each start, and keeps a duplicate.
    explicit Persistent(Prepared prepared);
    ~Persistent();
    Persistent(Persistent const&) = delete;
    Persistent& operator=(Persistent const&) = delete;

    /// These return error classes, after the file's handler.
    int start();
    int wait(MPI_Status* status);
    int test(int* complete, MPI_Status* status);
    /// Refuses while it is active.
    [[nodiscard]] int check_free() const;

private:
    [[nodiscard]] bool active() const noexcept;
    [[nodiscard]] bool is_open() const;
    [[nodiscard]] int refuse(int error_class) const;
    int start_in_mpi();
    int finish(MPI_Status* status);

    std::shared_ptr<File> file_;  ///< Null: the MPI serves it.
    Prepared prepared_;
    std::optional<Access> access_;               ///< While active.
    MPI_Request in_mpi_ = MPI_REQUEST_NULL;      ///< The same, of the MPI.
    MPI_Datatype own_type_ = MPI_DATATYPE_NULL;  ///< Where the datatype is needed at each start.
};

}  // namespace sluice
