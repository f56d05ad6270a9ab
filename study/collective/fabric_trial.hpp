// An endpoint of libfabric for what the library's messages do not use: counters of a peer that are
// raised without a message, and datagrams to a multicast group. The outlook of "Nonblocking
// collectives over InfiniBand" hopes for both (row I9).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace sluice::collectives {

/// Where a process is, and where its counters are; trivially copyable.
struct TrialCard {
    static constexpr std::size_t counters_most = 8;
    std::array<std::byte, 64> address{};
    std::uint32_t address_bytes = 0;  ///< 0: it has none.
    std::array<std::uint64_t, counters_most> keys{}, addresses{};
};

/// How a counter of a peer is raised.
enum class Raising {
    by_data,    ///< A write without bytes, whose data says which counter.
    by_atomic,  ///< An atomic addition to a word of the peer's.
    by_event,   ///< A write to memory whose writes the provider counts.
};
[[nodiscard]] char const* describe(Raising raising) noexcept;

/// Counters of this process that peers raise.
class FabricCounters {
public:
    /// Null, and the provider's answer, where it refuses.
    [[nodiscard]] static std::unique_ptr<FabricCounters> open(std::string const& provider,
                                                              Raising raising, std::string& why);
    virtual ~FabricCounters() = default;
    [[nodiscard]] virtual TrialCard const& card() const noexcept = 0;
    /// Peers are numbered in this order.
    virtual bool meet(TrialCard const& peer) = 0;
    /// False: the peer cannot be reached.
    virtual bool raise(std::size_t peer, std::size_t counter) = 0;
    /// How often it was raised. Makes progress.
    virtual std::uint64_t raised(std::size_t counter) = 0;
    /// Until something may have come for the counter, where the provider can tell.
    virtual void sleep(std::size_t counter) = 0;
};

/// Datagrams between the members of a multicast group.
class FabricGroup {
public:
    /// `datagrams`: whether such an endpoint is asked for, or a reliable one. Null, and which call
    /// had which answer, where the provider refuses.
    [[nodiscard]] static std::unique_ptr<FabricGroup> join(std::string const& provider,
                                                           bool datagrams, std::string& why);
    virtual ~FabricGroup() = default;
    /// The longest one.
    [[nodiscard]] virtual std::size_t most() const noexcept = 0;
    /// To all members; false, and why: it was refused.
    virtual bool send(std::span<std::byte const> bytes, std::string& why) = 0;
    /// Into this memory, until took() said that one came.
    virtual bool expect(std::span<std::byte> bytes) = 0;
    /// True once for each that came.
    virtual bool took() = 0;
};

}  // namespace sluice::collectives
