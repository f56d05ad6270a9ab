// A list of ranks such as 0-3,8, as SLUICE_TRACE has it. Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sluice {

class RankList {
public:
    /// Nothing where the text is no such list. "all": all of them.
    [[nodiscard]] static std::optional<RankList> parse(std::string const& text);
    [[nodiscard]] static RankList all();
    [[nodiscard]] bool contains(std::int64_t rank) const noexcept;

private:
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges_;  ///< Both ends are in them.
};

}  // namespace sluice
