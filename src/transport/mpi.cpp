// How messages are started, tested and counted. See mpi.hpp.
#include "transport/mpi.hpp"

#include "transport/mpi_status.hpp"

namespace sluice {

namespace {

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

Message MpiNetwork::start(MPI_Request request, char const* call, int code) {
    ++due_;
    auto* const kept = new MPI_Request(request);
    return {.handle = reinterpret_cast<std::uintptr_t>(kept),
            .status = status_of_mpi(code),
            .code = code,
            .what = call};
}

Message MpiNetwork::start_send(Rank peer, int tag, std::span<std::byte const> bytes,
                               bool synchronous) {
    MPI_Request request = MPI_REQUEST_NULL;
    auto* const send = synchronous ? PMPI_Issend : PMPI_Isend;
    Items const items(bytes.size());
    int const code =
        send(bytes.data(), items.count, items.type, peer, tag, communicator_, &request);
    return start(request, synchronous ? "MPI_Issend" : "MPI_Isend", code);
}

Message MpiNetwork::start_recv(Rank peer, int tag, std::span<std::byte> bytes) {
    MPI_Request request = MPI_REQUEST_NULL;
    Items const items(bytes.size());
    int const code =
        PMPI_Irecv(bytes.data(), items.count, items.type, peer, tag, communicator_, &request);
    return start(request, "MPI_Irecv", code);
}

/// What did not start is a null request: the test says that it is done.
bool MpiNetwork::finished(Message& message) {
    int done = 0;
    MPI_Status status;
    auto* const request = reinterpret_cast<MPI_Request*>(message.handle);  // NOLINT: it was one.
    if (int const code = PMPI_Test(request, &done, &status); code != MPI_SUCCESS) {
        // The request is gone where the MPI lets the program go on at all.
        message.status = status_of_mpi(code);
        message.code = code;
        message.what = "MPI_Test";
        done = 1;
    }
    if (!done) return false;
    MPI_Count count = 0;
    if (!message.failed()) PMPI_Get_elements_x(&status, MPI_BYTE, &count);
    message.received = count;
    delete request;
    --due_;
    return true;
}

}  // namespace sluice
