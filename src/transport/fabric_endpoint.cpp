// How an endpoint of libfabric is opened. See fabric_endpoint.hpp; what it sends and takes is in
// fabric_endpoint_messages.cpp.
#include "transport/fabric_endpoint.hpp"

#include "transport/fabric_hints.hpp"

#ifndef SLUICE_HAVE_LIBFABRIC

namespace sluice {

std::unique_ptr<FabricEndpoint> FabricEndpoint::open(Options const&, std::string& why) {
    why = fabric_offers().library;
    return nullptr;
}

}  // namespace sluice

#else

#include "transport/libfabric_endpoint.hpp"

#include <algorithm>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t send_slots = 256;
/// Of all peers together: some tens of MiB at most.
constexpr std::size_t receive_slots_least = 64, receive_slots_most = 4096;
constexpr std::uint32_t slots_of_peer_least = 2, slots_of_peer_most = 16;
constexpr std::size_t longest_write = std::size_t{1} << 30;

template <std::size_t size> void copy_text(std::array<char, size>& to, std::string const& from) {
    std::memcpy(to.data(), from.data(), std::min(from.size(), size - 1));
}

std::string host_name() {
    std::array<char, 65> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

}  // namespace

bool LibfabricEndpoint::succeeded(int code, char const* call, std::string& why) const {
    if (code == 0) return true;
    why = std::string(call) + ": " + library_.text_of(code);
    return false;
}

bool LibfabricEndpoint::set_up(std::string const& provider, std::size_t peers, std::string& why) {
    found_ = fabric_info(library_, provider);
    if (!found_) {
        why = provider + " offers nothing any more";
        return false;
    }
    info_ = nearest_interface(found_.get());
    write_most_ = std::min(longest_write, info_->ep_attr->max_msg_size);
    data_bits_ = info_->domain_attr->cq_data_size >= 8 ? 64 : 32;
    return open_domain(why) && open_queue(why) && open_endpoint(why) && make_card(provider, why) &&
           make_slots(peers, why);
}

bool LibfabricEndpoint::open_domain(std::string& why) {
    fid_fabric* fabric = nullptr;
    if (!succeeded(library_.open_fabric(info_->fabric_attr, &fabric, nullptr), "fi_fabric", why))
        return false;
    fabric_.reset(fabric);
    fid_domain* domain = nullptr;
    if (!succeeded(fi_domain(fabric, info_, &domain, nullptr), "fi_domain", why)) return false;
    domain_.reset(domain);
    fi_av_attr attributes{};
    attributes.type = FI_AV_TABLE;
    fid_av* addresses = nullptr;
    if (!succeeded(fi_av_open(domain, &attributes, &addresses, nullptr), "fi_av_open", why))
        return false;
    addresses_.reset(addresses);
    return true;
}

/// With a descriptor to sleep on, where the provider has one.
bool LibfabricEndpoint::open_queue(std::string& why) {
    fi_cq_attr attributes{};
    attributes.format = FI_CQ_FORMAT_DATA;
    attributes.wait_obj = FI_WAIT_FD;
    attributes.size = receive_slots_most + 2 * send_slots;
    fid_cq* queue = nullptr;
    int code = fi_cq_open(domain_.get(), &attributes, &queue, nullptr);
    if (code == 0 && fi_control(&queue->fid, FI_GETWAIT, &descriptor_) != 0) descriptor_ = -1;
    if (code != 0) {
        attributes.wait_obj = FI_WAIT_NONE;
        code = fi_cq_open(domain_.get(), &attributes, &queue, nullptr);
    }
    if (!succeeded(code, "fi_cq_open", why)) return false;
    queue_.reset(queue);
    return true;
}

bool LibfabricEndpoint::open_endpoint(std::string& why) {
    fid_ep* endpoint = nullptr;
    if (!succeeded(fi_endpoint(domain_.get(), info_, &endpoint, nullptr), "fi_endpoint", why))
        return false;
    endpoint_.reset(endpoint);
    return succeeded(fi_ep_bind(endpoint, &addresses_->fid, 0), "fi_ep_bind", why) &&
           succeeded(fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind",
                     why) &&
           succeeded(fi_enable(endpoint), "fi_enable", why);
}

bool LibfabricEndpoint::make_card(std::string const& provider, std::string& why) {
    auto const name = random_(), key = random_();
    std::size_t bytes = card_.address.size();
    if (!succeeded(fi_getname(&endpoint_->fid, card_.address.data(), &bytes), "fi_getname", why))
        return false;
    if (!name || !key) {
        why = "the system has no random numbers for a key";
        return false;
    }
    card_.address_bytes = static_cast<std::uint32_t>(bytes);
    card_.name = std::max<std::uint64_t>(*name, 1);
    card_.key = *key;
    copy_text(card_.provider, provider);
    copy_text(card_.host_name, host_name());
    return true;
}

/// So many for each peer that all of them may send at once, as long as that is not too much memory;
/// beyond that the provider holds back what finds no slot.
bool LibfabricEndpoint::make_slots(std::size_t peers, std::string& why) {
    std::size_t const of_peer =
        std::clamp<std::size_t>(receive_slots_most / std::max<std::size_t>(peers, 1),
                                slots_of_peer_least, slots_of_peer_most);
    card_.slots = static_cast<std::uint32_t>(of_peer);
    std::size_t const posted =
        std::min({std::clamp(2 * of_peer * peers, receive_slots_least, receive_slots_most),
                  std::max<std::size_t>(info_->rx_attr->size, 1)});
    send_slots_ = FabricSlots(send_slots, slot_bytes, FabricSlot::Use::send);
    receive_slots_ = FabricSlots(posted, slot_bytes, FabricSlot::Use::receive);
    if (info_->domain_attr->mr_mode & FI_MR_LOCAL) {
        send_memory_.reset(register_memory(send_slots_.memory(), FI_SEND | FI_WRITE));
        receive_memory_.reset(register_memory(receive_slots_.memory(), FI_RECV));
        if (!send_memory_ || !receive_memory_) {
            why = "the provider refuses to register " +
                  std::to_string((posted + send_slots) * slot_bytes) + " bytes (ulimit -l)";
            return false;
        }
    }
    while (FabricSlot* const slot = receive_slots_.take()) unposted_.push_back(slot);
    (void)post_unposted();
    return true;
}

std::string LibfabricEndpoint::address_text() const {
    std::string const text =
        internet_address(*info_, std::span(card_.address).first(card_.address_bytes));
    std::string const domain = info_->domain_attr->name ? info_->domain_attr->name : "";
    return text.empty() ? domain : domain + ", " + text;
}

std::unique_ptr<FabricEndpoint> FabricEndpoint::open(Options const& options, std::string& why) {
    auto const* const library = FabricLibrary::get(why);
    if (!library) return nullptr;
    auto endpoint = std::make_unique<LibfabricEndpoint>(*library, options.patience_seconds);
    if (!endpoint->set_up(options.provider, options.peers, why)) return nullptr;
    return endpoint;
}

}  // namespace sluice

#endif
