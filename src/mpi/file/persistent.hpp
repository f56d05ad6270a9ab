// The persistent collective accesses of sluice.h. Where the MPI serves the file, each start is a
// nonblocking call of the MPI.
#pragma once
#include "mpi/file/staged_memory.hpp"
#include "mpi/requests/own_request.hpp"

#include <optional>

namespace sluice {

class Persistent final : public OwnRequest {
public:
    /// Captures an access to a file of ours. Collective; all ranks get the same status. Null: bad
    /// arguments of a rank.
    static std::unique_ptr<Persistent> make(std::shared_ptr<File> const& file,
                                            AccessArguments const& arguments, Status& status);
    /// Of a file that the MPI serves. Local.
    static std::unique_ptr<Persistent> make_in_mpi(AccessArguments const& arguments);

    /// What converts needs the datatype at each start, and keeps a duplicate.
    explicit Persistent(Prepared prepared);
    ~Persistent() override;
    Persistent(Persistent const&) = delete;
    Persistent& operator=(Persistent const&) = delete;

    int start() override;
    int wait(MPI_Status* status) override;
    int test(int* complete, MPI_Status* status) override;
    [[nodiscard]] int check_free() const override;

private:
    [[nodiscard]] bool active() const noexcept;
    [[nodiscard]] bool is_open() const;
    [[nodiscard]] int refuse(int error_class) const;
    int start_in_mpi();
    int test_in_mpi(int* complete, MPI_Status* status);
    int finish(MPI_Status* status);

    std::shared_ptr<File> file_;  ///< Null: the MPI serves it.
    Prepared prepared_;
    std::optional<Access> access_;               ///< While active.
    MPI_Request in_mpi_ = MPI_REQUEST_NULL;      ///< The same, of the MPI.
    std::unique_ptr<StagedMemory> staged_;       ///< Of the one in the MPI; null: it needs none.
    MPI_Datatype own_type_ = MPI_DATATYPE_NULL;  ///< Where the datatype is needed at each start.
};

}  // namespace sluice
