// An account of where a simulated rank's time goes. It is brought up to date whenever the rank
// becomes busy with something else.
#pragma once
#include "file/run/stage.hpp"

namespace sluice::simulated {

/// Seconds of one rank in one operation, or of several ranks; `total` is the sum of the others.
struct Parts {
    double total = 0;
    double metadata = 0;     ///< Exchange of summaries and claims.
    double computation = 0;  ///< The processor copies or plans, in whatever stage.
    double data = 0;         ///< Exchange, messages under way.
    double storage = 0;      ///< Exchange, transfers of the file under way.
    double both = 0;         ///< Exchange, messages and transfers at the same time.
    double waiting = 0;      ///< For other ranks: exchange and agreement.

    void add(Parts const& other) noexcept;
    /// Of each part the larger one.
    void raise_to(Parts const& other) noexcept;
};

/// One rank's account of the operations of one operation queue, one after the other.
class Account {
public:
    /// The rank is in this stage from now on.
    void enter(Stage stage, double now) noexcept {
        pass(now);
        stage_ = stage;
    }
    void messages(std::int32_t under_way, double now) noexcept {
        if ((under_way > 0) == (messages_ > 0)) return;
        pass(now);
        messages_ = under_way;
    }
    void transfers(std::int32_t change, double now) noexcept {
        pass(now);
        transfers_ += change;
    }
    void busy_until(double when, double now) noexcept {
        pass(now);
        busy_until_ = when;
    }
    [[nodiscard]] double busy_until() const noexcept { return busy_until_; }
    [[nodiscard]] Stage stage() const noexcept { return stage_; }
    [[nodiscard]] Parts const& parts() const noexcept { return parts_; }

private:
    void pass(double now) noexcept;

    Parts parts_;
    Stage stage_ = Stage::complete;
    std::int32_t messages_ = 0, transfers_ = 0;
    double last_ = 0, busy_until_ = 0;
};

}  // namespace sluice::simulated
