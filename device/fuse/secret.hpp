// Who knows the secret. It never crosses the network: each side sends a random challenge, and
// proves by a digest of both (HMAC-SHA-256) that it knows it. What follows is neither encrypted nor
// authenticated.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::device {

using Digest = std::array<unsigned char, 32>;

[[nodiscard]] Digest sha256(std::string_view bytes);
[[nodiscard]] Digest hmac_sha256(std::string_view key, std::string_view bytes);
/// Takes as long wherever the two differ.
[[nodiscard]] bool same(Digest const& one, Digest const& other);
/// Random bytes of the kernel.
[[nodiscard]] Digest random_bytes();

/// The value of SLUICE_DEVICE_SECRET, else what is in the file (empty: ~/.sluice-device-secret),
/// which only its owner may read. If `make`, a file that is not there is made, with a random
/// secret. Nothing with a reason. `from` says where it was.
[[nodiscard]] std::optional<std::string> find_secret(std::string file, bool make, std::string& from,
                                                     std::string& why);

/// What the two sides of a new connection send: the server its greeting, the client its claim, the
/// server its answer.
struct Greeting {
    std::array<char, 8> magic{};
    Digest challenge{};
};
struct Claim {
    Digest challenge{}, proof{};
};
struct Answer {
    std::uint32_t status = 0;  ///< accepted or full
    Digest proof{};
};
constexpr std::uint32_t accepted = 0, full = 1;

[[nodiscard]] Greeting new_greeting();
[[nodiscard]] bool is_greeting(Greeting const& greeting);
[[nodiscard]] Claim claim_for(std::string_view secret, Greeting const& greeting);
[[nodiscard]] bool proves(std::string_view secret, Greeting const& greeting, Claim const& claim);
[[nodiscard]] Answer answer_to(std::string_view secret, Greeting const& greeting,
                               Claim const& claim, std::uint32_t status);
[[nodiscard]] bool proves(std::string_view secret, Greeting const& greeting, Claim const& claim,
                          Answer const& answer);

}  // namespace sluice::device
