// Counters that peers raise over libfabric. See fabric_trial.hpp.
#ifdef SLUICE_HAVE_LIBFABRIC

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>

#include <atomic>
#include <vector>

#include "study/collective/trial_endpoint.hpp"

namespace sluice::collectives {
namespace {

constexpr std::size_t most = TrialCard::counters_most;

std::uint64_t capabilities_for(Raising raising) {
    std::uint64_t const writes = FI_MSG | FI_RMA | FI_WRITE | FI_REMOTE_WRITE;
    if (raising == Raising::by_atomic) return FI_MSG | FI_ATOMIC | FI_WRITE | FI_REMOTE_WRITE;
    return raising == Raising::by_event ? writes | FI_RMA_EVENT : writes;
}

class Counters final : public FabricCounters {
public:
    explicit Counters(Raising raising) : raising_(raising) {}
    ~Counters() override { at_.endpoint.reset(); }

    bool open(std::string const& provider, std::string& why) {
        if (!at_.open(provider, capabilities_for(raising_), FI_EP_RDM, nullptr, why)) return false;
        for (std::size_t i = 0; i < most; ++i)
            if (!open_counter(i, why)) return false;
        if (!at_.enable(why)) return false;
        std::size_t bytes = card_.address.size();
        if (!at_.did(fi_getname(&at_.endpoint->fid, card_.address.data(), &bytes), "fi_getname",
                     why))
            return false;
        card_.address_bytes = static_cast<std::uint32_t>(bytes);
        return true;
    }
    [[nodiscard]] TrialCard const& card() const noexcept override { return card_; }

    bool meet(TrialCard const& peer) override {
        fi_addr_t address = FI_ADDR_NOTAVAIL;
        peers_.push_back({peer, address});
        return fi_av_insert(at_.addresses.get(), peer.address.data(), 1, &peers_.back().address, 0,
                            nullptr) == 1;
    }

    bool raise(std::size_t peer, std::size_t counter) override {
        ssize_t code = 0;
        while ((code = try_raise(peers_[peer], counter)) == -FI_EAGAIN) progress();
        return code == 0;
    }

    std::uint64_t raised(std::size_t counter) override {
        if (raising_ == Raising::by_event) return fi_cntr_read(events_[counter].get());
        progress();
        return std::atomic_ref(words_[counter]).load(std::memory_order_acquire);
    }

    void sleep(std::size_t counter) override {
        bool const is_event = raising_ == Raising::by_event;
        int const descriptor = is_event ? event_descriptors_[counter] : at_.descriptor;
        fid* const waited = is_event ? &events_[counter]->fid : &at_.queue->fid;
        fid* fids[]{waited};
        if (descriptor < 0 || fi_trywait(at_.fabric.get(), fids, 1) != 0) return;
        pollfd ready{descriptor, POLLIN, 0};
        poll(&ready, 1, 10);
    }

private:
    struct Peer {
        TrialCard card;
        fi_addr_t address;
    };

    bool open_counter(std::size_t i, std::string& why) {
        fid_mr* memory = nullptr;
        bool const by_provider = (at_.info->domain_attr->mr_mode & FI_MR_PROV_KEY) != 0;
        int const code = fi_mr_reg(at_.domain.get(), &words_[i], sizeof words_[i], FI_REMOTE_WRITE,
                                   0, by_provider ? 0 : i + 1, 0, &memory, nullptr);
        if (!at_.did(code, "fi_mr_reg", why)) return false;
        memory_[i].reset(memory);
        if (raising_ == Raising::by_event && !bind_event(i, why)) return false;
        if (at_.info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
            fi_mr_bind(memory, &at_.endpoint->fid, 0);
            if (!at_.did(fi_mr_enable(memory), "fi_mr_enable", why)) return false;
        }
        bool const by_address = (at_.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
        card_.keys[i] = fi_mr_key(memory);
        card_.addresses[i] = by_address ? reinterpret_cast<std::uintptr_t>(&words_[i]) : 0;
        return true;
    }
    bool bind_event(std::size_t i, std::string& why) {
        fi_cntr_attr attributes{};
        attributes.events = FI_CNTR_EVENTS_COMP;
        attributes.wait_obj = FI_WAIT_FD;
        fid_cntr* opened = nullptr;
        if (fi_cntr_open(at_.domain.get(), &attributes, &opened, nullptr) == 0) {
            fi_control(&opened->fid, FI_GETWAIT, &event_descriptors_[i]);
        } else {
            attributes.wait_obj = FI_WAIT_NONE;
            int const code = fi_cntr_open(at_.domain.get(), &attributes, &opened, nullptr);
            if (!at_.did(code, "fi_cntr_open", why)) return false;
        }
        events_[i].reset(opened);
        return at_.did(fi_mr_bind(memory_[i].get(), &opened->fid, FI_REMOTE_WRITE), "fi_mr_bind",
                       why);
    }

    /// All of them leave no completion here.
    ssize_t try_raise(Peer const& peer, std::size_t counter) {
        static constexpr std::uint64_t one = 1;
        std::uint64_t const key = peer.card.keys[counter], at = peer.card.addresses[counter];
        fid_ep* const endpoint = at_.endpoint.get();
        switch (raising_) {
        case Raising::by_data:
            return fi_inject_writedata(endpoint, &one, 0, counter, peer.address, at, key);
        case Raising::by_atomic:
            return fi_inject_atomic(endpoint, &one, 1, peer.address, at, key, FI_UINT64, FI_SUM);
        case Raising::by_event:
            return fi_inject_write(endpoint, &one, sizeof one, peer.address, at, key);
        }
        return -FI_ENOSYS;
    }

    void progress() {
        std::array<fi_cq_data_entry, 16> done;
        ssize_t const count = fi_cq_read(at_.queue.get(), done.data(), done.size());
        for (ssize_t i = 0; i < count; ++i) {
            auto const& one = done[static_cast<std::size_t>(i)];
            if ((one.flags & FI_REMOTE_CQ_DATA) && one.data < most) ++words_[one.data];
        }
    }

    Raising raising_;
    std::array<std::uint64_t, most> words_{};
    TrialEndpoint at_;
    TrialCard card_;
    std::array<OwnedFid<fid_cntr>, most> events_;  // They outlive what is bound to them.
    std::array<OwnedFid<fid_mr>, most> memory_;
    std::array<int, most> event_descriptors_{-1, -1, -1, -1, -1, -1, -1, -1};
    std::vector<Peer> peers_;
};

}  // namespace

std::unique_ptr<FabricCounters> FabricCounters::open(std::string const& provider, Raising raising,
                                                     std::string& why) {
    auto counters = std::make_unique<Counters>(raising);
    if (!counters->open(provider, why)) return nullptr;
    return counters;
}

}  // namespace sluice::collectives

#endif
