// Runs schedules: starts what may start, collects what is finished, never blocks. The same code
// drives blocking and nonblocking calls and the simulation; what ops do is in run/effects.hpp.
#pragma once
#include "run/effects.hpp"

namespace sluice {

class Executor {
public:
    Executor(Site& site, Storage& storage, ExchangeState& state) noexcept
        : effects_(site, storage, state) {}

    /// `id` comes back from progress() when all ops are complete.
    void admit(Schedule schedule, std::int32_t id = -1);

    /// True when anything moved. Ids of schedules that were completed are appended to `completed`.
    bool progress(std::vector<std::int32_t>& completed);

    [[nodiscard]] bool idle() const noexcept { return activities_.empty(); }
    /// The first op that waits, for people; empty when idle.
    [[nodiscard]] std::string waits_for() const;

private:
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    struct Step {                         ///< One for each op.
        std::uint32_t unmet = 0;          ///< Ops that it still waits for.
        std::uint32_t first_link = none;  ///< Of the list of those that wait for it.
        bool started = false;
        Effect effect;
    };
    struct Link {
        std::uint32_t op, next;
    };
    /// A schedule under way. Only what is ready is looked at: thousands of ops may wait.
    struct Activity {
        std::int32_t id;
        Schedule schedule;
        std::vector<Step> steps;
        std::vector<Link> links;           ///< One for each edge.
        std::vector<std::uint32_t> ready;  ///< Not done, and nothing is left that they wait for.
        std::size_t left;
    };

    bool advance(Activity& activity);
    bool step(Activity& activity, std::uint32_t op, bool& done);
    static void release(Activity& activity, std::uint32_t op);

    Effects effects_;
    std::vector<std::unique_ptr<Activity>> activities_;
};

}  // namespace sluice
