// What ROMIO's own collective calls spend their time with, where study/nvm/romio_times.c is
// preloaded. Under the names of a Sample: transfers are pread and pwrite, messages the exchange of
// data of the iterations, copies the rest of the call.
#pragma once
#include "study/file/exchange.hpp"
#include "study/nvm/romio_times.h"

namespace sluice::bench {

/// Of this rank; zeros where nothing is preloaded that tells.
RomioTimes romio_times_so_far();

/// Collective. Adds the means of those ranks that transferred anything since `before`: the
/// aggregators. Nothing where no rank did.
void observe_romio(Sample& sample, RomioTimes const& before);

}  // namespace sluice::bench
