// A value that is computed when first asked for, and then kept. Users: base/fingerprint_key.hpp.
#pragma once
#include <mutex>

namespace sluice {

/// Belongs to a value that never changes. Copying gives one that has not been computed yet.
template <typename Value> class Once {
public:
    Once() = default;
    Once(Once const&) noexcept {}  // NOLINT(bugprone-copy-constructor-init)
    Once& operator=(Once const&) = delete;
    ~Once() = default;

    /// What `compute()` returned the first time. Any threads at the same time: one computes, the
    /// others wait for it.
    template <typename Compute> Value const& get(Compute&& compute) const {
        std::call_once(computed_, [&] { value_ = compute(); });
        return value_;
    }

private:
    mutable std::once_flag computed_;
    mutable Value value_{};
};

}  // namespace sluice
