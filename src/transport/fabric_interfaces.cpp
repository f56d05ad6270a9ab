// Which of the network interfaces that a provider offers is taken. See fabric_hints.hpp.
#ifdef SLUICE_HAVE_LIBFABRIC

#include "transport/fabric_hints.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>

namespace sluice {
namespace {

/// Which interface is the likelier one to reach other hosts: the less, the better.
int distance(fi_info const& info) noexcept {
    if (!is_on_internet(info) || !info.src_addr) return 0;
    auto const* const address = static_cast<sockaddr const*>(info.src_addr);
    if (address->sa_family == AF_INET) {
        auto const& v4 = *static_cast<sockaddr_in const*>(info.src_addr);
        return (ntohl(v4.sin_addr.s_addr) >> 24) == IN_LOOPBACKNET ? 3 : 0;
    }
    auto const& v6 = *static_cast<sockaddr_in6 const*>(info.src_addr);
    if (IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr)) return 4;
    return IN6_IS_ADDR_LINKLOCAL(&v6.sin6_addr) ? 2 : 1;
}

}  // namespace

bool is_on_internet(fi_info const& info) noexcept {
    return info.addr_format == FI_SOCKADDR_IN || info.addr_format == FI_SOCKADDR_IN6 ||
           info.addr_format == FI_SOCKADDR;
}

fi_info* nearest_interface(fi_info* all) noexcept {
    fi_info* best = all;
    for (fi_info* one = all; one; one = one->next) {
        if (distance(*one) < distance(*best)) best = one;
    }
    return best;
}

std::string internet_address(fi_info const& info, std::span<std::byte const> bytes) {
    if (!is_on_internet(info)) return {};
    sockaddr_storage address{};
    std::memcpy(&address, bytes.data(), std::min(bytes.size(), sizeof address));
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.ss_family == AF_INET) {
        auto const& v4 = reinterpret_cast<sockaddr_in const&>(address);
        inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
        return std::string(text.data()) + ", port " + std::to_string(ntohs(v4.sin_port));
    }
    if (address.ss_family == AF_INET6) {
        auto const& v6 = reinterpret_cast<sockaddr_in6 const&>(address);
        inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
        return std::string(text.data()) + ", port " + std::to_string(ntohs(v6.sin6_port));
    }
    return {};
}

}  // namespace sluice

#endif
