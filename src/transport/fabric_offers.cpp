// Which providers of libfabric can be worked with. See fabric_endpoint.hpp.
#include "transport/fabric_endpoint.hpp"
#include "transport/fabric_hints.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
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

#endif

}  // namespace sluice
