// What comes from the socket of a device that is served to other hosts: a greeting, a claim and an
// answer of somebody who does not know the secret, and then messages of FUSE, which libfuse would
// believe.
#include "device/fuse/message.hpp"
#include "device/fuse/secret.hpp"
#include "fuzz.hpp"

#include <linux/fuse.h>

namespace sluice::fuzz {
namespace {

using device::MessageCheck;
using device::Verdict;

void begin(MessageCheck& check) {
    struct {
        fuse_in_header header{};
        fuse_init_in init{};
    } first;
    first.header.len = sizeof first;
    first.header.opcode = FUSE_INIT;
    first.init.major = FUSE_KERNEL_VERSION;
    first.init.minor = FUSE_KERNEL_MINOR_VERSION;
    auto const verdict = check(reinterpret_cast<char const*>(&first), sizeof first);
    require(verdict.kind == Verdict::Kind::serve, "the first message of a kernel is served");
}

/// The next message of the input: its length is mostly right, so that the rest is looked at.
std::vector<std::byte> next_message(Input& input) {
    auto const length = input.take<std::uint16_t>();
    auto message = input.take_copy(length % 1024);
    auto const size = static_cast<std::uint32_t>(message.size());
    if (length < 0x8000 && size >= sizeof size) std::memcpy(message.data(), &size, sizeof size);
    return message;
}

void try_messages(Input input) {
    MessageCheck check;
    if (input.take<std::uint8_t>() % 2 == 0) begin(check);
    while (!input.empty()) {
        auto const message = next_message(input);
        auto const* const bytes = reinterpret_cast<char const*>(message.data());
        Verdict const verdict = check(bytes, message.size());
        require((verdict.kind == Verdict::Kind::refuse) == (verdict.error != 0),
                "who is refused is told an error");
        if (verdict.kind == Verdict::Kind::end) return;
        require(message.size() >= sizeof(fuse_in_header), "what is answered has a header");
        std::string_view const rest(bytes, message.size());
        (void)device::error_of_name(rest.substr(sizeof(fuse_in_header)));
    }
}

void try_strangers(Input input) {
    constexpr std::string_view secret = "nobody who calls knows it";
    auto const greeting = input.take<device::Greeting>();
    auto const claim = input.take<device::Claim>();
    auto const answer = input.take<device::Answer>();
    (void)device::is_greeting(greeting);
    require(!device::proves(secret, greeting, claim), "a stranger proves nothing");
    require(!device::proves(secret, greeting, claim, answer), "a stranger's answer neither");
    auto const own = device::claim_for(secret, greeting);
    require(device::proves(secret, greeting, own), "who knows the secret proves it");
}

}  // namespace
}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    sluice::fuzz::try_messages({data, size});
    // It computes digests, which take long beside all else: short inputs are enough for it.
    if (size < 128) sluice::fuzz::try_strangers({data, size});
    return 0;
}
