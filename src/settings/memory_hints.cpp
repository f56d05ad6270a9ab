// See memory_hints.hpp.
#include "settings/memory_hints.hpp"

#include "settings/words.hpp"

#include <array>
#include <bit>
#include <charconv>

namespace sluice {
namespace {

using Handle = std::array<unsigned char, sizeof(std::uintptr_t)>;

/// Takes a number from the front of the text.
std::optional<unsigned> take_number(std::string_view& text, std::size_t digits, int base) noexcept {
    unsigned number = 0;
    char const* const begin = text.data();
    auto const [end, error] =
        std::from_chars(begin, begin + std::min(digits, text.size()), number, base);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - begin));
    return number;
}

/// Takes "[n]", of which the first character is there.
std::optional<std::size_t> take_zeros(std::string_view& text) noexcept {
    text.remove_prefix(1);
    auto const count = take_number(text, 2, 10);
    if (!count || !text.starts_with(']')) return std::nullopt;
    text.remove_prefix(1);
    return *count;
}

/// Whether memory of the kind is the host's: "system", or such as "cuda:host:managed".
bool is_of_host(std::string_view kind) {
    constexpr std::array<std::string_view, 3> of_host = {"host", "managed", "shared"};
    auto colon = kind.find(':');
    auto const name = kind.substr(0, colon);
    if (name == "system" || name == "mpi") return true;
    while (colon < kind.size()) {
        kind.remove_prefix(colon + 1);
        colon = kind.find(':');
        if (std::ranges::find(of_host, kind.substr(0, colon)) == of_host.end()) return false;
        if (colon == std::string_view::npos) return true;
    }
    return false;
}

}  // namespace

bool MemoryHints::may_be_on_device() const {
    return alloc_kinds.empty() || !for_each_word(alloc_kinds, is_of_host);
}

MemoryHints read_memory_hints(Lookup const& info, MemoryHints hints,
                              std::vector<Complaint>& complaints) {
    if (auto kinds = info("mpi_assert_memory_alloc_kinds")) hints.alloc_kinds = std::move(*kinds);
    auto const name = info("type");
    auto const type = name ? stream_type(*name) : std::nullopt;
    if (name == "none") hints.stream = {};
    if (!type) return hints;
    auto const text = info("value");
    auto const handle = text ? parse_handle(*text) : std::nullopt;
    if (handle) {
        hints.stream = {*type, *handle};
    } else {
        complaints.push_back({"value", "value=" + text.value_or("") +
                                           " is no stream as MPIX_Info_set_hex writes it; it is "
                                           "ignored, as is type=" +
                                           *name});
    }
    return hints;
}

std::optional<ProgramStream::Type> stream_type(std::string_view name) noexcept {
    if (name == "cudaStream_t") return ProgramStream::Type::cuda;
    if (name == "hipStream_t") return ProgramStream::Type::hip;
    return std::nullopt;
}

std::optional<std::uintptr_t> parse_handle(std::string_view digits) noexcept {
    Handle bytes{};
    std::size_t at = 0;
    while (!digits.empty() && at < bytes.size()) {
        bool const are_zeros = digits.front() == '[';
        auto const length = digits.size();
        if (are_zeros) {
            auto const zeros = take_zeros(digits);
            if (!zeros || *zeros == 0) return std::nullopt;
            at += *zeros;
        } else {
            auto const byte = take_number(digits, 2, 16);
            if (!byte || length - digits.size() != 2) return std::nullopt;
            bytes[at++] = static_cast<unsigned char>(*byte);
        }
    }
    if (!digits.empty() || at != bytes.size()) return std::nullopt;
    return std::bit_cast<std::uintptr_t>(bytes);
}

}  // namespace sluice
