// How ops and their dependencies are added. See schedule.hpp.
#include "schedule/schedule.hpp"

namespace sluice {

std::uint32_t Schedule::add(Op op, std::uint32_t const* after, std::size_t count) {
    if (ops.empty()) {  // Most schedules are this short: one allocation each.
        ops.reserve(8);
        edges.reserve(16);
    }
    op.first_edge = static_cast<std::uint32_t>(edges.size());
    op.edge_count = static_cast<std::uint32_t>(count);
    edges.insert(edges.end(), after, after + count);
    ops.push_back(op);
    return static_cast<std::uint32_t>(ops.size()) - 1;
}

std::uint32_t Schedule::add(Op op, std::vector<std::uint32_t> const& after) {
    return add(op, after.data(), after.size());
}

std::uint32_t Schedule::add(Op op, std::initializer_list<std::uint32_t> after) {
    return add(op, after.begin(), after.size());
}

void Schedule::clear() noexcept {
    ops.clear();
    edges.clear();
}

}  // namespace sluice
