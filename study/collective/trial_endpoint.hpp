// What trials of libfabric open alike. Only sources that are built with its headers include it.
#pragma once
#include <poll.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <cstring>
#include <string>

#include "study/collective/fabric_trial.hpp"
#include "transport/fabric_library.hpp"

namespace sluice::collectives {

template <class Fid> struct CloseFid {
    void operator()(Fid* fid) const noexcept { fi_close(&fid->fid); }
};
template <class Fid> using OwnedFid = std::unique_ptr<Fid, CloseFid<Fid>>;

/// A fabric, a domain, addresses, a queue of completions and an endpoint that is not enabled yet.
class TrialEndpoint {
public:
    /// `service`: the port of its own, or null. False, and which call had which answer.
    bool open(std::string const& provider, std::uint64_t capabilities, fi_ep_type type,
              char const* service, std::string& why) {
        library = FabricLibrary::get(why);
        if (!library) return false;
        auto const hints = library->no_info();
        hints->caps = capabilities;
        hints->mode = FI_CONTEXT | FI_CONTEXT2;
        hints->ep_attr->type = type;
        hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
                                      FI_MR_PROV_KEY | FI_MR_ENDPOINT | FI_MR_RMA_EVENT;
        hints->fabric_attr->prov_name = strdup(provider.c_str());
        fi_info* found = nullptr;
        int const code = library->get_info(FabricLibrary::version, nullptr, service,
                                           service ? FI_SOURCE : 0, hints.get(), &found);
        if (!did(code, "fi_getinfo", why)) return false;
        info = library->owned(found);
        fid_fabric* opened = nullptr;
        if (!did(library->open_fabric(info->fabric_attr, &opened, nullptr), "fi_fabric", why))
            return false;
        fabric.reset(opened);
        return open_domain(why) && open_endpoint(why);
    }
    bool enable(std::string& why) const { return did(fi_enable(endpoint.get()), "fi_enable", why); }
    bool did(int code, char const* call, std::string& why) const {
        if (code == 0) return true;
        why = std::string(call) + ": " + library->text_of(code < 0 ? -code : code);
        return false;
    }

    FabricLibrary const* library = nullptr;
    FabricLibrary::Info info{nullptr, {}};
    // What is opened later is closed earlier.
    OwnedFid<fid_fabric> fabric;
    OwnedFid<fid_domain> domain;
    OwnedFid<fid_av> addresses;
    OwnedFid<fid_cq> queue;
    OwnedFid<fid_ep> endpoint;
    int descriptor = -1;  ///< Of the queue.

private:
    bool open_domain(std::string& why) {
        fid_domain* opened = nullptr;
        if (!did(fi_domain(fabric.get(), info.get(), &opened, nullptr), "fi_domain", why))
            return false;
        domain.reset(opened);
        fi_av_attr attributes{};
        attributes.type = FI_AV_TABLE;
        fid_av* table = nullptr;
        if (!did(fi_av_open(opened, &attributes, &table, nullptr), "fi_av_open", why)) return false;
        addresses.reset(table);
        fi_cq_attr kind{};
        kind.format = FI_CQ_FORMAT_DATA;
        kind.wait_obj = FI_WAIT_FD;
        fid_cq* completions = nullptr;
        if (fi_cq_open(opened, &kind, &completions, nullptr) == 0) {
            fi_control(&completions->fid, FI_GETWAIT, &descriptor);
        } else {
            kind.wait_obj = FI_WAIT_NONE;
            if (!did(fi_cq_open(opened, &kind, &completions, nullptr), "fi_cq_open", why))
                return false;
        }
        queue.reset(completions);
        return true;
    }
    bool open_endpoint(std::string& why) {
        fid_ep* opened = nullptr;
        if (!did(fi_endpoint(domain.get(), info.get(), &opened, nullptr), "fi_endpoint", why))
            return false;
        endpoint.reset(opened);
        return did(fi_ep_bind(opened, &addresses->fid, 0), "fi_ep_bind", why) &&
               did(fi_ep_bind(opened, &queue->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind", why);
    }
};

}  // namespace sluice::collectives
