// What all fuzz programs share: how an input is taken apart, and how a property that does not hold
// ends the program, so that libFuzzer keeps the input.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::fuzz {

/// Ends the program where a parser has not kept what it promises.
inline void require(bool holds, char const* promise, std::string_view about = {}) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n%.*s\n", promise, static_cast<int>(about.size()),
                 about.data());
    std::abort();
}

/// An input, of which values are taken from the front. Behind its end all values are zeros.
class Input {
public:
    Input(std::uint8_t const* data, std::size_t size) noexcept
        : left_(std::as_bytes(std::span(data, size))) {}

    [[nodiscard]] bool empty() const noexcept { return left_.empty(); }
    template <class Value> Value take() noexcept {
        Value value{};
        take_into(&value, sizeof value);
        return value;
    }
    /// Fills memory as far as the input goes, and leaves the rest of it as it is.
    void take_into(void* memory, std::size_t bytes) noexcept {
        auto const part = take_bytes(bytes);
        if (!part.empty()) std::memcpy(memory, part.data(), part.size());
    }
    /// At most so many.
    std::span<std::byte const> take_bytes(std::size_t most) noexcept {
        auto const part = left_.first(std::min(most, left_.size()));
        left_ = left_.subspan(part.size());
        return part;
    }
    /// A copy, so that the sanitizer sees who reads behind its end.
    std::vector<std::byte> take_copy(std::size_t most) {
        auto const part = take_bytes(most);
        return {part.begin(), part.end()};
    }
    std::span<std::byte const> take_rest() noexcept { return take_bytes(left_.size()); }

private:
    std::span<std::byte const> left_;
};

inline std::string text_of(std::uint8_t const* data, std::size_t size) {
    return {reinterpret_cast<char const*>(data), size};
}

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);
