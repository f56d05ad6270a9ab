// On which cores the library's own threads may run. Pure: masks are handed in.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

/// Cores by the system's numbers, each hardware thread one.
class Cores {
public:
    static constexpr int most = 4096;  ///< Further ones are not known here.
    using Words = std::array<std::uint64_t, most / 64>;

    void add(int core) noexcept { word(core) |= bit(core); }
    [[nodiscard]] bool contains(int core) const noexcept {
        return core >= 0 && core < most &&
               (words_[static_cast<std::size_t>(core) / 64] & bit(core)) != 0;
    }
    [[nodiscard]] int count() const noexcept;
    [[nodiscard]] bool empty() const noexcept { return count() == 0; }
    [[nodiscard]] Cores without(Cores const& others) const noexcept;
    [[nodiscard]] Cores also_in(Cores const& others) const noexcept;
    /// "2,4-7"
    [[nodiscard]] std::string text() const;
    /// As the system lays masks out, and as ranks tell them to each other.
    [[nodiscard]] Words& words() noexcept { return words_; }
    [[nodiscard]] Words const& words() const noexcept { return words_; }
    bool operator==(Cores const&) const = default;

private:
    static std::uint64_t bit(int core) noexcept {
        return std::uint64_t{1} << (static_cast<unsigned>(core) % 64);
    }
    std::uint64_t& word(int core) noexcept { return words_[static_cast<std::size_t>(core) / 64]; }
    Words words_{};
};

/// A list such as 2,4-7; nothing when it is none, or names no core.
[[nodiscard]] std::optional<Cores> parse_cores(std::string const& text);

/// What the user wants for the library's threads.
struct Affinity {
    enum class Way : std::uint8_t { inherit, spread, list };
    Way way = Way::inherit;
    Cores list;
    bool operator==(Affinity const&) const = default;
};

/// inherit, spread or a list of cores.
[[nodiscard]] std::optional<Affinity> parse_affinity(std::string const& text);

/// What `choose_cores` goes by. Empty sets are not known.
struct CoresSeen {
    Cores allowed;  ///< Of this process, when it first used the library.
    Cores online;   ///< Of the machine.
    Cores taken;    ///< Those that any rank of the node is bound to.
};

/// Where the threads may run; empty: nothing is to be said. `spread` with no core left and a list
/// of cores that are not there are as `inherit`.
[[nodiscard]] Cores choose_cores(Affinity const& affinity, CoresSeen const& seen);

/// Whether each of the ranks of a node has one of the `cores` that all of them may use for the
/// library's threads, beside one for each of its own.
[[nodiscard]] bool has_spare_cores(int cores, long ranks, int threads_of_a_rank) noexcept;

}  // namespace sluice
