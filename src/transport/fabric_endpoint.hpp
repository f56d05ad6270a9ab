// A FabricEndpoint is a FabricWire by libfabric: one endpoint of the process, with slots for the
// messages that come and go, which the provider knows from the beginning.
#pragma once
#include "transport/fabric_messages.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sluice {

/// A provider of libfabric and whether the library can work with it.
struct FabricOffer {
    std::string provider;
    std::string why_not;     ///< Empty: it can.
    bool is_tested = false;  ///< Others are only taken when a user asks for them.
};

struct FabricOffers {
    std::string library;  ///< Its path and version; or why there is none.
    std::vector<FabricOffer> all;

    /// The one that is taken where a user says `wanted`, or nothing in particular; null: none.
    [[nodiscard]] FabricOffer const* best(std::string const& wanted) const;
};

/// What the machine has. Asks libfabric once.
[[nodiscard]] FabricOffers const& fabric_offers();
/// For a process that has an MPI loaded privately: a function of its library, beside which
/// libfabric is looked for. Before anything else is asked.
void look_for_fabric_beside(void* function);
/// For tests: this file is opened, and nothing else is looked for. Before anything else is asked.
void open_as_fabric(std::string const& file);

class FabricEndpoint : public FabricWire {
public:
    struct Options {
        std::string provider;
        std::size_t peers = 1;         ///< How many there will be, more or less.
        double patience_seconds = 60;  ///< With a peer that does not answer.
    };
    /// Null, and why, where the provider refuses.
    [[nodiscard]] static std::unique_ptr<FabricEndpoint> open(Options const& options,
                                                              std::string& why);

    /// What peers must know. The key and the name are drawn when it is opened.
    [[nodiscard]] virtual FabricCard const& card() const noexcept = 0;
    /// Brings what came to `messages`. Bounded. True when there was anything.
    virtual bool progress(FabricMessages& messages) = 0;
    /// Whether the provider had no room for receives: progress() posts them again.
    [[nodiscard]] virtual bool has_unposted() const noexcept = 0;
    /// Whether the provider has sends of which it has not told the end, though for who started
    /// them they are complete: progress() moves them on.
    [[nodiscard]] virtual bool has_sends() const noexcept = 0;
    /// Polls readable when progress() may have something to do; -1: the provider has none.
    [[nodiscard]] virtual int descriptor() const noexcept = 0;
    /// Asked before a sleep on the descriptor: false where progress() has something to do.
    virtual bool may_sleep() = 0;
    /// For people: where peers find it.
    [[nodiscard]] virtual std::string address_text() const = 0;
};

}  // namespace sluice
