// A TracedCall is a function of MPI that the program called, from its begin to its end. Where no
// trace is wanted it costs one load and one branch.
#pragma once
#include "mpi/events/recorder.hpp"

namespace sluice {

/// A name that the trace's table is asked for once.
class TracedName {
public:
    constexpr explicit TracedName(char const* text) noexcept : text_(text) {}
    [[nodiscard]] std::uint16_t place(Recorder& recorder) noexcept {
        std::uint16_t const known = place_.load(std::memory_order_relaxed);
        if (known != 0) [[likely]]
            return known;
        std::uint16_t const found = recorder.name(text_);
        place_.store(found, std::memory_order_relaxed);
        return found;
    }

private:
    char const* text_;
    std::atomic<std::uint16_t> place_{0};
};

class TracedCall {
public:
    enum class Keep : std::uint8_t { always, where_it_did_something };

    explicit TracedCall(TracedName& name, Keep keep = Keep::always) noexcept
        : recorder_(recorder()) {
        if (recorder_) [[unlikely]]
            begin(name, keep);
    }
    ~TracedCall() {
        if (recorder_) [[unlikely]]
            end();
    }
    TracedCall(TracedCall const&) = delete;
    TracedCall& operator=(TracedCall const&) = delete;

    /// The innermost call of this thread began or completed an operation of a file.
    static void note(std::uint16_t file, std::int64_t operation, std::int64_t bytes) noexcept;

private:
    void begin(TracedName& name, Keep keep) noexcept;
    void end() noexcept;

    Recorder* recorder_;
    TracedCall* outer_ = nullptr;
    Keep keep_ = Keep::always;
    union {  // Not set up where there is no trace: that would be most of what a call costs then.
        TraceEvent event_;
    };
};

}  // namespace sluice

/// In the body of the library's function of this name.
#define SLUICE_TRACED(NAME)                                                                        \
    static constinit sluice::TracedName traced_name{#NAME};                                        \
    sluice::TracedCall const traced_call { traced_name }
/// The same of a function that programs call over and over until it says yes: calls that did
/// nothing, and took no time, are left out.
#define SLUICE_TRACED_TEST(NAME)                                                                   \
    static constinit sluice::TracedName traced_name{#NAME};                                        \
    sluice::TracedCall const traced_call {                                                         \
        traced_name, sluice::TracedCall::Keep::where_it_did_something                              \
    }
