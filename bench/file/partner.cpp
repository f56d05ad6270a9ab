// Addresses are exchanged by MPI, bytes are not. See partner.hpp.
#include "bench/file/partner.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <vector>

#include "bench/measure/timing.hpp"

namespace sluice::bench {
namespace {

void demand(bool kept, char const* what) { check(kept ? MPI_SUCCESS : MPI_ERR_OTHER, what); }

/// This host's address in a network, not its loopback.
in_addr own_address() {
    ifaddrs* all = nullptr;
    demand(getifaddrs(&all) == 0, "getifaddrs");
    in_addr found{htonl(INADDR_LOOPBACK)};
    for (ifaddrs const* one = all; one != nullptr; one = one->ifa_next) {
        bool const usable = one->ifa_addr != nullptr && one->ifa_addr->sa_family == AF_INET &&
                            (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_LOOPBACK) == 0;
        if (usable) found = reinterpret_cast<sockaddr_in const*>(one->ifa_addr)->sin_addr;
    }
    freeifaddrs(all);
    return found;
}

/// A socket that listens on a port that the system chooses.
sockaddr_in listen(Descriptor const& listener) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr = own_address();
    socklen_t size = sizeof address;
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    demand(::bind(listener.get(), general, size) == 0 && ::listen(listener.get(), 1) == 0 &&
               ::getsockname(listener.get(), general, &size) == 0,
           "listening");
    return address;
}

}  // namespace

Partner::Partner() {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    sender_ = receiver_ = rank;
    if (node_count() == 1) return;
    int const distance = std::max(1, ranks / node_count());  // Nodes have ranks that follow.
    sender_ = (rank - distance + ranks) % ranks;
    receiver_ = (rank + distance) % ranks;
    Descriptor const listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    auto const own = listen(listener);
    std::vector<sockaddr_in> all(static_cast<std::size_t>(ranks));
    check(
        MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, MPI_COMM_WORLD),
        "MPI_Allgather");
    to_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    auto const& other = all[std::size_t(receiver_)];
    demand(::connect(to_.get(), reinterpret_cast<sockaddr const*>(&other), sizeof other) == 0,
           "connecting to a rank of another node");
    from_ = Descriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    demand(from_.get() >= 0, "accepting a rank of another node");
}

void Partner::send(std::size_t bytes) const {
    static std::vector<char> const chunk(std::size_t{1} << 18);
    while (bytes > 0) {
        auto const sent = ::send(to_.get(), chunk.data(), std::min(bytes, chunk.size()), 0);
        demand(sent > 0, "sending to a rank of another node");
        bytes -= std::size_t(sent);
    }
}

void Partner::receive(std::size_t bytes) const {
    static std::vector<char> chunk(std::size_t{1} << 18);
    while (bytes > 0) {
        auto const got =
            ::recv(from_.get(), chunk.data(), std::min(bytes, chunk.size()), MSG_WAITALL);
        demand(got > 0, "receiving from a rank of another node");
        bytes -= std::size_t(got);
    }
}

}  // namespace sluice::bench
