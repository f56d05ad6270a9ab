// How parts are cut into writes. See fabric_writes.hpp.
#include "transport/fabric_writes.hpp"

namespace sluice {

void FabricWrites::begin(FabricTarget const& place, std::uint32_t receive,
                         FabricWire const& wire) noexcept {
    place_ = place;
    receive_ = receive;
    std::uint64_t const most = wire.write_most();
    for (PlacedPart const& part : parts()) {
        auto const bytes = static_cast<std::uint64_t>(part.length);
        bytes_ += bytes;
        count_ += static_cast<std::uint32_t>((bytes + most - 1) / most);
    }
    says_bytes_ = parts_.empty() && count_ == 1 && wire.data_bits() == 64;
}

WireResult FabricWrites::post_next(FabricWire& wire, FabricIndex peer, void* context) {
    PlacedPart const& part = parts()[part_];
    auto const length = static_cast<std::uint64_t>(part.length);
    std::size_t const bytes = std::min<std::size_t>(length - front_, wire.write_most());
    std::uint64_t const data =
        FabricWriteData::pack({receive_, says_bytes_ ? bytes : 0}, wire.data_bits());
    std::uint64_t const address = place_.address + static_cast<std::uint64_t>(part.at) + front_;
    WireResult const result = wire.write(peer, {part.memory + front_, bytes}, address,
                                         place_.key_of_memory, data, context);
    if (result != WireResult::taken) return result;
    ++under_way_;
    front_ += bytes;
    if (front_ < length) return result;
    ++part_;
    front_ = 0;
    return result;
}

}  // namespace sluice
