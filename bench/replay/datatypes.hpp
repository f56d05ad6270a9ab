// Datatypes and communicators of a log, made again.
#pragma once
#include "tools/recorded/log.hpp"

#include <map>
#include <mpi.h>

namespace sluice::replay {

/// Those of one rank, made when they are first asked for, and freed with it.
class Datatypes {
public:
    explicit Datatypes(record::Types& types) : types_(types) {}
    ~Datatypes();
    Datatypes(Datatypes const&) = delete;
    Datatypes& operator=(Datatypes const&) = delete;

    /// Committed. What cannot be made as it was has the same bytes at the same places.
    [[nodiscard]] MPI_Datatype get(std::int64_t number);

private:
    [[nodiscard]] MPI_Datatype make(TypeTree const& tree);

    record::Types& types_;
    std::map<std::int64_t, MPI_Datatype> committed_;
    std::map<TypeTree const*, MPI_Datatype> made_;
    std::vector<MPI_Datatype> owned_;
};

class Communicators {
public:
    Communicators() = default;
    ~Communicators();
    Communicators(Communicators const&) = delete;
    Communicators& operator=(Communicators const&) = delete;

    /// Of a line `group`. Collective over its ranks, at the place of the first open by it.
    [[nodiscard]] MPI_Comm get(std::int64_t number, std::vector<std::int64_t> const& world_ranks);

private:
    std::map<std::int64_t, MPI_Comm> made_;
};

}  // namespace sluice::replay
