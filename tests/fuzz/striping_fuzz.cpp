// The extended attribute in which Lustre tells how a file is striped.
#include "base/striping.hpp"
#include "fuzz.hpp"

namespace sluice::fuzz {
namespace {

void try_layout(std::span<std::byte const> bytes) {
    constexpr std::size_t layout_bytes_most = 48;
    auto const striping = parse_lustre_layout(bytes);
    if (striping)
        require(striping->stripe_bytes > 0 && striping->stripe_count > 0, "stripes have bytes");
    auto const asked = parse_lustre_request(bytes);
    for (Striping const& wanted : {Striping{}, striping.value_or(Striping{}), Striping{1, 3}}) {
        auto const layout = lustre_layout(wanted, bytes);
        require(layout.size() <= layout_bytes_most, "a layout that asks is short");
        auto const read = parse_lustre_request(layout);
        require(read.has_value(), "a layout that was made is read again");
        require(wanted.stripe_count == 0 ||
                    read->stripe_count == std::min(wanted.stripe_count, 0xFFFE),
                "it asks for so many servers");
        require(wanted.stripe_bytes == 0 || read->stripe_bytes % lustre_stripe_multiple == 0,
                "its stripes are of a length that Lustre has");
        require(wanted != Striping{} || !asked || *read == *asked, "the rest is the folder's");
    }
}

}  // namespace
}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    sluice::fuzz::Input input(data, size);
    sluice::fuzz::try_layout(input.take_copy(size));
    return 0;
}
