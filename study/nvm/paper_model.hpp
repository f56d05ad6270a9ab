// The equations of the NVM paper as they are printed, with its parameters, for comparison with the
// library's own cost model. Pure.
#pragma once

namespace sluice {

struct PaperModel {
    double start = 0;       ///< T_s, seconds a message.
    double megabyte = 0;    ///< T_w, seconds a megabyte.
    double sequential = 0;  ///< bdw_seq, megabytes a second.
    double random = 0;      ///< bdw_ran.
    double moved = 0;       ///< tau: non-aggregators / processes.

    /// Equation 2.
    [[nodiscard]] constexpr double shuffle(double megabytes, double iterations) const noexcept {
        return iterations * start + megabyte * megabytes * moved;
    }
    /// Equations 1 and 3.
    [[nodiscard]] constexpr double collective(double megabytes, double iterations) const noexcept {
        return shuffle(megabytes, iterations) + megabytes / sequential;
    }
    /// Equations 4 and 5.
    [[nodiscard]] constexpr double individual(double megabytes) const noexcept {
        return megabytes / random;
    }
};

}  // namespace sluice
