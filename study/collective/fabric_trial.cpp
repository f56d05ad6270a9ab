// What is common to trials of libfabric, and what there is without it. See fabric_trial.hpp.
#include "study/collective/fabric_trial.hpp"

namespace sluice::collectives {

char const* describe(Raising raising) noexcept {
    switch (raising) {
    case Raising::by_data:
        return "writes with data";
    case Raising::by_atomic:
        return "atomic additions";
    case Raising::by_event:
        return "counted writes";
    }
    return "?";
}

#ifndef SLUICE_HAVE_LIBFABRIC
std::unique_ptr<FabricCounters> FabricCounters::open(std::string const&, Raising,
                                                     std::string& why) {
    why = "this build has no libfabric";
    return nullptr;
}
std::unique_ptr<FabricGroup> FabricGroup::join(std::string const&, bool, std::string& why) {
    why = "this build has no libfabric";
    return nullptr;
}
#endif

}  // namespace sluice::collectives
