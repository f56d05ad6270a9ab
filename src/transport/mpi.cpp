// How messages are started, tested and counted. See mpi.hpp.
#include "transport/mpi.hpp"

#include "transport/mpi_status.hpp"

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

namespace {

Message started(std::uint64_t handle, char const* call, int code) noexcept {
    return {.handle = handle, .status = status_of_mpi(code), .code = code, .what = call};
}

/// A count of MPI is an int; more bytes are one item of a datatype that has them all.
class Items {
public:
    explicit Items(std::size_t bytes) {
        constexpr std::size_t chunk = std::size_t{1} << 30;
        if (bytes <= chunk) {
            count = static_cast<int>(bytes);
            return;
        }
        MPI_Datatype chunks = MPI_DATATYPE_NULL;
        PMPI_Type_vector(static_cast<int>(bytes / chunk), chunk, chunk, MPI_BYTE, &chunks);
        int const lengths[]{1, static_cast<int>(bytes % chunk)};
        MPI_Aint const places[]{0, static_cast<MPI_Aint>(bytes / chunk * chunk)};
        MPI_Datatype const types[]{chunks, MPI_BYTE};
        PMPI_Type_create_struct(2, lengths, places, types, &type);
        PMPI_Type_commit(&type);
        PMPI_Type_free(&chunks);
    }
    ~Items() {
        if (type != MPI_BYTE) PMPI_Type_free(&type);
    }
    Items(Items const&) = delete;
    Items& operator=(Items const&) = delete;

    int count = 1;
    MPI_Datatype type = MPI_BYTE;
};

}  // namespace

Message MpiNetwork::start_send(Rank peer, int tag, std::span<std::byte const> bytes,
                               bool synchronous) {
    MPI_Request request = MPI_REQUEST_NULL;
    auto* const send = synchronous ? PMPI_Issend : PMPI_Isend;
    Items const items(bytes.size());
    int const code =
        send(bytes.data(), items.count, items.type, peer, tag, communicator_, &request);
    return started(keep(request), synchronous ? "MPI_Issend" : "MPI_Isend", code);
}

Message MpiNetwork::start_recv(Rank peer, int tag, std::span<std::byte> bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    Items const items(bytes.size());
    int const code =
        PMPI_Irecv(bytes.data(), items.count, items.type, peer, tag, communicator_, &request);
    return started(keep(request), "MPI_Irecv", code);
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
    if (int const code = PMPI_Test(request, &done, &status); code != MPI_SUCCESS) {
        // The request is gone where the MPI lets the program go on at all.
        message = started(message.handle, "MPI_Test", code);
        done = 1;
    }
    if (!done) return false;
    MPI_Count count = 0;
    if (!message.failed()) PMPI_Get_elements_x(&status, MPI_BYTE, &count);
    message.received = count;
    std::lock_guard const lock(mutex_);
    *request = MPI_REQUEST_NULL;
    free_.push_back(message.handle);
    --due_;
    return true;
}

}  // namespace sluice
