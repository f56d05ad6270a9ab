// How memory is shown and hidden. See shown_receives.hpp.
#include "transport/shown_receives.hpp"

namespace sluice {

std::optional<ShownReceives::Places> ShownReceives::show(FabricReceive& receive) {
    auto const memory = wire_.show({receive.data, receive.bytes});
    auto const target = receive.target.empty() ? ShownMemory{} : wire_.show(receive.target);
    receive.registrations = {memory ? memory->registration : nullptr,
                             target ? target->registration : nullptr};
    do {
        receive.number = next_++ % FabricWriteData::receives_most;
    } while (!receives_.emplace(receive.number, &receive).second);
    receive.is_shown = true;
    if (memory && target)
        return Places{{memory->address, memory->key}, {target->address, target->key}};
    hide(receive);
    return std::nullopt;
}

void ShownReceives::hide(FabricReceive& receive) {
    if (!std::exchange(receive.is_shown, false)) return;
    for (void* const registration : receive.registrations) {
        if (registration) wire_.hide(registration);
    }
    receives_.erase(receive.number);
}

}  // namespace sluice
