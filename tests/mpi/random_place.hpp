// Where a rank is, for failed checks and for the alarm of a program that takes too long.
#pragma once
#include "check.hpp"

#include <csignal>

namespace random_test {

inline char alarm_text[256] = "";

/// From now on failures and the alarm name this place.
inline void now_at(std::string const& place) {
    check::state().test = place;
    std::snprintf(alarm_text, sizeof alarm_text, "out of time: rank %d, %s\n", check::rank(),
                  place.c_str());
}

inline void now_at(std::uint64_t seed, int step, std::string_view what) {
    std::ostringstream text;
    text << "seed " << seed << " step " << step << " (" << what << ")";
    now_at(text.str());
}

/// Says where the rank is, leaves the others a moment to do the same, and ends it.
inline void out_of_time(int /*signal*/) {
    [[maybe_unused]] auto const written = write(2, alarm_text, std::strlen(alarm_text));
    sleep(1);
    _exit(3);
}

/// Prints a step of a program, if that was asked for.
inline void trace(bool wanted, int step, std::string const& text) {
    if (!wanted) return;
    std::printf("| step %3d rank %d: %s\n", step, check::rank(), text.c_str());
    std::fflush(stdout);
}

}  // namespace random_test
