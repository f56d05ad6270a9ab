// MpiNetwork sends messages between nodes with the MPI's point-to-point functions, on a
// communicator of the library's own.
#pragma once
#include "schedule/port.hpp"

#include <mpi.h>

namespace sluice {

/// Calls MPI from whichever thread drives the stream: needs MPI_THREAD_MULTIPLE.
class MpiNetwork final : public Network {
public:
    explicit MpiNetwork(MPI_Comm communicator) noexcept : communicator_(communicator) {}

    Message start_send(Rank peer, int tag, std::span<std::byte const> bytes,
                       bool synchronous) override;
    Message start_recv(Rank peer, int tag, std::span<std::byte> bytes) override;
    bool finished(Message& message) override;

    [[nodiscard]] int due() const noexcept override { return due_.load(std::memory_order_relaxed); }

private:
    Message start(MPI_Request request, char const* call, int code);

    MPI_Comm communicator_;
    std::atomic<int> due_{0};
};

}  // namespace sluice
