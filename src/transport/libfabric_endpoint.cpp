// How the endpoint is opened, how messages and writes go to libfabric, and what its completions
// mean. See libfabric_endpoint.hpp.
#ifdef SLUICE_HAVE_LIBFABRIC
#include "transport/libfabric_endpoint.hpp"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t send_slots = 256;
/// Of all peers together: some tens of MiB at most.
constexpr std::size_t receive_slots_least = 64, receive_slots_most = 4096;
constexpr std::uint32_t slots_of_peer_least = 2, slots_of_peer_most = 16;
constexpr std::size_t longest_write = std::size_t{1} << 30;
constexpr std::size_t completions_a_look = 32;
constexpr int looks = 8;
constexpr int ports_tried = 16;

template <std::size_t size> void copy_text(std::array<char, size>& to, std::string const& from) {
    std::memcpy(to.data(), from.data(), std::min(from.size(), size - 1));
}

std::string host_name() {
    std::array<char, 65> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
}

void* descriptor_of(Owned<fid_mr> const& memory) noexcept {
    return memory ? fi_mr_desc(memory.get()) : nullptr;
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
           succeeded(enabled_ = fi_enable(endpoint), "fi_enable", why);
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
    sends_ = FabricSlots(FabricSlot::Use::send, send_slots, slot_bytes);
    receives_ = FabricSlots(FabricSlot::Use::receive, posted, slot_bytes);
    if (info_->domain_attr->mr_mode & FI_MR_LOCAL) {
        send_memory_.reset(register_memory(sends_.memory(), FI_SEND | FI_WRITE));
        receive_memory_.reset(register_memory(receives_.memory(), FI_RECV));
        if (!send_memory_ || !receive_memory_) {
            why = "the provider refuses to register " +
                  std::to_string((posted + send_slots) * slot_bytes) + " bytes (ulimit -l)";
            return false;
        }
    }
    while (FabricSlot* const slot = receives_.take()) unposted_.push_back(slot);
    (void)post_unposted();
    return true;
}

std::string LibfabricEndpoint::address_text() const {
    std::string const text =
        internet_address(*info_, std::span(card_.address).first(card_.address_bytes));
    std::string const domain = info_->domain_attr->name ? info_->domain_attr->name : "";
    return text.empty() ? domain : domain + ", " + text;
}

/// The provider chooses the key, or takes one that nobody guesses.
fid_mr* LibfabricEndpoint::register_memory(std::span<std::byte> memory, std::uint64_t access) {
    fid_mr* registered = nullptr;
    std::uint64_t key = 0;
    if (!(info_->domain_attr->mr_mode & FI_MR_PROV_KEY)) {
        key = info_->domain_attr->mr_key_size >= 8 ? random_().value_or(++next_key_) : ++next_key_;
    }
    int const code = fi_mr_reg(domain_.get(), memory.data(), memory.size(), access, 0, key, 0,
                               &registered, nullptr);
    if (code != 0) return nullptr;
    bool const bound =
        !(info_->domain_attr->mr_mode & FI_MR_ENDPOINT) ||
        (fi_mr_bind(registered, &endpoint_->fid, 0) == 0 && fi_mr_enable(registered) == 0);
    if (bound) return registered;
    fi_close(&registered->fid);
    return nullptr;
}

ssize_t LibfabricEndpoint::post(FabricSlot& slot) {
    return fi_recv(endpoint_.get(), slot.memory.data(), slot.memory.size(),
                   descriptor_of(receive_memory_), FI_ADDR_UNSPEC, &slot.context);
}

/// True when a receive was posted. A message that the provider held back for want of one may be in
/// its queue then, and nothing wakes who sleeps on the descriptor for it.
bool LibfabricEndpoint::post_unposted() {
    std::size_t const before = unposted_.size();
    ssize_t code = 0;
    while (!unposted_.empty() && (code = post(*unposted_.back())) == 0) unposted_.pop_back();
    no_room_to_post_ = code == -FI_EAGAIN;
    return unposted_.size() < before;
}

bool LibfabricEndpoint::meet(FabricIndex peer, std::span<std::byte const> address) {
    if (peer >= peers_.size()) {
        peers_.resize(peer + 1, FI_ADDR_NOTAVAIL);
        probed_.resize(peer + 1);
    }
    if (is_on_internet(*info_)) probed_[peer].probe = PortProbe(address);
    return fi_av_insert(addresses_.get(), address.data(), 1, &peers_[peer], 0, nullptr) == 1;
}

WireResult LibfabricEndpoint::result_of(ssize_t code) noexcept {
    if (code == 0) return WireResult::taken;
    return code == -FI_EAGAIN ? WireResult::full : WireResult::lost;
}

WireResult LibfabricEndpoint::send(FabricIndex peer, std::span<std::byte const> head,
                                   std::span<std::byte const> body) {
    FabricSlot* const slot = sends_.take();
    if (!slot) return WireResult::full;
    std::memcpy(slot->memory.data(), head.data(), head.size());
    if (!body.empty()) std::memcpy(slot->memory.data() + head.size(), body.data(), body.size());
    slot->peer = peer;
    auto const result =
        result_of(fi_send(endpoint_.get(), slot->memory.data(), head.size() + body.size(),
                          descriptor_of(send_memory_), peers_[peer], &slot->context));
    if (result != WireResult::taken) sends_.give_back(*slot);
    return result;
}

WireResult LibfabricEndpoint::write(FabricIndex peer, std::span<std::byte const> bytes,
                                    std::uint64_t address, std::uint64_t key, std::uint64_t data,
                                    void* context) {
    FabricSlot& flight = *writes_.take();
    void* descriptor = nullptr;
    HeldMemory const* const known = held(bytes);
    if (known) {
        descriptor = fi_mr_desc(known->registered.get());
    } else if (info_->domain_attr->mr_mode & FI_MR_LOCAL) {
        auto* const memory = const_cast<std::byte*>(bytes.data());  // NOLINT: only read.
        auto* const registered = register_memory({memory, bytes.size()}, FI_WRITE);
        if (!registered) {
            writes_.give_back(flight);
            return WireResult::full;
        }
        flight.registration = registered;
        descriptor = fi_mr_desc(registered);
    }
    flight.peer = peer;
    flight.write = context;
    auto const result =
        result_of(fi_writedata(endpoint_.get(), bytes.data(), bytes.size(), descriptor, data,
                               peers_[peer], address, key, &flight.context));
    if (result != WireResult::taken) end(flight);
    return result;
}

/// A write's flight, which may hold a registration.
void LibfabricEndpoint::end(FabricSlot& slot) {
    if (slot.registration) hide(slot.registration);
    slot.registration = nullptr;
    writes_.give_back(slot);
}

std::optional<ShownMemory> LibfabricEndpoint::show(std::span<std::byte> memory) {
    bool const by_address = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    auto const address = by_address ? reinterpret_cast<std::uintptr_t>(memory.data()) : 0;
    if (HeldMemory const* const known = held(memory)) {
        auto const before = static_cast<std::uint64_t>(memory.data() - known->memory.data());
        return ShownMemory{by_address ? address : before, fi_mr_key(known->registered.get()),
                           nullptr};
    }
    fid_mr* const registered = register_memory(memory, FI_REMOTE_WRITE);
    if (!registered) return std::nullopt;
    return ShownMemory{address, fi_mr_key(registered), registered};
}

void LibfabricEndpoint::hold(std::uint64_t owner, std::span<std::byte> memory) {
    auto const [first, last] = held_.equal_range(memory.data());
    bool const is_known = std::any_of(
        first, last, [&](auto const& one) { return one.second.memory.size() >= memory.size(); });
    if (!is_known) held_.emplace(memory.data(), HeldMemory{memory, owner, nullptr});
}

void LibfabricEndpoint::release(std::uint64_t owner) {
    std::erase_if(held_, [=](auto const& one) { return one.second.owner == owner; });
}

/// What is held and has all of these bytes, registered; null where there is none, or the provider
/// refuses.
HeldMemory* LibfabricEndpoint::held(std::span<std::byte const> memory) {
    auto const after = held_.upper_bound(memory.data());
    if (after == held_.begin()) return nullptr;
    auto const [first, last] = held_.equal_range(std::prev(after)->first);
    auto const found = std::find_if(first, last, [&](auto const& one) {
        auto const& its = one.second.memory;
        return memory.data() + memory.size() <= its.data() + its.size();
    });
    if (found == last) return nullptr;
    HeldMemory& known = found->second;
    if (!known.registered)
        known.registered.reset(register_memory(known.memory, FI_WRITE | FI_REMOTE_WRITE));
    return known.registered ? &known : nullptr;
}

/// Endpoints over TCP listen on the port that is their address.
PeerLife LibfabricEndpoint::life_of(FabricIndex peer, double now) {
    ProbedPeer& probed = probed_[peer];
    if (!probed.probe.is_possible()) return PeerLife::unknown;
    auto const result = probed.probe.look();
    if (result == PortProbe::Result::refused) return PeerLife::ended;
    if (result == PortProbe::Result::alive) {
        probed.unanswered_since = 0;
        return PeerLife::alive;
    }
    if (probed.unanswered_since == 0) probed.unanswered_since = now;
    bool const is_lost = now - probed.unanswered_since > patience_seconds_;
    return is_lost ? PeerLife::ended : PeerLife::asked;
}

void LibfabricEndpoint::hide(void* registration) {
    fi_close(&static_cast<fid_mr*>(registration)->fid);
}

/// Data that come with a message are of a stranger: messages of the job have none, and a write
/// needs the key of its memory.
void LibfabricEndpoint::take(fi_cq_data_entry const& done, Fabric& fabric) {
    bool const is_message = (done.flags & FI_RECV) != 0;
    if ((done.flags & FI_REMOTE_CQ_DATA) && !is_message) fabric.take_write(done.data);
    if (!done.op_context || (done.flags & FI_REMOTE_WRITE)) return;
    FabricSlot& slot = *static_cast<FabricSlot*>(done.op_context);
    if (slot.use == FabricSlot::Use::receive) fabric.take({slot.memory.data(), done.len});
    free(slot, fabric);
}

/// Its message is over, well or not.
void LibfabricEndpoint::free(FabricSlot& slot, Fabric& fabric) {
    if (slot.use == FabricSlot::Use::receive) {
        unposted_.push_back(&slot);
    } else if (slot.use == FabricSlot::Use::send) {
        sends_.give_back(slot);
    } else {
        void* const context = slot.write;
        end(slot);
        fabric.end_write(context);
    }
}

/// A receive that failed is posted again: it is of no peer. The rest tells that a peer is lost.
void LibfabricEndpoint::take_error(Fabric& fabric) {
    union {
        fi_cq_err_entry entry;
        std::byte room[sizeof(fi_cq_err_entry) + 64];  // Later versions have more in it.
    } error{};
    if (fi_cq_readerr(queue_.get(), &error.entry, 0) < 1 || !error.entry.op_context) return;
    FabricSlot& slot = *static_cast<FabricSlot*>(error.entry.op_context);
    if (slot.use != FabricSlot::Use::receive) fabric.end(slot.peer);
    free(slot, fabric);
}

bool LibfabricEndpoint::progress(Fabric& fabric) {
    std::array<fi_cq_data_entry, completions_a_look> done;
    bool moved = false;
    for (int left = looks; left > 0; --left) {
        ssize_t const count = fi_cq_read(queue_.get(), done.data(), done.size());
        if (count == -FI_EAVAIL) {
            take_error(fabric);
            moved = true;
            continue;
        }
        if (count <= 0) break;
        moved = true;
        for (ssize_t i = 0; i < count; ++i) take(done[static_cast<std::size_t>(i)], fabric);
        (void)post_unposted();
        if (static_cast<std::size_t>(count) < done.size()) break;
    }
    return post_unposted() || moved;
}

bool LibfabricEndpoint::may_sleep() {
    fid* const waited[]{&queue_->fid};
    auto* const fids = const_cast<fid**>(waited);  // NOLINT: the interface's.
    return fi_trywait(fabric_.get(), fids, 1) == 0;
}

/// A provider over TCP binds to a port of the user's range (FI_TCP_PORT_LOW_RANGE) before it
/// listens, and two processes may be bound to one port until one of them listens: the other is told
/// that its address is in use. Its next endpoint has another port.
std::unique_ptr<FabricWire> open_libfabric(FabricOptions const& options, std::string& why) {
    auto const* const library = FabricLibrary::get(why);
    if (!library) return nullptr;
    for (int left = ports_tried; left > 0; --left) {
        auto endpoint = std::make_unique<LibfabricEndpoint>(*library, options.patience_seconds);
        if (endpoint->set_up(options.provider, options.peers, why)) return endpoint;
        int const enabled = endpoint->enabled();
        // One that could not be enabled stays as it is: ofi_rxm of libfabric 2 frees its listener
        // twice when it is closed.
        if (enabled != 0) {
            [[maybe_unused]] auto* const kept = endpoint.release();
        }
        if (enabled != -FI_EADDRINUSE) break;
    }
    return nullptr;
}

}  // namespace sluice

#endif
