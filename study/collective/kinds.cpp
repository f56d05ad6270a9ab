// The table of MPI's collectives. See kinds.hpp.
#include "study/collective/kinds.hpp"

#include "bench/measure/timing.hpp"
#include "sluice/sluice.h"
#include "system/environment.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace sluice::collectives {
namespace {

using bench::check;

enum Trait : unsigned { plain = 0, reducing = 1, rooted = 2, neighbours = 4, in_output = 8 };

struct Kind {
    char const* name;
    unsigned traits;
    std::function<void(Arguments const&)> blocking;
    std::function<void(Arguments const&, MPI_Request*)> own, interposed;
    /// Empty where Sluice has none.
    std::function<void(Arguments const&, sluice_request*)> sluice;
};

/// Sluice's function has the parameters of the MPI's, but for the request.
template <typename Parameter> struct OwnParameter {
    using Type = Parameter;
};
template <> struct OwnParameter<MPI_Request*> {
    using Type = sluice_request*;
};
template <typename... Parameters> auto own_function(char const* kind, int (*)(Parameters...)) {
    using Function = int (*)(typename OwnParameter<Parameters>::Type...);
    auto const name = std::string("sluice_i") + kind;
    return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name.c_str()));
}

/// `call` hands the arguments that all forms of the kind have in common to one of the functions,
/// and the request behind them.
template <typename Blocking, typename Nonblocking, typename Call>
Kind kind(char const* name, unsigned traits, Blocking blocking, Nonblocking own,
          Nonblocking interposed, Call call) {
    auto const with_request = [=](Nonblocking function) {
        return [=](Arguments const& a, MPI_Request* request) {
            check(call(function, a, request), name);
        };
    };
    Kind made{name,
              traits,
              [=](Arguments const& a) { check(call(blocking, a), name); },
              with_request(own),
              with_request(interposed),
              {}};
    if (auto const function = own_function(name, own))
        made.sluice = [=](Arguments const& a, sluice_request* request) {
            check(call(function, a, request), name);
        };
    return made;
}

// The arguments of several kinds, in MPI's order.
constexpr auto reduce_all = [](auto f, Arguments const& a, auto... request) {
    return f(a.input, a.output, a.count, a.type, a.operation, a.communicator, request...);
};
constexpr auto blocks = [](auto f, Arguments const& a, auto... request) {
    return f(a.input, a.count, a.type, a.output, a.count, a.type, a.communicator, request...);
};
constexpr auto rooted_blocks = [](auto f, Arguments const& a, auto... request) {
    return f(a.input, a.count, a.type, a.output, a.count, a.type, a.root, a.communicator,
             request...);
};
constexpr auto to_places = [](auto f, Arguments const& a, auto... request) {
    return f(a.input, a.count, a.type, a.output, a.counts, a.places, a.type, a.communicator,
             request...);
};
constexpr auto between_places = [](auto f, Arguments const& a, auto... request) {
    return f(a.input, a.counts, a.places, a.type, a.output, a.counts, a.places, a.type,
             a.communicator, request...);
};
constexpr auto of_types = [](auto f, Arguments const& a, auto... request) {
    return f(a.input, a.counts, a.byte_places, a.types.data(), a.output, a.counts, a.byte_places,
             a.types.data(), a.communicator, request...);
};

void add_moving(std::vector<Kind>& all) {
    all.push_back(kind(
        "barrier", plain, PMPI_Barrier, PMPI_Ibarrier, MPI_Ibarrier,
        [](auto f, Arguments const& a, auto... request) { return f(a.communicator, request...); }));
    all.push_back(kind("bcast", in_output, PMPI_Bcast, PMPI_Ibcast, MPI_Ibcast,
                       [](auto f, Arguments const& a, auto... request) {
                           return f(a.output, a.count, a.type, a.root, a.communicator, request...);
                       }));
    all.push_back(kind("gather", rooted, PMPI_Gather, PMPI_Igather, MPI_Igather, rooted_blocks));
    all.push_back(kind("gatherv", rooted, PMPI_Gatherv, PMPI_Igatherv, MPI_Igatherv,
                       [](auto f, Arguments const& a, auto... request) {
                           return f(a.input, a.count, a.type, a.output, a.counts, a.places, a.type,
                                    a.root, a.communicator, request...);
                       }));
    all.push_back(kind("scatter", plain, PMPI_Scatter, PMPI_Iscatter, MPI_Iscatter, rooted_blocks));
    all.push_back(kind("scatterv", plain, PMPI_Scatterv, PMPI_Iscatterv, MPI_Iscatterv,
                       [](auto f, Arguments const& a, auto... request) {
                           return f(a.input, a.counts, a.places, a.type, a.output, a.count, a.type,
                                    a.root, a.communicator, request...);
                       }));
    all.push_back(
        kind("allgather", plain, PMPI_Allgather, PMPI_Iallgather, MPI_Iallgather, blocks));
    all.push_back(
        kind("allgatherv", plain, PMPI_Allgatherv, PMPI_Iallgatherv, MPI_Iallgatherv, to_places));
    all.push_back(kind("alltoall", plain, PMPI_Alltoall, PMPI_Ialltoall, MPI_Ialltoall, blocks));
    all.push_back(
        kind("alltoallv", plain, PMPI_Alltoallv, PMPI_Ialltoallv, MPI_Ialltoallv, between_places));
    all.push_back(
        kind("alltoallw", plain, PMPI_Alltoallw, PMPI_Ialltoallw, MPI_Ialltoallw, of_types));
}

void add_reducing(std::vector<Kind>& all) {
    all.push_back(kind("reduce", reducing | rooted, PMPI_Reduce, PMPI_Ireduce, MPI_Ireduce,
                       [](auto f, Arguments const& a, auto... request) {
                           return f(a.input, a.output, a.count, a.type, a.operation, a.root,
                                    a.communicator, request...);
                       }));
    all.push_back(
        kind("allreduce", reducing, PMPI_Allreduce, PMPI_Iallreduce, MPI_Iallreduce, reduce_all));
    all.push_back(kind("reduce_scatter", reducing, PMPI_Reduce_scatter, PMPI_Ireduce_scatter,
                       MPI_Ireduce_scatter, [](auto f, Arguments const& a, auto... request) {
                           return f(a.input, a.output, a.counts, a.type, a.operation,
                                    a.communicator, request...);
                       }));
    all.push_back(kind("reduce_scatter_block", reducing, PMPI_Reduce_scatter_block,
                       PMPI_Ireduce_scatter_block, MPI_Ireduce_scatter_block, reduce_all));
    all.push_back(kind("scan", reducing, PMPI_Scan, PMPI_Iscan, MPI_Iscan, reduce_all));
    all.push_back(kind("exscan", reducing, PMPI_Exscan, PMPI_Iexscan, MPI_Iexscan, reduce_all));
}

void add_neighbours(std::vector<Kind>& all) {
    all.push_back(kind("neighbor_allgather", neighbours, PMPI_Neighbor_allgather,
                       PMPI_Ineighbor_allgather, MPI_Ineighbor_allgather, blocks));
    all.push_back(kind("neighbor_allgatherv", neighbours, PMPI_Neighbor_allgatherv,
                       PMPI_Ineighbor_allgatherv, MPI_Ineighbor_allgatherv, to_places));
    all.push_back(kind("neighbor_alltoall", neighbours, PMPI_Neighbor_alltoall,
                       PMPI_Ineighbor_alltoall, MPI_Ineighbor_alltoall, blocks));
    all.push_back(kind("neighbor_alltoallv", neighbours, PMPI_Neighbor_alltoallv,
                       PMPI_Ineighbor_alltoallv, MPI_Ineighbor_alltoallv, between_places));
    all.push_back(kind("neighbor_alltoallw", neighbours, PMPI_Neighbor_alltoallw,
                       PMPI_Ineighbor_alltoallw, MPI_Ineighbor_alltoallw, of_types));
}

std::vector<Kind> const& all_kinds() {
    static auto const kinds = [] {
        std::vector<Kind> all;
        add_moving(all), add_reducing(all), add_neighbours(all);
        return all;
    }();
    return kinds;
}

Kind const& kind_named(std::string const& name) {
    auto const& kinds = all_kinds();
    auto const found =
        std::find_if(kinds.begin(), kinds.end(), [&](auto const& k) { return k.name == name; });
    return found == kinds.end() ? kinds.front() : *found;
}

/// A request of the MPI, which is Sluice's where MPI_I* is: these are interposed as well.
Way with_mpi_request(char const* name, std::function<void(MPI_Request*)> const& start, bool own) {
    auto const request = std::make_shared<MPI_Request>(MPI_REQUEST_NULL);
    auto const test = [=] {
        int done = 0;
        check(own ? PMPI_Test(request.get(), &done, MPI_STATUS_IGNORE)
                  : MPI_Test(request.get(), &done, MPI_STATUS_IGNORE),
              "MPI_Test");
        return done != 0;
    };
    auto const wait = [=] {
        check(own ? PMPI_Wait(request.get(), MPI_STATUS_IGNORE)
                  : MPI_Wait(request.get(), MPI_STATUS_IGNORE),
              "MPI_Wait");
    };
    return {name, [=] { start(request.get()); }, test, wait};
}

/// The same of Sluice's own functions. The library is there: it has started one.
Way with_own_request(std::function<void(sluice_request*)> const& start) {
    auto const request = std::make_shared<sluice_request>(SLUICE_REQUEST_NULL);
    static auto const own_test =
        reinterpret_cast<decltype(&sluice_test)>(dlsym(RTLD_DEFAULT, "sluice_test"));
    static auto const own_wait =
        reinterpret_cast<decltype(&sluice_wait)>(dlsym(RTLD_DEFAULT, "sluice_wait"));
    // Complete is gone: nothing is left to test or to wait for.
    auto const test = [=] {
        if (*request == SLUICE_REQUEST_NULL) return true;
        int done = 0;
        check(own_test(*request, &done, MPI_STATUS_IGNORE), "sluice_test");
        if (done != 0) *request = SLUICE_REQUEST_NULL;
        return done != 0;
    };
    auto const wait = [=] {
        if (*request != SLUICE_REQUEST_NULL)
            check(own_wait(*request, MPI_STATUS_IGNORE), "sluice_wait");
        *request = SLUICE_REQUEST_NULL;
    };
    return {sluice_way, [=] { start(request.get()); }, test, wait};
}

/// Each rank between its neighbours. Two ranks are neighbours once: of two equal edges MPIs do not
/// agree on which is which.
MPI_Comm ring(int rank, int ranks) {
    int const right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    int const around[] = {left, right};
    int const degree = left == right ? 1 : 2;
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, around, MPI_UNWEIGHTED, degree,
                                         around, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made),
          "MPI_Dist_graph_create_adjacent");
    return made;
}

MPI_Comm copy_of_world() {
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Comm_dup(MPI_COMM_WORLD, &made), "MPI_Comm_dup");
    return made;
}

}  // namespace

std::vector<std::string> nonblocking_way_names() { return {mpi_way, interposed_way, sluice_way}; }

bool interposes() {
    return served_now().collectives &&
           reinterpret_cast<void*>(MPI_Ialltoall) != reinterpret_cast<void*>(PMPI_Ialltoall);
}

void Numbers::assign(int count, std::int64_t first, std::int64_t step) {
    ints_.clear(), counts_.clear(), addresses_.clear();
    for (int i = 0; i < count; ++i) {
        auto const number = first + i * step;
        ints_.push_back(static_cast<int>(number));
        counts_.push_back(static_cast<MPI_Count>(number));
        addresses_.push_back(static_cast<MPI_Aint>(number));
    }
}

std::vector<std::string> kind_names() {
    std::vector<std::string> names;
    for (auto const& one : all_kinds()) names.emplace_back(one.name);
    return names;
}

Subject::Subject(std::string kind, std::uint64_t block_bytes) : kind_(std::move(kind)) {
    auto const traits = kind_named(kind_).traits;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    constexpr std::uint64_t word = sizeof(double);
    bool const words = (traits & reducing) != 0 && block_bytes % word == 0;
    if ((traits & reducing) != 0) arguments_.type = words ? MPI_DOUBLE : MPI_UINT8_T;
    auto const element = words ? word : 1;
    int const blocks = std::max(ranks_, 2);  // A ring has two neighbours.
    input_.resize(block_bytes * std::uint64_t(blocks) + word);
    output_.resize(input_.size());
    arguments_.input = input_.data(), arguments_.output = output_.data();
    arguments_.count = int(block_bytes / element);
    arguments_.counts.assign(blocks, arguments_.count, 0);
    arguments_.places.assign(blocks, 0, arguments_.count);
    arguments_.byte_places.assign(blocks, 0, std::int64_t(block_bytes));
    arguments_.types.assign(std::size_t(blocks), arguments_.type);
    arguments_.communicator = (traits & neighbours) != 0 ? ring(rank_, ranks_) : copy_of_world();
}

Subject::~Subject() { MPI_Comm_free(&arguments_.communicator); }

std::vector<Way> Subject::ways(std::vector<std::string> const& wanted) const {
    auto const& all = kind_named(kind_);
    auto const& arguments = arguments_;
    std::vector<Way> ways{{blocking_way, [&] { all.blocking(arguments); }, {}, {}}};
    auto const is_wanted = [&](char const* name) {
        return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
    };
    if (is_wanted(mpi_way))
        ways.push_back(with_mpi_request(
            mpi_way, [&](MPI_Request* request) { all.own(arguments, request); }, true));
    if (is_wanted(interposed_way) && interposes())
        ways.push_back(with_mpi_request(
            interposed_way, [&](MPI_Request* request) { all.interposed(arguments, request); },
            false));
    if (is_wanted(sluice_way) && all.sluice)
        ways.push_back(
            with_own_request([&](sluice_request* request) { all.sluice(arguments, request); }));
    return ways;
}

/// Small whole numbers, other ones on each rank and at each place: sums are exact in any order.
void Subject::fill() {
    auto const number = [&](std::size_t i) {
        return (i * 7 + std::size_t(rank_) * 31 + i / 251) % 13;
    };
    if (arguments_.type == MPI_DOUBLE) {
        for (std::size_t i = 0; i < input_.size() / sizeof(double); ++i) {
            auto const value = double(number(i));
            std::memcpy(input_.data() + i * sizeof value, &value, sizeof value);
        }
    } else {
        for (std::size_t i = 0; i < input_.size(); ++i)
            input_[i] = static_cast<unsigned char>(number(i));
    }
    constexpr unsigned char untouched = 0xa5;
    std::fill(output_.begin(), output_.end(), untouched);
    bool const brings = (kind_named(kind_).traits & in_output) != 0 && rank_ == arguments_.root;
    if (brings) output_ = input_;
}

/// What MPI leaves undefined is not compared.
bool Subject::output_counts() const {
    bool const elsewhere = (kind_named(kind_).traits & rooted) != 0 && rank_ != arguments_.root;
    return !elsewhere && !(kind_ == "exscan" && rank_ == 0);
}

std::uint64_t Subject::wrong_bytes(Way const& way) {
    fill();
    kind_named(kind_).blocking(arguments_);
    auto const expected = output_;
    fill();
    way.run();
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; output_counts() && i < output_.size(); ++i)
        wrong += output_[i] == expected[i] ? 0 : 1;
    return bench::sum_over_ranks(wrong);
}

}  // namespace sluice::collectives
