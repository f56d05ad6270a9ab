// Descriptions that people write: the profile of a machine, a storage device, and the errors that a
// device is to have. The same text is given to all three parsers.
#include "base/machine.hpp"
#include "device/model/device.hpp"
#include "device/model/fault_rules.hpp"
#include "fuzz.hpp"

#include <cmath>

namespace sluice::fuzz {
namespace {

void try_machine(std::string const& text) {
    std::string why, why_again;
    auto const machine = machine_described(text, why);
    require(machine.has_value() == why.empty(), "an error is told where there is no profile", why);
    if (!machine) return;
    for (auto const* const costs : {&machine->sequential, &machine->random}) {
        for (RequestCosts const& one : *costs)
            require(!std::isnan(one.seconds(65536, 3)), "a cost is a number", text);
    }
    auto const again = machine_described(describe(*machine), why_again);
    require(again.has_value(), "a profile that was written is read again", why_again);
    require(again->measured.empty() == machine->measured.empty(), "it stays measured", text);
    for (std::size_t const way : {std::size_t{0}, std::size_t{1}}) {
        require(again->random[way].depths.size() == machine->random[way].depths.size(),
                "it has the same numbers of clients", text);
    }
}

void try_device(std::string const& text) {
    std::string why, why_again;
    auto const device = device_described(text, why);
    require(device.has_value() == why.empty(), "an error is told where there is no device", why);
    if (!device) return;
    auto const again = device_described(describe(*device), why_again);
    require(again.has_value(), "a device that was written is read again", why_again);
    require(again->sequential_bytes == device->sequential_bytes, "sizes are written whole", text);
    require(!describe_speed(*device).empty(), "its speed has a text");
    DeviceClock clock(*device);
    double now = 0;
    for (int i = 0; i < 8; ++i) {
        auto const direction = i % 2 == 0 ? Direction::write : Direction::read;
        double const done = clock.serve(now, {direction, 1, Offset{4096} * (i % 3), 4096});
        require(done >= now, "an access ends after it has begun", text);
        now = done;
    }
    require(clock.flush(now) >= now, "a flush ends after it has begun", text);
}

void try_faults(std::string const& text) {
    std::string why;
    auto const rules = parse_faults(text, why);
    require(rules.has_value() == why.empty(), "an error is told where there are no rules", why);
    if (!rules) return;
    require(rules->size() <= text.size(), "each rule has a part of the text", text);
    FaultRules counted(*rules);
    for (int i = 0; i < 4; ++i) (void)counted.next(FaultPlace::write);
}

}  // namespace
}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    auto const text = sluice::fuzz::text_of(data, size);
    sluice::fuzz::try_machine(text);
    sluice::fuzz::try_device(text);
    sluice::fuzz::try_faults(text);
    return 0;
}
