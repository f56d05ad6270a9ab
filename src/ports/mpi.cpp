// PMPI point-to-point calls. See mpi.hpp.
#include "ports/mpi.hpp"

namespace sluice {

std::uint64_t MpiNetwork::keep(MPI_Request request) {
    std::lock_guard const lock(mutex_);
    ++due_;
    if (free_.empty()) {
        requests_.push_back(request);
        return requests_.size() - 1;
    }
    std::size_t const place = free_.front();
    free_.pop_front();
    requests_[place] = request;
    return place;
}

Message MpiNetwork::start_send(Rank peer, int tag, std::span<std::byte const> bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, peer, tag, communicator_,
               &request);
    return {keep(request), 0};
}

Message MpiNetwork::start_recv(Rank peer, int tag, std::span<std::byte> bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    PMPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, peer, tag, communicator_,
               &request);
    return {keep(request), 0};
}

bool MpiNetwork::finished(Message& message) {
    int done = 0;
    MPI_Status status;
    MPI_Request* request = nullptr;
    {
        std::lock_guard const lock(mutex_);
        request = &requests_[message.handle];
    }
    PMPI_Test(request, &done, &status);
    if (!done) return false;
    int count = 0;
    PMPI_Get_count(&status, MPI_BYTE, &count);
    message.received = count;
    std::lock_guard const lock(mutex_);
    free_.push_back(message.handle);
    --due_;
    return true;
}

}  // namespace sluice
