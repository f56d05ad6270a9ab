// Which providers of libfabric can be worked with, and which of the network interfaces that a
// provider offers is taken. See fabric_offers.hpp and fabric_library.hpp.
#include "transport/fabric_offers.hpp"
#ifdef SLUICE_HAVE_LIBFABRIC
#include "transport/fabric_library.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#else
#include "transport/fabric_wire.hpp"
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace sluice {
namespace {

/// The best first. Only those that are tested here are taken without being asked for.
struct Known {
    char const* name;
    bool is_tested;
};
constexpr std::array known_providers{
    Known{"cxi", false}, Known{"efa", false}, Known{"verbs;ofi_rxm", false}, Known{"psm3", false},
    Known{"opx", false}, Known{"tcp", true},  Known{"tcp;ofi_rxm", true},
};

}  // namespace

FabricOffer const* FabricOffers::best(std::string const& wanted) const {
    auto const found = std::find_if(all.begin(), all.end(), [&](FabricOffer const& offer) {
        return offer.why_not.empty() && (wanted.empty() || wanted == offer.provider);
    });
    return found == all.end() ? nullptr : &*found;
}

#ifndef SLUICE_HAVE_LIBFABRIC

void look_for_fabric_beside(void*) {}

void open_as_fabric(std::string const&) {}

FabricOffers const& fabric_offers() {
    static FabricOffers const none{"this build has no libfabric (libfabric-dev)", {}};
    return none;
}

std::unique_ptr<FabricWire> open_libfabric(FabricOptions const&, std::string& why) {
    why = fabric_offers().library;
    return nullptr;
}

#else

namespace {

std::string text_of_version(std::uint32_t version) {
    return std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version));
}

/// What the provider lacks; empty: nothing.
std::string lack_of(fi_info const& info) {
    if (info.ep_attr->type != FI_EP_RDM) return "no reliable datagrams";
    if (info.domain_attr->cq_data_size < 4) return "writes bring no data for the receiver";
    if (info.domain_attr->mr_mode & FI_MR_RAW) return "keys of memory are longer than 64 bits";
    if (info.ep_attr->msg_prefix_size > 0 && (info.mode & FI_MSG_PREFIX))
        return "messages need a prefix";
    if (info.mode & FI_RX_CQ_DATA) return "data of writes takes a receive";
    return {};
}

FabricOffers ask() {
    FabricOffers offers;
    auto const* const library = FabricLibrary::get(offers.library);
    if (!library) return offers;
    offers.library = library->path + ", version " + text_of_version(library->version_of());
    for (Known const& known : known_providers) {
        auto const info = fabric_info(*library, known.name);
        std::string const lack = info ? lack_of(*info)
                                      : "no such device, or it offers no messages "
                                        "with writes into memory of peers";
        offers.all.push_back({known.name, lack, known.is_tested});
    }
    return offers;
}

}  // namespace

FabricOffers const& fabric_offers() {
    static FabricOffers const offers = ask();
    return offers;
}

FabricLibrary::Info fabric_info(FabricLibrary const& library, std::string const& provider) {
    auto const hints = library.no_info();
    if (!hints) return library.owned(nullptr);
    hints->caps = FI_MSG | FI_SEND | FI_RECV | FI_RMA | FI_WRITE | FI_REMOTE_WRITE;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode =
        FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->av_type = FI_AV_TABLE;
    hints->fabric_attr->prov_name = strdup(provider.c_str());
    fi_info* found = nullptr;
    if (library.get_info(FabricLibrary::version, nullptr, nullptr, 0, hints.get(), &found) != 0)
        return library.owned(nullptr);
    return library.owned(found);
}

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

#endif

}  // namespace sluice
