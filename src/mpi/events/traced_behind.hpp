// What write-behind tells a trace: the copy of a call's bytes, and how long these were behind it.
#pragma once
#include "base/extent.hpp"
#include "mpi/events/recorder.hpp"

namespace sluice {

/// From its begin to its end the bytes of a write are to be written yet.
class TracedBehind {
public:
    TracedBehind() = default;
    ~TracedBehind() {
        if (bytes_ > 0) add(TraceKind::behind_over);
    }
    TracedBehind(TracedBehind const&) = delete;
    TracedBehind& operator=(TracedBehind const&) = delete;

    void begin(Bytes bytes) noexcept {
        if (!recorder()) return;
        bytes_ = bytes;
        add(TraceKind::behind_taken);
    }

private:
    void add(TraceKind kind) const noexcept {
        Recorder* const to = recorder();
        if (!to) return;
        std::int64_t const now = to->now();
        to->add({.begin = now, .end = now, .bytes = bytes_, .kind = kind});
    }

    Bytes bytes_ = 0;
};

/// The copy, while this lives.
class TracedCopy {
public:
    explicit TracedCopy(Bytes bytes) noexcept
        : recorder_(recorder()),
          bytes_(bytes),
          began_(recorder_ ? recorder_->now() : 0) {}
    ~TracedCopy() {
        if (!recorder_) return;
        recorder_->add({.begin = began_,
                        .end = recorder_->now(),
                        .bytes = bytes_,
                        .kind = TraceKind::copy_behind});
    }
    TracedCopy(TracedCopy const&) = delete;
    TracedCopy& operator=(TracedCopy const&) = delete;

private:
    Recorder* recorder_;
    Bytes bytes_;
    std::int64_t began_;
};

}  // namespace sluice
