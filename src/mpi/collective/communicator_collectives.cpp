// How names, schedules and operations are found and started. See communicator_collectives.hpp.
#include "mpi/collective/communicator_collectives.hpp"

#include "mpi/attribute.hpp"
#include "mpi/communicator/names.hpp"
#include "mpi/communicator/peers.hpp"
#include "mpi/progress/threads.hpp"
#include "mpi/ranks.hpp"
#include "system/environment.hpp"
#include "transport/mpi.hpp"

namespace sluice {
namespace {

/// Of one communicator; then it forgets all plans. So many ops, and what belongs to them, are some
/// tens of MiB.
constexpr std::size_t plans_most = 512, ops_in_plans_most = 1 << 18;

/// Those whose communicator went while their name was on its way. MPICH tells it from within the
/// very call that brings the name, when progress is locked: they cannot end there.
struct Orphans {
    std::mutex mutex;
    std::vector<std::shared_ptr<CommunicatorCollectives>> all;
};
Orphans& orphans() {
    static auto* const only = new Orphans;
    return *only;
}

void let_go(std::shared_ptr<CommunicatorCollectives> gone) {
    gone->freed();
    if (!gone->awaits_name()) return;
    std::lock_guard const lock(orphans().mutex);
    orphans().all.push_back(std::move(gone));
}

/// From calls of the program's, outside of progress.
void end_orphans(bool all) {
    std::vector<std::shared_ptr<CommunicatorCollectives>> ended;
    std::lock_guard const lock(orphans().mutex);
    std::erase_if(orphans().all, [&](std::shared_ptr<CommunicatorCollectives>& one) {
        if (!all && one->awaits_name()) return false;
        ended.push_back(std::move(one));
        return true;
    });
}

Attribute<CommunicatorCollectives> kept_collectives(let_go);

/// The world's, or one of its own where there is none: the latter is collective and blocks. A part
/// of a world that has none because some of its ranks run without Sluice is not served: a start
/// must not block.
std::shared_ptr<Endpoints> endpoints_for(MPI_Comm communicator) {
    auto world = Endpoints::of_world();
    if (!world && !world_has_sluice()) return nullptr;
    return world ? world : Endpoints::make(communicator);
}

/// One rank alone needs nobody to agree on a name.
std::uint64_t name_among(Endpoints const& endpoints, MPI_Comm communicator) {
    bool const are_its_own = &endpoints != Endpoints::of_world().get();
    if (are_its_own) return endpoints.name();
    return size_in(communicator) == 1 ? draw_name() : name_of(communicator);
}

std::shared_ptr<CommunicatorCollectives> make_context(MPI_Comm communicator) {
    if (!settings().enabled || is_intercommunicator(communicator)) return nullptr;
    auto endpoints = endpoints_for(communicator);
    if (!endpoints) return nullptr;
    auto members = endpoints->members(communicator);
    if (!members) return nullptr;
    std::uint64_t const name = name_among(*endpoints, communicator);
    return std::make_shared<CommunicatorCollectives>(std::move(endpoints), std::move(*members),
                                                     communicator, name);
}

bool may_call_mpi() noexcept { return thread_multiple() || !is_helper(); }

}  // namespace

std::shared_ptr<CommunicatorCollectives> CommunicatorCollectives::of(MPI_Comm communicator) {
    if (auto known = kept_collectives.get(communicator)) return *std::move(known);
    end_orphans(false);
    auto context = make_context(communicator);
    kept_collectives.set(communicator, context);
    return context;
}

void CommunicatorCollectives::forget_all() {
    kept_collectives.forget();
    end_orphans(true);
    Endpoints::forget_world();
}

CommunicatorCollectives::CommunicatorCollectives(std::shared_ptr<Endpoints> endpoints,
                                                 std::vector<Rank> members, MPI_Comm communicator,
                                                 std::uint64_t name)
    : communicator_(communicator),
      endpoints_(std::move(endpoints)),
      members_(std::move(members)),
      self_(rank_in(communicator)),
      is_one_node_(endpoints_->is_one_node(members_)),
      world_(endpoints_->world(members_)),
      name_(name),
      network_(endpoints_->node(), endpoints_->local_indices(members_)),
      collectives_({&network_, may_call_mpi}) {
    if (name_ != 0 && !needs_own()) connect();
}

/// Whoever saw its last operation complete may come here while another thread is still in
/// progress(). Where nothing was ever started, the MPI may still be about to write the name here.
CommunicatorCollectives::~CommunicatorCollectives() {
    Progress::instance().forget(*this);
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (finalized) return;
    PMPI_Waitall(2, asked_, MPI_STATUSES_IGNORE);
    if (own_ != MPI_COMM_NULL) PMPI_Comm_free(&own_);
}

/// By nonblocking collectives on the program's own communicator: this is a collective call on it,
/// the first on all ranks, so their order is the same everywhere. Calls that fail or go to the MPI
/// do not ask: nothing would take the name, and MPICH keeps a communicator on which it is asked.
void CommunicatorCollectives::ask_for_name(MPI_Comm communicator) {
    if (named_ || asked_for_.load(std::memory_order_acquire)) return;
    std::lock_guard const lock(name_mutex_);
    if (asked_for_) return;
    if (name_ == 0) {
        if (self_ == 0) name_ = draw_name();
        PMPI_Ibcast(&name_, 1, MPI_UINT64_T, 0, communicator, &asked_[0]);
    }
    if (needs_own()) PMPI_Comm_idup(communicator, &own_, &asked_[1]);
    asked_for_.store(true, std::memory_order_release);
}

/// True once there is one.
bool CommunicatorCollectives::take_name() {
    if (named_) return true;
    if (!may_call_mpi()) return false;
    std::unique_lock const lock(name_mutex_, std::try_to_lock);
    if (!lock || named_) return named_;
    int done = 0;
    PMPI_Testall(2, asked_, &done, MPI_STATUSES_IGNORE);
    if (done) connect();
    return named_;
}

/// With its name, and where there is one its own communicator.
void CommunicatorCollectives::connect() {
    if (own_ != MPI_COMM_NULL) {
        PMPI_Comm_set_errhandler(own_, MPI_ERRORS_RETURN);
        between_ = std::make_unique<MpiNetwork>(own_);
    } else if (!is_one_node_) {
        between_ = team().links.network(name_, members_);
    }
    network_.connect(name_, between_.get());
    named_ = true;
}

void CommunicatorCollectives::freed() {
    communicator_.freed();
#ifdef OPEN_MPI  // Others finish first, and may come here from within take_name().
    if (asked_for_)
        Progress::instance().drive({.mpi_done = [this] { return take_name(); }, .mpi_often = true});
#endif
}

bool CommunicatorCollectives::progress() { return take_name() && collectives_.progress(); }
bool CommunicatorCollectives::idle() const noexcept { return collectives_.idle(); }
int CommunicatorCollectives::due() const noexcept { return named_ ? collectives_.due() : 1; }

std::string CommunicatorCollectives::describe() const {
    return named_ ? collectives_.describe() : "the first collective of a communicator: its name";
}

std::shared_ptr<CollectivePlan const>
CommunicatorCollectives::plan_for(CollectiveCall const& call) {
    std::lock_guard const lock(plans_mutex_);
    if (auto const known = plans_.find(call); known != plans_.end()) return known->second;
    CollectiveChoice const choice = choose_collective(call, world_);
    auto plan = std::make_shared<CollectivePlan const>(
        make_collective(call, choice.algorithm, self_, ranks(), choice.segment));
    std::size_t const ops = plan->graph.ops().size();
    if (plans_.size() >= plans_most || ops_in_plans_ + ops > ops_in_plans_most) {
        plans_.clear();
        ops_in_plans_ = 0;
    }
    ops_in_plans_ += ops;
    plans_.emplace(call, plan);
    return plan;
}

std::shared_ptr<CollectiveState> CommunicatorCollectives::start(CollectiveStage&& stage) {
    auto collective = collectives_.make(std::move(stage), next_number_++);
    Progress::instance().begin(
        *this, [this, its = collective]() mutable { collectives_.append(std::move(its)); });
    return collective;
}

void CommunicatorCollectives::wait(CollectiveState const& state) {
    auto& progress = Progress::instance();
    if (state.complete() || progress.poll(*this, [&] { return state.complete(); })) return;
    progress.drive(
        {.done = [&] { return state.complete(); }, .poke = [this] { poke(); }, .polls_long = true});
}

}  // namespace sluice
