// Sanitizers slow simulations down. With the thread sanitizer some are left out, as they have one
// thread, and in the samples of `make test` what measures time and not memory; the build without
// sanitizers does all of them.
#pragma once
#include "drawn.hpp"

namespace sluice::testing {

#ifdef __SANITIZE_ADDRESS__
inline constexpr bool has_address_sanitizer = true;
#else
inline constexpr bool has_address_sanitizer = false;
#endif
#ifdef __SANITIZE_THREAD__
inline constexpr bool has_thread_sanitizer = true;
#else
inline constexpr bool has_thread_sanitizer = false;
#endif

/// Of so many cases, each by itself: all, or with the address sanitizer the first few.
template <class Number> constexpr Number cases_of(Number all) {
    constexpr Number few = 8;
    return has_address_sanitizer && all > few ? few : all;
}

}  // namespace sluice::testing

/// First in a test whose simulation has one thread.
#define SKIP_WITH_THREAD_SANITIZER()                                                               \
    if (::sluice::testing::has_thread_sanitizer)                                                   \
    GTEST_SKIP() << "the simulation has one thread, and this would take minutes"
/// First in one that is too large for either.
#define SKIP_WITH_SANITIZERS()                                                                     \
    if (::sluice::testing::has_thread_sanitizer || ::sluice::testing::has_address_sanitizer)       \
    GTEST_SKIP() << "the build without sanitizers does it, and this would take a minute"
