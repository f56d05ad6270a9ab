// How type trees are hashed and compared. See type_tree.hpp.
#include "base/type_tree.hpp"

#include <cstring>

namespace sluice {
namespace {

/// Mixes words; four lanes, so that long lists go at the speed of memory.
class Hasher {
public:
    void add(std::uint64_t word) noexcept { lanes_[0] = mixed(lanes_[0], word); }
    void add(void const* data, std::size_t bytes) noexcept {
        auto const* from = static_cast<char const*>(data);
        add(bytes);
        for (; bytes >= 32; bytes -= 32, from += 32) {
            std::uint64_t words[4];
            std::memcpy(words, from, sizeof words);
            for (int i = 0; i < 4; ++i) lanes_[i] = mixed(lanes_[i], words[i]);
        }
        if (bytes == 0) return;
        std::uint64_t words[4]{};
        std::memcpy(words, from, bytes);
        for (int i = 0; i < 4; ++i) lanes_[i] = mixed(lanes_[i], words[i]);
    }
    template <class T> void add_all(std::vector<T> const& list) noexcept {
        add(list.data(), list.size() * sizeof(T));
    }
    [[nodiscard]] std::uint64_t result() const noexcept {
        std::uint64_t all = lanes_[0];
        for (int i = 1; i < 4; ++i) all = mixed(all, lanes_[i]);
        return all ^ (all >> 32);
    }

private:
    static std::uint64_t mixed(std::uint64_t state, std::uint64_t word) noexcept {
        state = (state ^ word) * 0x9e3779b97f4a7c15u;
        return state ^ (state >> 29);
    }
    std::uint64_t lanes_[4]{1, 2, 3, 4};
};

template <class T> std::size_t memory_of(std::vector<T> const& list) noexcept {
    return list.capacity() * sizeof(T);
}

template <class T> bool same(std::vector<T> const& a, std::vector<T> const& b) noexcept {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace

void TypeTree::seal() noexcept {
    Hasher all;
    all.add(static_cast<std::uint64_t>(maker) | std::uint64_t{c_order} << 8 |
            std::uint64_t{short_int} << 9 | std::uint64_t{bounded} << 10);
    for (std::int64_t const number : {lower, extent, size}) {
        all.add(static_cast<std::uint64_t>(number));
    }
    all.add_all(ints);
    all.add_all(places);
    all.add_all(counts);
    all.add_all(which);
    bytes_ = sizeof *this + memory_of(ints) + memory_of(places) + memory_of(counts) +
             memory_of(which) + memory_of(parts);
    for (auto const& part : parts) {
        all.add(part->hash());
        bytes_ += part->bytes();
    }
    hash_ = all.result();
}

bool TypeTree::operator==(TypeTree const& other) const noexcept {
    if (this == &other) return true;
    bool const alike = hash_ == other.hash_ && maker == other.maker && c_order == other.c_order &&
                       short_int == other.short_int && bounded == other.bounded &&
                       lower == other.lower && extent == other.extent && size == other.size &&
                       parts.size() == other.parts.size();
    if (!alike || !same(ints, other.ints) || !same(places, other.places) ||
        !same(counts, other.counts) || !same(which, other.which)) {
        return false;
    }
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!(*parts[i] == *other.parts[i])) return false;
    }
    return true;
}

}  // namespace sluice
