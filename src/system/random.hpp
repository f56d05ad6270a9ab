// Random numbers of the system, which nobody can predict.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sluice {

/// Asks the system for some at a time.
class SystemRandom {
public:
    /// 64 random bits; nothing where the system has no source of them.
    std::optional<std::uint64_t> operator()() noexcept;

private:
    std::array<std::uint64_t, 32> words_{};
    std::size_t left_ = 0;
};

}  // namespace sluice
