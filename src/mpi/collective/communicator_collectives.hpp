// The collectives of one communicator: its name in messages, its ranks among the endpoints, the
// schedules that it remembers, and the operations that are under way. It is an attribute of the
// communicator.
#pragma once
#include "collective/collective.hpp"
#include "collective/operations.hpp"
#include "mpi/collective/communicator.hpp"
#include "mpi/collective/endpoints.hpp"
#include "mpi/progress/progress.hpp"
#include "transport/routed_network.hpp"

#include <memory>
#include <mpi.h>
#include <unordered_map>

namespace sluice {

class CommunicatorCollectives final : private ProgressHook,
                                      public std::enable_shared_from_this<CommunicatorCollectives> {
public:
    /// Of an intracommunicator; null, on all of its ranks, where the MPI has to serve it: an
    /// intercommunicator, ranks outside of the endpoints, SLUICE=off. With SLUICE=all
    /// local and returns at once; else the first call on a communicator is collective and blocks.
    [[nodiscard]] static std::shared_ptr<CommunicatorCollectives> of(MPI_Comm communicator);
    /// When the communicator is freed, which is collective: Open MPI does not finish what it still
    /// does on a communicator that is gone, as a context's name or communicator that is on its way.
    void freed();
    /// Whether a name is on its way, so that the MPI may still write here.
    [[nodiscard]] bool awaits_name() const noexcept { return asked_for_ && !named_; }
    /// Before MPI goes away. All that was started is complete.
    static void forget_all();

    /// `name`: 0 where the ranks have none yet.
    CommunicatorCollectives(std::shared_ptr<Endpoints> endpoints, std::vector<Rank> members,
                            MPI_Comm communicator, std::uint64_t name);
    ~CommunicatorCollectives() override;

    /// What all calls of these sizes run, made at the first one. By any thread.
    [[nodiscard]] std::shared_ptr<CollectivePlan const> plan_for(CollectiveCall const& call);
    /// Before what follows is started, or prepared to be, where the communicator has no name, or
    /// the MPI has to carry messages between nodes. Collective, in the order of the calls; local,
    /// returns at once.
    void ask_for_name(MPI_Comm communicator);
    /// Begins. Collective, in the same order as other calls on the communicator; local, returns at
    /// once. Memory is kept until the operation is complete, what lies in it is not copied. Nobody
    /// has to call anything for its progress. The caller keeps this context until then.
    [[nodiscard]] std::shared_ptr<CollectiveState> start(CollectiveStage&& stage);
    /// Until it is complete; the calling thread moves it on.
    void wait(CollectiveState const& state);
    /// Lets the MPI move on what it was given, also when the communicator is freed.
    void poke() const { endpoints_->team().poke(); }

    [[nodiscard]] Team const& team() const noexcept { return endpoints_->team(); }
    /// Where errors go, and who the neighbours are.
    [[nodiscard]] Communicator const& communicator() const noexcept { return communicator_; }
    [[nodiscard]] Rank self() const noexcept { return self_; }
    [[nodiscard]] Rank ranks() const noexcept { return static_cast<Rank>(members_.size()); }

private:
    struct Hash {
        std::size_t operator()(CollectiveCall const& call) const noexcept { return hash(call); }
    };

    [[nodiscard]] bool needs_own() const { return !is_one_node_ && !team().links.has_fabric(); }
    void connect();
    bool take_name();
    bool progress() override;
    [[nodiscard]] bool idle() const noexcept override;
    [[nodiscard]] int due() const noexcept override;
    [[nodiscard]] bool must_look_again() noexcept override {
        return collectives_.must_look_again();
    }
    [[nodiscard]] bool waits_for_devices() const noexcept override { return !is_one_node_; }
    [[nodiscard]] std::string describe() const override;

    Communicator communicator_;
    std::shared_ptr<Endpoints> endpoints_;
    std::vector<Rank> members_;  ///< As ranks of the endpoints.
    Rank self_ = 0;
    bool is_one_node_;
    CollectiveWorld world_;

    // How the ranks come to a name, and between nodes to a communicator, without waiting.
    std::uint64_t name_;
    MPI_Comm own_ = MPI_COMM_NULL;
    MPI_Request asked_[2]{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    std::mutex name_mutex_;  ///< One thread asks at a time.
    std::atomic<bool> asked_for_{false}, named_{false};

    std::unique_ptr<Network> between_;  ///< Nodes; once it is named.
    RoutedNetwork network_;
    Collectives collectives_;
    std::atomic<std::uint64_t> next_number_{0};
    std::mutex plans_mutex_;
    std::unordered_map<CollectiveCall, std::shared_ptr<CollectivePlan const>, Hash> plans_;
    std::size_t ops_in_plans_ = 0;
};

}  // namespace sluice
