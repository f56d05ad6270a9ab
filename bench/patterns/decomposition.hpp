// Decompositions that programs left behind: which rank of some job held which elements of a
// variable. Decoded once from text; all patterns made from one share its pieces. Pure.
#pragma once
#include "base/extent.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sluice::patterns {

/// What patterns consist of: pieces are whole numbers of doubles, but for e3sm-f and e3sm-i.
inline constexpr Bytes word_bytes = 8;

/// Cheap to copy.
class Decomposition {
public:
    /// One variable, as its ranks held it.
    struct Variable {
        std::vector<Sections> parts;  ///< Of each rank, ascending; together all bytes once.
        Bytes bytes = 0;              ///< Of all of them.
        std::string error;            ///< Empty: it can be used.
    };

    /// None.
    Decomposition() = default;
    /// Lines "decomposition rank offset length", counted in words of 8 bytes; '#' begins a comment.
    Decomposition(std::string const& text);

    /// The decomposition of a number; one with an error where it is not there or of no use.
    [[nodiscard]] Variable const& variable(int number) const;

private:
    struct Decoded {
        std::map<int, Variable> variables;
        bool understood = true;
    };
    std::shared_ptr<Decoded const> decoded_;
};

}  // namespace sluice::patterns
