// The words of a division. See hints.hpp.
#include "settings/hints.hpp"

namespace sluice {

char const* describe(Domains domains) noexcept {
    switch (domains) {
    case Domains::automatic:
        return "auto";
    case Domains::even:
        return "even";
    case Domains::cyclic:
        return "cyclic";
    case Domains::balanced:
        return "balanced";
    case Domains::groups:
        return "groups";
    }
    return "?";
}

}  // namespace sluice
