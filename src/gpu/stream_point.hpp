// A point in a stream of the program, which the stream comes to when all is done that it was given
// before. Users: stream_points.hpp, mpi/file.
#pragma once
#include "gpu/work_state.hpp"
#include "schedule/port.hpp"

#include <utility>

namespace sluice {

/// May go before the stream comes there: nothing of the library's is under way.
class StreamPoint final : public DeviceWork {
public:
    explicit StreamPoint(std::shared_ptr<WorkState> state) noexcept : state_(std::move(state)) {}
    [[nodiscard]] bool finished() override { return state_->is_done(); }
    void wait() override { state_->wait(); }
    [[nodiscard]] Error error() const override { return state_->error(); }
    /// Calls `then`, which should not block, when the stream has come there: by a thread of the
    /// library, or now. Once.
    void call_at_end(std::function<void()> then) { state_->call_at_end(std::move(then)); }

private:
    std::shared_ptr<WorkState> state_;
};

}  // namespace sluice
