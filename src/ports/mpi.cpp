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

Message MpiNetwork::start_send(Rank peer, int tag, std::span<std::byte const> bytes,
                               bool synchronous) {
    MPI_Request request = MPI_REQUEST_NULL;
    auto* const send = synchronous ? PMPI_Issend : PMPI_Isend;
    int const code = send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, peer, tag,
                          communicator_, &request);
    return {keep(request), 0, code != MPI_SUCCESS};
}

Message MpiNetwork::start_recv(Rank peer, int tag, std::span<std::byte> bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    int const code = PMPI_Irecv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, peer, tag,
                                communicator_, &request);
    return {keep(request), 0, code != MPI_SUCCESS};
}

/// What did not start is a null request: the test says that it is done.
bool MpiNetwork::finished(Message& message) {
    int done = 0;
    MPI_Status status;
    MPI_Request* request = nullptr;
    {
        std::lock_guard const lock(mutex_);
        request = &requests_[message.handle];
    }
    if (PMPI_Test(request, &done, &status) != MPI_SUCCESS) {
        message.failed = true;  // The request is gone where the MPI lets the program go on at all.
        done = 1;
    }
    if (!done) return false;
    int count = 0;
    if (!message.failed) PMPI_Get_count(&status, MPI_BYTE, &count);
    message.received = count;
    std::lock_guard const lock(mutex_);
    *request = MPI_REQUEST_NULL;
    free_.push_back(message.handle);
    --due_;
    return true;
}

}  // namespace sluice
