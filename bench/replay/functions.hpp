// The data-access functions of MPI by the names that a log has for them.
#pragma once
#include <mpi.h>
#include <string_view>

namespace sluice::replay {

struct AccessCall {
    MPI_File file = MPI_FILE_NULL;
    MPI_Offset at = 0;
    void* buffer = nullptr;
    MPI_Count count = 0;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Status status{};
    MPI_Request request = MPI_REQUEST_NULL;
};

struct Function {
    std::string_view name;
    int (*call)(AccessCall&);
    bool writes;
    enum class Place { pointer, offset, shared } place;
    bool has_request;
    int (*finish)(AccessCall&);  ///< The end of a split collective; else null.

    [[nodiscard]] bool begins() const noexcept { return finish != nullptr; }
};

/// Null: another call.
[[nodiscard]] Function const* function_named(std::string_view name) noexcept;

}  // namespace sluice::replay
