// sluice_igather_results gathers the sizes first; when they are known, it gathers the data.
#include "mpi/collective/staged_stream.hpp"
#include "mpi/collective/started_collective.hpp"
#include "mpi/errors.hpp"
#include "mpi/ranks.hpp"
#include "mpi/requests/own_request.hpp"
#include "sluice/sluice.h"

#include <algorithm>
#include <climits>
#include <numeric>

namespace sluice {
namespace {

struct Arguments {
    std::byte* send;
    Bytes send_bytes;
    std::byte* receive;
    Bytes capacity;
    MPI_Count* receive_bytes;
    Rank root;
};

/// One of the two stages.
struct Gather {
    CollectiveCall call;
    CollectiveBuffers buffers;
};

/// Lives until the operation is complete: its second stage holds it.
struct Results {
    Arguments arguments{};
    bool is_root = false;
    std::vector<Bytes> sizes;  ///< Of all ranks, on the root.
    Bytes own = 0;
    /// Where what does not fit is received, so that its senders come to an end.
    std::unique_ptr<std::byte[]> dropped;
    bool receives_on_device = false;
    StagedStream sent, received;

    /// Brings what is sent to the host where it lies on a device.
    Error stage() {
        Blocks send, receive;
        send.add(arguments.send, arguments.send_bytes);
        if (is_root) receive.add(arguments.receive, arguments.capacity);
        receives_on_device = may_lie_on_device(arguments.receive, receive);
        if (!may_lie_on_device(arguments.send, send)) return {};
        sent.replace(send);
        arguments.send = send.contiguous(0, arguments.send_bytes);
        return sent.fetch();
    }
    /// Where so many bytes that fit are received: on the host.
    std::byte* place(Bytes all) {
        if (!receives_on_device) return arguments.receive;
        Blocks receive;
        receive.add(arguments.receive, all);
        received.replace(receive);
        return receive.contiguous(0, all);
    }
    /// Where the data of all ranks goes.
    std::byte* memory(CollectiveState& state) {
        Bytes const all = std::accumulate(sizes.begin(), sizes.end(), Bytes{0});
        if (all <= arguments.capacity) return place(all);
        state.fail({.status = Status::truncated,
                    .what = "the results are longer than the memory for them"});
        dropped = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(all));
        return dropped.get();
    }
};

Gather gather_of_sizes(Results& results, std::size_t ranks) {
    Gather sizes;
    sizes.call.kind = CollectiveKind::gather;
    sizes.call.root = results.arguments.root;
    sizes.call.block = sizeof(Bytes);
    results.own = results.arguments.send_bytes;
    sizes.buffers.input.add(reinterpret_cast<std::byte*>(&results.own), sizeof(Bytes));
    if (!results.is_root) return sizes;
    results.sizes.resize(ranks);
    sizes.buffers.output.add(reinterpret_cast<std::byte*>(results.sizes.data()),
                             static_cast<Bytes>(ranks * sizeof(Bytes)));
    return sizes;
}

Gather gather_of_data(Results& results, CollectiveState& state) {
    Gather data;
    data.call.kind = CollectiveKind::gatherv;
    data.call.root = results.arguments.root;
    data.call.block = results.own;
    data.buffers.input.add(results.arguments.send, results.own);
    if (!results.is_root) return data;
    std::copy(results.sizes.begin(), results.sizes.end(), results.arguments.receive_bytes);
    data.call.outputs = results.sizes;
    data.buffers.output.add(results.memory(state),
                            std::accumulate(results.sizes.begin(), results.sizes.end(), Bytes{0}));
    return data;
}

/// The MPI's own functions, one after the other. All ranks learn all sizes, and so refuse together
/// what is longer than an int can say.
int gather_in_mpi(Results& results, MPI_Comm communicator) {
    Arguments const& a = results.arguments;
    bool const is_root = results.is_root;
    std::vector<Bytes> sizes(static_cast<std::size_t>(size_in(communicator)));
    PMPI_Allgather(&a.send_bytes, sizeof(Bytes), MPI_BYTE, sizes.data(), sizeof(Bytes), MPI_BYTE,
                   communicator);
    Bytes const all = std::accumulate(sizes.begin(), sizes.end(), Bytes{0});
    if (all > INT_MAX) return MPI_ERR_COUNT;
    std::vector<int> const counts(sizes.begin(), sizes.end());
    std::vector<int> places(counts.size());
    std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
    std::vector<std::byte> dropped;
    bool const fits = !is_root || all <= a.capacity;
    if (!fits) dropped.resize(static_cast<std::size_t>(all));
    std::byte* const where = fits && is_root ? results.place(all) : dropped.data();
    int const code = PMPI_Gatherv(a.send, static_cast<int>(a.send_bytes), MPI_BYTE, where,
                                  counts.data(), places.data(), MPI_BYTE, a.root, communicator);
    if (is_root) std::copy(sizes.begin(), sizes.end(), a.receive_bytes);
    if (code != MPI_SUCCESS) return code;
    return fits ? error_class(results.received.bring_back().status) : MPI_ERR_TRUNCATE;
}

int check(Arguments const& a, MPI_Comm communicator, bool& is_root) {
    if (is_intercommunicator(communicator)) return MPI_ERR_COMM;
    is_root = rank_in(communicator) == a.root;
    if (a.root < 0 || a.root >= size_in(communicator)) return MPI_ERR_ROOT;
    if (a.send_bytes < 0 || (is_root && a.capacity < 0)) return MPI_ERR_COUNT;
    if (a.send_bytes > 0 && !a.send) return MPI_ERR_ARG;
    bool const lacks = !a.receive_bytes || (a.capacity > 0 && !a.receive);
    return is_root && lacks ? MPI_ERR_ARG : MPI_SUCCESS;
}

int begin(Arguments const& arguments, MPI_Comm communicator, sluice_request* request) {
    bool is_root = false;
    if (int const error = check(arguments, communicator, is_root); error != MPI_SUCCESS) {
        return error;
    }
    auto results = std::make_shared<Results>();
    results->arguments = arguments;
    results->is_root = is_root;
    Error const unstaged = results->stage();
    if (unstaged) results->arguments.send_bytes = 0;  // The other ranks go on.
    PreparedCollective prepared;
    prepared.context = CommunicatorCollectives::of(communicator);
    if (!prepared.context) {
        log_error("sluice_igather_results", unstaged);
        int const code = gather_in_mpi(*results, communicator);
        *request = ended_own(unstaged ? error_class(unstaged.status) : code);
        return MPI_SUCCESS;
    }
    CommunicatorCollectives& context =
        *prepared.context;  // Is kept until the operation is complete.
    auto sizes = gather_of_sizes(*results, static_cast<std::size_t>(context.ranks()));
    auto const next = [results, &context, unstaged](CollectiveState& state) {
        state.fail(unstaged);  // Not before: sizes of others go through this rank.
        auto data = gather_of_data(*results, state);
        data.buffers.kept = results;
        return CollectiveStage{context.plan_for(data.call), std::move(data.buffers), nullptr};
    };
    context.ask_for_name(communicator);
    prepared.stage = {context.plan_for(sizes.call), std::move(sizes.buffers), next};
    prepared.bring_back = [results] { return results->received.bring_back(); };
    *request = start_own(std::move(prepared));
    return MPI_SUCCESS;
}

}  // namespace
}  // namespace sluice

extern "C" int sluice_igather_results(void const* send, MPI_Count send_bytes, void* receive,
                                      MPI_Count capacity, MPI_Count* receive_bytes, int root,
                                      MPI_Comm communicator, sluice_request* request) {
    if (!request) return MPI_ERR_ARG;
    *request = SLUICE_REQUEST_NULL;
    if (communicator == MPI_COMM_NULL) return MPI_ERR_COMM;
    return sluice::begin({static_cast<std::byte*>(const_cast<void*>(send)), send_bytes,
                          static_cast<std::byte*>(receive), capacity, receive_bytes, root},
                         communicator, request);
}
