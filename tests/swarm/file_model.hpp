// What the bytes of a file may be. Where all calls succeed each byte has one value; a call that
// failed may have written a byte or not, and of ranks that write the same byte in one call any one
// may have the last word.
#pragma once
#include "base/extent.hpp"
#include "base/topology.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice::swarm {

class FileModel {
public:
    /// Bytes of `size` have the value `initial`, those behind are none: they read as zero.
    FileModel(Bytes size, std::byte initial)
        : certain_(static_cast<std::size_t>(size), initial),
          several_(certain_.size()),
          certain_size_(size) {}

    /// One rank's byte of a write.
    struct Written {
        Offset offset;
        std::byte value;
        Rank rank;
        bool had_returned;  ///< The call was delayed: the program made its later ones after it.
    };
    /// A call that succeeded: each byte has the value of a rank that wrote it.
    void written(std::vector<Written> const& all) {
        for (Written const& one : all) grow(one.offset);
        for (Written const& one : all) {
            several_[place(one.offset)] = 0;
            certain_[place(one.offset)] = one.value;
        }
        add_other_values(all);
        for (Written const& one : all) certain_size_ = std::max(certain_size_, one.offset + 1);
    }
    /// A call that failed.
    void perhaps_written(std::vector<Written> const& all) {
        for (Written const& one : all) grow(one.offset);
        for (Written const& one : all) may_also_be(one);
    }
    /// A call that failed with what it had to write: what is there now is not known.
    void spoilt(std::vector<Written> const& all) {
        for (Written const& one : all) grow(one.offset);
        for (Written const& one : all) set(one.offset, {});
    }
    /// The same of a call that had returned, by ranks that live: their bytes are in the file. Only
    /// bytes of other ranks, and those of an earlier call that had not returned, may come over
    /// them: an aggregator may have these under way still (decision 0049).
    void written_by_survivors(std::vector<Written> const& all) {
        std::unordered_map<Offset, std::vector<Value>> last;
        for (Written const& one : all)
            last[one.offset].push_back({one.value, one.rank, one.had_returned});
        for (auto& [offset, now] : last) {
            grow(offset);
            for (Value const& earlier : values(offset))
                if (may_come_over(earlier, now)) now.push_back(earlier);
            certain_size_ = std::max(certain_size_, offset + 1);
            set(offset, std::move(now));
        }
    }

    [[nodiscard]] bool may_be(Offset offset, std::byte value) const {
        std::uint32_t const several = offset < end() ? several_[place(offset)] : 0;
        if (several == 0) return value == certain(offset);
        auto const& all = lists_[several];
        return all.empty() ||
               std::ranges::any_of(all, [&](Value const& one) { return one.value == value; });
    }
    /// For people: the values, each with the rank whose call failed.
    [[nodiscard]] std::string describe(Offset offset) const {
        std::string text;
        for (Value const& one : values(offset)) {
            if (!text.empty()) text += " or ";
            text += std::to_string(std::to_integer<int>(one.value));
            if (one.rank >= 0) text += " of rank " + std::to_string(one.rank);
        }
        return text;
    }
    /// The file is at least so long.
    [[nodiscard]] Bytes certain_size() const noexcept { return certain_size_; }
    /// Behind it no byte was ever asked for.
    [[nodiscard]] Bytes end() const noexcept { return std::ssize(certain_); }

private:
    struct Value {
        std::byte value;
        Rank rank = -1;  ///< Of a call that failed; none: this value was certain.
        bool had_returned = false;
    };
    static bool may_come_over(Value const& earlier, std::vector<Value> const& now) {
        bool const is_of_one =
            std::ranges::any_of(now, [&](Value const& one) { return one.rank == earlier.rank; });
        return earlier.rank >= 0 && !(earlier.had_returned && is_of_one);
    }

    static std::size_t place(Offset offset) noexcept { return static_cast<std::size_t>(offset); }
    [[nodiscard]] std::byte certain(Offset offset) const {
        return offset < end() ? certain_[place(offset)] : std::byte{0};
    }
    void grow(Offset offset) {
        if (offset < end()) return;
        certain_.resize(place(offset) + 1);
        several_.resize(certain_.size());
    }
    void set(Offset offset, std::vector<Value> values) {
        several_[place(offset)] = static_cast<std::uint32_t>(lists_.size());
        lists_.push_back(std::move(values));
    }
    [[nodiscard]] std::vector<Value> values(Offset offset) const {
        std::uint32_t const several = offset < end() ? several_[place(offset)] : 0;
        if (several != 0) return lists_[several];
        return {{certain(offset)}};
    }
    void may_also_be(Written const& one) {
        auto all = values(one.offset);
        if (all.empty()) return;
        all.push_back({one.value, one.rank, one.had_returned});
        set(one.offset, std::move(all));
    }
    /// Where several ranks wrote the byte in the same call.
    void add_other_values(std::vector<Written> const& all) {
        for (Written const& one : all) {
            if (certain_[place(one.offset)] == one.value) continue;
            auto values_there = values(one.offset);
            values_there.push_back({one.value});
            set(one.offset, std::move(values_there));
        }
    }

    std::vector<std::byte> certain_;
    std::vector<std::uint32_t> several_;        ///< Of each byte: its list; 0: it has one value.
    std::vector<std::vector<Value>> lists_{1};  ///< The values of a byte; an empty one: any.
    Bytes certain_size_;
};

}  // namespace sluice::swarm
