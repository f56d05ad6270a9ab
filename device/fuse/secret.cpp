// SHA-256 (FIPS 180-4), HMAC (RFC 2104), and the file of the secret. See secret.hpp.
#include "device/fuse/secret.hpp"

#include "base/round_up.hpp"

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice::device {
namespace {

constexpr std::size_t block_bytes = 64;
constexpr std::size_t secret_bytes_min = 16;

constexpr std::array<std::uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<std::uint32_t, 8>;

void add_block(State& state, char const* block) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < block_bytes; ++i)
        w[i / 4] = w[i / 4] << 8 | static_cast<unsigned char>(block[i]);
    for (std::size_t i = 16; i < w.size(); ++i) {
        auto const a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < w.size(); ++i) {
        auto const one = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                         ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
        auto const two =
            (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
    }
    State const now = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state[i] += now[i];
}

std::string_view view(Digest const& digest) {
    return {reinterpret_cast<char const*>(digest.data()), digest.size()};
}

constexpr std::array<char, 8> protocol = {'s', 'l', 'u', 'i', 'c', 'e', 'd', '1'};

/// The words keep one side's proof from being used as the other's.
Digest proof_of(std::string_view secret, char const* side, Greeting const& greeting,
                Digest const& challenge, std::uint32_t status) {
    std::string text = side;
    text.append(view(greeting.challenge)).append(view(challenge)).append(std::to_string(status));
    return hmac_sha256(secret, text);
}

std::string new_secret() {
    std::string text;
    for (unsigned char const byte : random_bytes())
        text += "0123456789abcdef"[byte >> 4], text += "0123456789abcdef"[byte & 15];
    return text;
}

/// An open file's secret: its first line.
std::optional<std::string> read_secret(int fd, std::string const& file, std::string& why) {
    struct stat s{};
    char buffer[4096];
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || (s.st_mode & 077) != 0) {
        why = file + " may be read by others: chmod 600 " + file;
        return std::nullopt;
    }
    auto const bytes = ::read(fd, buffer, sizeof buffer);
    std::string secret(buffer, bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    secret.resize(std::min(secret.find('\n'), secret.size()));
    if (secret.size() >= secret_bytes_min) return secret;
    why = file + " holds no secret: at least " + std::to_string(secret_bytes_min) +
          " characters in one line";
    return std::nullopt;
}

/// Under another name first, so that nobody finds it without its contents. Who comes second reads
/// what the first has written.
bool make_file(std::string const& file) {
    std::string const text = new_secret() + "\n", unready = file + "." + new_secret().substr(0, 16);
    int const fd = ::open(unready.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return false;
    bool const written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::close(fd);
    bool const there = written && (link(unready.c_str(), file.c_str()) == 0 || errno == EEXIST);
    int const error = errno;
    unlink(unready.c_str());
    errno = error;
    return there;
}

}  // namespace

Digest sha256(std::string_view bytes) {
    State state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::string text(bytes);
    text += '\x80';
    text.resize(round_up(text.size() + 8, block_bytes));
    for (std::size_t i = 0; i < 8; ++i)
        text[text.size() - 1 - i] = static_cast<char>(bytes.size() * 8 >> 8 * i);
    for (std::size_t at = 0; at < text.size(); at += block_bytes) add_block(state, &text[at]);
    Digest result{};
    for (std::size_t i = 0; i < result.size(); ++i)
        result[i] = static_cast<unsigned char>(state[i / 4] >> (24 - 8 * (i % 4)));
    return result;
}

Digest hmac_sha256(std::string_view key, std::string_view bytes) {
    std::string inner(key.size() > block_bytes ? view(sha256(key)) : key);
    inner.resize(block_bytes);
    std::string outer = inner;
    for (char& c : inner) c = static_cast<char>(c ^ 0x36);
    for (char& c : outer) c = static_cast<char>(c ^ 0x5c);
    return sha256(outer.append(view(sha256(inner.append(bytes)))));
}

bool same(Digest const& one, Digest const& other) {
    unsigned char volatile difference = 0;
    for (std::size_t i = 0; i < one.size(); ++i)
        difference = static_cast<unsigned char>(difference | (one[i] ^ other[i]));
    return difference == 0;
}

Digest random_bytes() {
    Digest result{};
    // So few bytes come whole; without randomness there is no secret to go on with.
    if (getrandom(result.data(), result.size(), 0) != static_cast<ssize_t>(result.size())) abort();
    return result;
}

std::optional<std::string> find_secret(std::string file, bool make, std::string& from,
                                       std::string& why) {
    char const* const given = std::getenv("SLUICE_DEVICE_SECRET");
    if (file.empty() && given != nullptr) {
        from = "SLUICE_DEVICE_SECRET";
        std::string secret = given;
        if (secret.size() >= secret_bytes_min) return secret;
        why = from + " is too short: at least " + std::to_string(secret_bytes_min) + " characters";
        return std::nullopt;
    }
    char const* const home = std::getenv("HOME");
    if (file.empty() && home != nullptr) file = std::string(home) + "/.sluice-device-secret";
    from = file;
    int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT && make && make_file(file))
        fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        why = "no secret in '" + file + "' (" + std::strerror(errno) +
              "): the server makes it; give the same to all with --secret-file or "
              "SLUICE_DEVICE_SECRET";
        return std::nullopt;
    }
    auto secret = read_secret(fd, file, why);
    ::close(fd);
    return secret;
}

Greeting new_greeting() { return {protocol, random_bytes()}; }

bool is_greeting(Greeting const& greeting) { return greeting.magic == protocol; }

Claim claim_for(std::string_view secret, Greeting const& greeting) {
    Digest const challenge = random_bytes();
    return {challenge, proof_of(secret, "client", greeting, challenge, 0)};
}

bool proves(std::string_view secret, Greeting const& greeting, Claim const& claim) {
    return same(claim.proof, proof_of(secret, "client", greeting, claim.challenge, 0));
}

Answer answer_to(std::string_view secret, Greeting const& greeting, Claim const& claim,
                 std::uint32_t status) {
    return {status, proof_of(secret, "server", greeting, claim.challenge, status)};
}

bool proves(std::string_view secret, Greeting const& greeting, Claim const& claim,
            Answer const& answer) {
    return same(answer.proof, proof_of(secret, "server", greeting, claim.challenge, answer.status));
}

}  // namespace sluice::device
