// How the commands end: 0, help that was asked for included; 1, the work failed; or this.
#pragma once

namespace sluice {

/// The exit code of a command line that is not understood.
constexpr int bad_usage = 2;

}  // namespace sluice
