// FabricWrites are the writes of one send into memory that its receive has shown: of its parts one
// after the other, each in as many pieces as the wire needs. A long send without parts is written
// as one part.
#pragma once
#include "transport/fabric_header.hpp"
#include "transport/fabric_wire.hpp"

namespace sluice {

class FabricWrites {
public:
    FabricWrites() = default;
    /// `parts`, and what they point to, live until all writes have ended.
    explicit FabricWrites(std::span<PlacedPart const> parts) noexcept : parts_(parts) {}
    explicit FabricWrites(std::span<std::byte const> all) noexcept
        : all_{all.data(), 0, static_cast<Bytes>(all.size())} {}

    /// Where they go; `receive`: the receiver's number for the receive.
    void begin(FabricTarget const& place, std::uint32_t receive, FabricWire const& wire) noexcept;
    /// `context`: what the wire gives back.
    [[nodiscard]] WireResult post_next(FabricWire& wire, FabricIndex peer, void* context);
    void end_one() noexcept { --under_way_; }

    /// How many there are in all; 0: none has begun.
    [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
    /// Of all of them.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    /// Whether the only one says how long it is. Else the receiver must be told how many come.
    [[nodiscard]] bool says_bytes() const noexcept { return says_bytes_; }
    [[nodiscard]] bool all_went() const noexcept { return part_ >= parts().size(); }
    [[nodiscard]] bool any_under_way() const noexcept { return under_way_ > 0; }

private:
    [[nodiscard]] std::span<PlacedPart const> parts() const noexcept {
        return parts_.empty() ? std::span(&all_, 1) : parts_;
    }

    std::span<PlacedPart const> parts_;
    PlacedPart all_;
    std::size_t part_ = 0;     ///< Which part is written next,
    std::uint64_t front_ = 0;  ///< and from where on.
    FabricTarget place_;
    std::uint64_t bytes_ = 0;
    std::uint32_t receive_ = 0, count_ = 0, under_way_ = 0;
    bool says_bytes_ = false;
};

}  // namespace sluice
