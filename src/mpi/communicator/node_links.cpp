// How ranks come to know each other on a fabric. See node_links.hpp.
#include "mpi/communicator/node_links.hpp"

#include "base/mixed.hpp"
#include "mpi/progress/progress.hpp"
#include "mpi/progress/threads.hpp"
#include "mpi/ranks.hpp"
#include "system/clock.hpp"
#include "system/environment.hpp"
#include "system/launcher.hpp"
#include "system/log.hpp"
#include "transport/fabric_offers.hpp"
#include "transport/mpi.hpp"

#include <algorithm>
#include <sched.h>

namespace sluice {
namespace {

constexpr double trial_patience_seconds = 10;  ///< With the trial messages of neighbouring nodes.
constexpr double answer_seconds = 1;           ///< Until answers to them are sent.
constexpr int try_tag = 0;
/// Contexts of a communicator's own messages: names of other communicators are larger numbers.
constexpr std::uint64_t trial_context = 1, files_context = 2;

/// The one that the settings name, or that is tested; null: messages go over the MPI.
FabricOffer const* chosen_offer() {
    NetworkSetting const& network = settings().network;
    if (network.way == NetworkSetting::Way::mpi) return nullptr;
    if (settings().libfabric != "none") open_as_fabric(settings().libfabric);
    FabricOffer const* const best = fabric_offers().best(network.provider);
    bool const asked_for = network.way == NetworkSetting::Way::fabric;
    return best && (asked_for || best->is_tested) ? best : nullptr;
}

struct Opened {
    std::unique_ptr<Fabric> fabric;
    std::string why;
};

Opened open_fabric(Rank peers) {
    Opened opened;
    FabricOffer const* const offer = chosen_offer();
    if (!offer) {
        std::string const& wanted = settings().network.provider;
        opened.why = "no provider" + (wanted.empty() ? "" : " " + wanted) +
                     " of libfabric can be used; `sluice info` says why";
        return opened;
    }
    auto const most = static_cast<std::size_t>(std::max<long>(peers, launched().ranks));
    opened.fabric = Fabric::open({offer->provider, most, settings().peer_seconds}, opened.why);
    if (!opened.fabric) {
        opened.why = offer->provider + ": " + opened.why;
        return opened;
    }
    note("messages between nodes go over libfabric: " + offer->provider + ", " +
         opened.fabric->address_text());
    opened.fabric->when_lost = [](FabricCard const& lost) {
        warn("rank " + std::to_string(lost.rank) + " on " + lost.host_name.data() +
                 " cannot be reached over the fabric any more: operations with it end with errors",
             true);
    };
    Progress::instance().use(*opened.fabric);
    return opened;
}

/// The fabric of this process. It stays until the process ends, because peers may still read what
/// it sent. `peers`: how many there will be; the first call decides. Null: none can be opened.
Fabric* process_fabric(Rank peers) {
    static auto* const only = [&] {
        auto* const opened = new Opened(open_fabric(peers));
        if (!opened->fabric) warn("no messages go over libfabric: " + opened->why);
        return opened;
    }();
    return only->fabric.get();
}

FabricCard card_of(Fabric const* fabric) {
    if (!fabric) return {};
    FabricCard card = fabric->card();
    card.rank = world_rank();
    return card;
}

bool are_alike(std::vector<FabricCard> const& cards) {
    return std::all_of(cards.begin(), cards.end(), [&](FabricCard const& card) {
        return card.name != 0 && card.provider == cards.front().provider;
    });
}

/// Peers wait for answers to their messages, and nobody makes progress after the trial.
void send_answers(Fabric& fabric) {
    SteadyClock clock;
    double const begin = clock.now();
    while (fabric.has_unsent() && clock.now() - begin < answer_seconds) {
        if (!fabric.progress()) sched_yield();
    }
}

/// Takes those out of `messages` that end in time. False where one fails, or does not end.
bool all_end(Fabric& fabric, Network& network, std::vector<Message>& messages) {
    SteadyClock clock;
    double const begin = clock.now();
    bool has_failed = false;
    while (!messages.empty() && clock.now() - begin < trial_patience_seconds) {
        if (!fabric.progress()) sched_yield();
        std::erase_if(messages, [&](Message& message) {
            if (!network.finished(message)) return false;
            has_failed |= message.failed();
            return true;
        });
    }
    return messages.empty() && !has_failed;
}

/// The rank on the next node to which this one sends in the trial.
Rank trial_target(Topology const& topology, Rank rank) {
    Node const next = (topology.node_of(rank) + 1) % topology.node_count();
    return topology.rank_at(next, topology.local_index(rank) % topology.local_count(next));
}

}  // namespace

bool fabric_is_offered() { return chosen_offer() != nullptr; }

/// One message to the next node and those from the node before, so that an address that leads
/// nowhere is found before anything depends on it.
bool NodeLinks::gets_through(Topology const& topology, Rank self) const {
    auto const context = mixed(name_, trial_context);
    FabricNetwork network(*fabric_, context, peers_);
    std::vector<std::uint64_t> words(static_cast<std::size_t>(topology.rank_count()));
    auto const word_of = [&](Rank rank) {
        return std::as_writable_bytes(std::span(&words[static_cast<std::size_t>(rank)], 1));
    };
    std::vector<Message> messages{
        network.start_send(trial_target(topology, self), try_tag, word_of(self), true)};
    for (Rank rank = 0; rank < topology.rank_count(); ++rank) {
        if (trial_target(topology, rank) == self)
            messages.push_back(network.start_recv(rank, try_tag, word_of(rank)));
    }
    bool const all_went = all_end(*fabric_, network, messages);
    if (!messages.empty()) fabric_->end(context, peers_, false);
    for (Message& message : messages) (void)network.finished(message);  // Their memory ends here.
    send_answers(*fabric_);
    return all_went;
}

/// Leaves no fabric, on all ranks, where one of them has none or does not get through.
bool NodeLinks::join_fabric(MPI_Comm communicator, Topology const& topology) {
    if (settings().network.way == NetworkSetting::Way::mpi) return false;
    bool const asked_for = settings().network.way == NetworkSetting::Way::fabric;
    if (asked_for || fabric_is_offered()) fabric_ = process_fabric(topology.rank_count());
    FabricCard const mine = card_of(fabric_);
    std::vector<FabricCard> cards(static_cast<std::size_t>(topology.rank_count()));
    PMPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards.data(), sizeof mine, MPI_BYTE, communicator);
    if (!fabric_ || !are_alike(cards)) return false;
    for (FabricCard const& card : cards) peers_.push_back(fabric_->meet(card));
    bool const through = gets_through(topology, rank_in(communicator));
    if (!through) {
        warn("rank " + std::to_string(world_rank()) + " on " + mine.host_name.data() + " (" +
                 fabric_->address_text() +
                 ") gets no message to or from another node over the fabric; FI_TCP_IFACE names "
                 "the network interface of the provider tcp",
             true);
    }
    return all_agree(through, communicator);
}

/// Over the MPI its calls are made by the helper.
bool NodeLinks::connect(MPI_Comm communicator, Topology const& topology, std::uint64_t name) {
    name_ = name;
    if (join_fabric(communicator, topology)) {
        of_files_ = std::make_unique<FabricNetwork>(*fabric_, mixed(name, files_context), peers_);
        return true;
    }
    fabric_ = nullptr;
    of_files_ = std::make_unique<MpiNetwork>(communicator);
    if (all_agree(thread_multiple(), communicator)) return true;
    warn("several nodes need MPI_THREAD_MULTIPLE, which this MPI or program does not give, or "
         "libfabric, which cannot be used here (`sluice info`): the MPI serves the files itself");
    return false;
}

std::unique_ptr<Network> NodeLinks::network(std::uint64_t name,
                                            std::vector<Rank> const& ranks) const {
    if (!fabric_) return nullptr;
    std::vector<FabricIndex> its;
    for (Rank const rank : ranks) its.push_back(peers_[static_cast<std::size_t>(rank)]);
    return std::make_unique<FabricNetwork>(*fabric_, mixed(name_, name), std::move(its));
}

}  // namespace sluice
