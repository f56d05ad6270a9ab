// How names follow from each other. See names.hpp.
#include "mpi/communicator/names.hpp"

#include "base/mixed.hpp"
#include "mpi/ranks.hpp"
#include "system/log.hpp"

#include <algorithm>

namespace sluice {
namespace {

/// This bit is set in names that follow from other names, and in none that was drawn.
constexpr std::uint64_t follows = std::uint64_t{1} << 63;

std::atomic<bool> begun{false};

/// An MPI that copies attributes after the call, when several duplicates may be under way, would
/// mix up their names: then duplicates get none.
std::atomic<bool> copies_late{false};

/// The name of the duplicate that this thread is making; 0: none is made, or it has its name.
thread_local std::uint64_t of_duplicate = 0;

std::shared_ptr<CommunicatorName> copied(CommunicatorName const&) {
    std::uint64_t const name = std::exchange(of_duplicate, 0);
    return name ? std::make_shared<CommunicatorName>(name) : nullptr;
}

Attribute<CommunicatorName> kept_names([](std::shared_ptr<CommunicatorName>) {}, copied);

bool has_processes_of_world_alone(MPI_Comm communicator) {
    auto const ranks = ranks_in(MPI_COMM_WORLD, communicator);
    return std::ranges::find(ranks, MPI_UNDEFINED) == ranks.end();
}

}  // namespace

std::uint64_t CommunicatorName::next() const noexcept { return mixed(word, made + 1) | follows; }

std::uint64_t draw_name() {
    static std::atomic<std::uint32_t> drawn{0};
    return (static_cast<std::uint64_t>(world_rank()) + 1) << 32 | ++drawn;
}

void begin_names(MPI_Comm world, std::uint64_t name) {
    begun = true;
    kept_names.set(world, std::make_shared<CommunicatorName>(name));
}

void forget_names() {
    begun = false;
    kept_names.forget();
}

std::shared_ptr<CommunicatorName> name_record(MPI_Comm parent) {
    if (!begun.load(std::memory_order_relaxed) || parent == MPI_COMM_NULL) return nullptr;
    return kept_names.get(parent).value_or(nullptr);
}

std::uint64_t name_of(MPI_Comm communicator) {
    auto const record = name_record(communicator);
    return record ? record->word : 0;
}

/// A call that failed on some ranks alone has made nothing, and does not count.
void name_child(CommunicatorName& parent, MPI_Comm made) {
    std::uint64_t const name = parent.next();
    ++parent.made;
    if (made != MPI_COMM_NULL) kept_names.set(made, std::make_shared<CommunicatorName>(name));
}

void agree_on_name(MPI_Comm made) {
    if (!begun || made == MPI_COMM_NULL || !has_processes_of_world_alone(made)) return;
    std::uint64_t name = rank_in(made) == 0 ? draw_name() : 0;
    if (PMPI_Bcast(&name, 1, MPI_UINT64_T, 0, made) != MPI_SUCCESS) return;
    kept_names.set(made, std::make_shared<CommunicatorName>(name));
}

NamesDuplicate::NamesDuplicate(MPI_Comm parent) : parent_(name_record(parent)) {
    if (parent_ && !copies_late) of_duplicate = parent_->next();
}

NamesDuplicate::~NamesDuplicate() { of_duplicate = 0; }

void NamesDuplicate::succeeded() noexcept {
    if (!parent_) return;
    ++parent_->made;
    if (of_duplicate != 0) copies_late = true;
}

}  // namespace sluice
