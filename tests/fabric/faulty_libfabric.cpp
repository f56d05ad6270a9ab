// A libfabric for tests, between the library and the real one (SLUICE_TEST=libfabric=FILE). It does
// what any provider may do, and those on one machine hardly ever do: for some milliseconds it takes
// no call, as if its queues were full; completions come late, and in any order; and it takes no
// long writes, so that they are split. SLUICE_TEST_FAULTS=registrations: it registers no memory,
// and all else is as it is. When the process ends it says how often it did so.
#include "transport/fabric_library.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::microseconds;
using Lock = std::lock_guard<std::recursive_mutex>;

constexpr int busy_percent = 2, late_percent = 20;
constexpr int busy_most = 3000, late_most = 2000;  ///< Microseconds.
constexpr std::size_t write_least = 12'000, write_most = 100'000;

/// A completion that the real one has, and the library has not heard of.
struct Held {
    fi_cq_data_entry entry;
    Clock::time_point due;
};

/// Of the process. What it has is used under its mutex.
struct Faults {
    std::recursive_mutex mutex;
    std::mt19937_64 random{std::random_device{}()};
    Clock::time_point busy_until;
    std::map<fid_cq*, std::vector<Held>> held;
    long refused = 0, late = 0, shortened = 0, registrations = 0;
    bool refuses_registrations = false;

    Faults() {
        char const* const kind = std::getenv("SLUICE_TEST_FAULTS");
        refuses_registrations = kind && std::string_view(kind) == "registrations";
    }
    ~Faults() {
        std::fprintf(stderr,
                     "faults of libfabric: %ld calls refused, %ld completions late, %ld writes at "
                     "their longest, %ld registrations refused\n",
                     refused, late, shortened, registrations);
    }
    int below(int most) { return static_cast<int>(random() % static_cast<unsigned>(most)); }

    /// Whether this call is refused.
    bool is_busy() {
        Lock const lock(mutex);
        auto const now = Clock::now();
        if (refuses_registrations) return false;
        if (now >= busy_until && below(100) < busy_percent)
            busy_until = now + Microseconds(below(busy_most));
        bool const busy = now < busy_until;
        refused += busy;
        return busy;
    }
    void hold(fid_cq* queue, fi_cq_data_entry const& entry) {
        bool const is_late = !refuses_registrations && below(100) < late_percent;
        late += is_late;
        held[queue].push_back({entry, Clock::now() + Microseconds(is_late ? below(late_most) : 0)});
    }
    /// Of what is held and due, at most so many, in any order.
    std::size_t bring(fid_cq* queue, fi_cq_data_entry* to, std::size_t most) {
        auto& all = held[queue];
        if (!refuses_registrations) std::shuffle(all.begin(), all.end(), random);
        auto const now = Clock::now();
        std::size_t count = 0;
        std::erase_if(all, [&](Held const& one) {
            if (count == most || one.due > now) return false;
            to[count++] = one.entry;
            return true;
        });
        return count;
    }
    bool holds_any_of(fid* queue) {
        Lock const lock(mutex);
        return std::any_of(held.begin(), held.end(), [&](auto const& one) {
            return &one.first->fid == queue && !one.second.empty();
        });
    }
};

Faults& faults() {
    static Faults all;
    return all;
}

sluice::FabricLibrary const& real() {
    std::string why;
    auto const* const library = sluice::FabricLibrary::get(why);
    if (library) return *library;
    std::fprintf(stderr, "%s\n", why.c_str());
    std::abort();
}

/// The tables of functions that the provider gave to its objects.
template <class Table> std::map<fid const*, Table*>& given_tables() {
    static std::map<fid const*, Table*> all;
    return all;
}

template <class Table> Table& given(fid const& object) {
    Lock const lock(faults().mutex);
    return *given_tables<Table>().at(&object);
}

/// The object's own copy of its table, which stays as long as the process, to be changed. The
/// provider's may be longer than the headers say.
template <class Table> Table& replace(fid const& object, Table*& table) {
    Lock const lock(faults().mutex);
    given_tables<Table>()[&object] = table;
    auto* const copy = static_cast<Table*>(std::calloc(1, std::max(table->size, sizeof(Table))));
    std::memcpy(static_cast<void*>(copy), table, table->size);
    static auto& kept = *new std::vector<void*>;  // For those who look for leaks.
    kept.push_back(copy);
    table = copy;
    return *copy;
}

// ---- What is between ---------------------------------------------------------------------------

ssize_t send(fid_ep* endpoint, void const* bytes, std::size_t count, void* descriptor,
             fi_addr_t peer, void* context) {
    if (faults().is_busy()) return -FI_EAGAIN;
    return given<fi_ops_msg>(endpoint->fid).send(endpoint, bytes, count, descriptor, peer, context);
}

ssize_t recv(fid_ep* endpoint, void* memory, std::size_t bytes, void* descriptor, fi_addr_t peer,
             void* context) {
    if (faults().is_busy()) return -FI_EAGAIN;
    return given<fi_ops_msg>(endpoint->fid)
        .recv(endpoint, memory, bytes, descriptor, peer, context);
}

ssize_t writedata(fid_ep* endpoint, void const* bytes, std::size_t count, void* descriptor,
                  std::uint64_t data, fi_addr_t peer, std::uint64_t address, std::uint64_t key,
                  void* context) {
    if (faults().is_busy()) return -FI_EAGAIN;
    {
        Lock const lock(faults().mutex);
        faults().shortened += count >= write_least;
    }
    return given<fi_ops_rma>(endpoint->fid)
        .writedata(endpoint, bytes, count, descriptor, data, peer, address, key, context);
}

int open_endpoint(fid_domain* domain, fi_info* info, fid_ep** endpoint, void* context) {
    int const code = given<fi_ops_domain>(domain->fid).endpoint(domain, info, endpoint, context);
    if (code != 0) return code;
    fid_ep& its = **endpoint;
    auto& messages = replace(its.fid, its.msg);
    messages.send = send;
    messages.recv = recv;
    replace(its.fid, its.rma).writedata = writedata;
    return 0;
}

ssize_t read_queue(fid_cq* queue, void* to, std::size_t count) {
    Lock const lock(faults().mutex);
    std::array<fi_cq_data_entry, 32> real_ones;
    ssize_t const code =
        given<fi_ops_cq>(queue->fid).read(queue, real_ones.data(), real_ones.size());
    for (ssize_t i = 0; i < code; ++i) faults().hold(queue, real_ones[static_cast<std::size_t>(i)]);
    auto const brought = faults().bring(queue, static_cast<fi_cq_data_entry*>(to), count);
    if (brought > 0) return static_cast<ssize_t>(brought);
    return code < 0 ? code : -FI_EAGAIN;
}

int open_queue(fid_domain* domain, fi_cq_attr* attributes, fid_cq** queue, void* context) {
    if (attributes->format != FI_CQ_FORMAT_DATA) return -FI_ENOSYS;
    int const code = given<fi_ops_domain>(domain->fid).cq_open(domain, attributes, queue, context);
    if (code != 0) return code;
    Lock const lock(faults().mutex);
    faults().held.erase(*queue);  // Of one that was closed, and was there before.
    replace((*queue)->fid, (*queue)->ops).read = read_queue;
    return 0;
}

int register_memory(fid* domain, void const* memory, std::size_t bytes, std::uint64_t access,
                    std::uint64_t offset, std::uint64_t key, std::uint64_t flags,
                    fid_mr** registered, void* context) {
    {
        Lock const lock(faults().mutex);
        faults().registrations += faults().refuses_registrations;
        if (faults().refuses_registrations) return -FI_ENOMEM;
    }
    return given<fi_ops_mr>(*domain).reg(domain, memory, bytes, access, offset, key, flags,
                                         registered, context);
}

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context) {
    int const code = given<fi_ops_fabric>(fabric->fid).domain(fabric, info, domain, context);
    if (code != 0) return code;
    fid_domain& its = **domain;
    auto& functions = replace(its.fid, its.ops);
    functions.cq_open = open_queue;
    functions.endpoint = open_endpoint;
    replace(its.fid, its.mr).reg = register_memory;
    return 0;
}

/// Who sleeps would miss what is held.
int trywait(fid_fabric* fabric, fid** objects, int count) {
    bool const holds_any =
        std::any_of(objects, objects + count, [](fid* one) { return faults().holds_any_of(one); });
    if (holds_any) return -FI_EAGAIN;
    return given<fi_ops_fabric>(fabric->fid).trywait(fabric, objects, count);
}

std::size_t longest_write() {
    Lock const lock(faults().mutex);
    if (faults().refuses_registrations) return SIZE_MAX;
    static std::size_t const bytes = write_least + faults().random() % (write_most - write_least);
    return bytes;
}

}  // namespace

// ---- What the library looks up -----------------------------------------------------------------

#define SEEN extern "C" __attribute__((visibility("default")))

SEEN int fi_getinfo(std::uint32_t version, char const* node, char const* service,
                    std::uint64_t flags, fi_info const* hints, fi_info** info) {
    int const code = real().get_info(version, node, service, flags, hints, info);
    if (code != 0) return code;
    for (fi_info* one = *info; one; one = one->next)
        one->ep_attr->max_msg_size = std::min(one->ep_attr->max_msg_size, longest_write());
    return 0;
}

SEEN int fi_fabric(fi_fabric_attr* attributes, fid_fabric** fabric, void* context) {
    int const code = real().open_fabric(attributes, fabric, context);
    if (code != 0) return code;
    auto& functions = replace((*fabric)->fid, (*fabric)->ops);
    functions.domain = open_domain;
    functions.trywait = trywait;
    return 0;
}

SEEN void fi_freeinfo(fi_info* info) { real().free_info(info); }
SEEN fi_info* fi_dupinfo(fi_info const* info) { return real().dup_info(info); }
SEEN char const* fi_strerror(int code) { return real().text_of(code); }
SEEN std::uint32_t fi_version() { return real().version_of(); }
