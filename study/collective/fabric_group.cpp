// Datagrams to a multicast group over libfabric. See fabric_trial.hpp.
#ifdef SLUICE_HAVE_LIBFABRIC

#include <arpa/inet.h>

#include "study/collective/trial_endpoint.hpp"

namespace sluice::collectives {
namespace {

/// For use within an organisation (RFC 2365). All members receive on the port.
constexpr char const* group_address = "239.255.77.1";
constexpr std::uint16_t group_port = 47771;

class Group final : public FabricGroup {
public:
    ~Group() override {
        joined_.reset();
        at_.endpoint.reset();
    }

    bool open(std::string const& provider, bool datagrams, std::string& why) {
        auto const type = datagrams ? FI_EP_DGRAM : FI_EP_RDM;
        if (!at_.open(provider, FI_MSG | FI_MULTICAST, type, std::to_string(group_port).c_str(),
                      why))
            return false;
        fi_eq_attr kind{};
        kind.wait_obj = FI_WAIT_NONE;
        fid_eq* events = nullptr;
        if (!at_.did(fi_eq_open(at_.fabric.get(), &kind, &events, nullptr), "fi_eq_open", why))
            return false;
        events_.reset(events);
        return at_.did(fi_ep_bind(at_.endpoint.get(), &events->fid, 0), "fi_ep_bind", why) &&
               at_.enable(why) && join(why);
    }
    [[nodiscard]] std::size_t most() const noexcept override {
        return at_.info->ep_attr->max_msg_size;
    }

    bool send(std::span<std::byte const> bytes, std::string& why) override {
        iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};  // NOLINT: only read.
        fi_msg message{};
        message.msg_iov = &part;
        message.iov_count = 1;
        message.addr = fi_mc_addr(joined_.get());
        message.context = &sent_;
        ssize_t code = 0;
        while ((code = fi_sendmsg(at_.endpoint.get(), &message, FI_MULTICAST)) == -FI_EAGAIN)
            progress();
        return at_.did(static_cast<int>(code), "fi_sendmsg", why);
    }
    bool expect(std::span<std::byte> bytes) override {
        return fi_recv(at_.endpoint.get(), bytes.data(), bytes.size(), nullptr, FI_ADDR_UNSPEC,
                       &received_) == 0;
    }
    bool took() override {
        progress();
        if (came_ == 0) return false;
        --came_;
        return true;
    }

private:
    bool join(std::string& why) {
        sockaddr_in group{};
        group.sin_family = AF_INET;
        group.sin_port = htons(group_port);
        inet_pton(AF_INET, group_address, &group.sin_addr);
        fid_mc* joined = nullptr;
        if (!at_.did(fi_join(at_.endpoint.get(), &group, 0, &joined, nullptr), "fi_join", why))
            return false;
        joined_.reset(joined);
        return true;
    }
    void progress() {
        fi_cq_data_entry done{};
        while (fi_cq_read(at_.queue.get(), &done, 1) == 1)
            if (done.op_context == &received_) ++came_;
    }

    fi_context2 sent_{}, received_{};
    int came_ = 0;
    TrialEndpoint at_;
    OwnedFid<fid_eq> events_;
    OwnedFid<fid_mc> joined_;
};

}  // namespace

std::unique_ptr<FabricGroup> FabricGroup::join(std::string const& provider, bool datagrams,
                                               std::string& why) {
    auto group = std::make_unique<Group>();
    if (!group->open(provider, datagrams, why)) return nullptr;
    return group;
}

}  // namespace sluice::collectives

#endif
