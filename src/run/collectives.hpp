// The collectives of one communicator that are under way. They do not wait for each other. Not safe
// for several threads: api/ locks, the simulation has one thread.
#pragma once
#include "run/collective.hpp"
#include "run/driven.hpp"

#include <deque>

namespace sluice {

class Collectives final : public Driven {
public:
    explicit Collectives(CollectiveSite site) : site_(std::move(site)) {}

    /// `number`: counts the calls of the communicator, in the program's order.
    void append(std::shared_ptr<CollectiveState> state, CollectiveStage stage,
                std::uint64_t number);

    bool progress() override;
    [[nodiscard]] bool idle() const noexcept override {
        return running_.empty() && waiting_.empty();
    }
    [[nodiscard]] int due() const noexcept override { return site_.network->due(); }
    [[nodiscard]] std::string describe() const override;

private:
    struct Numbered {
        std::uint64_t number;
        std::unique_ptr<Collective> collective;
    };
    struct Waiting {
        std::shared_ptr<CollectiveState> state;
        CollectiveStage stage;
        std::uint64_t number;
    };
    void start_waiting();

    CollectiveSite site_;
    std::vector<Numbered> running_;                   ///< By growing number.
    std::vector<std::unique_ptr<Collective>> spare_;  ///< Used again, with their memory.
    std::deque<Waiting> waiting_;                     ///< By growing number.
};

}  // namespace sluice
