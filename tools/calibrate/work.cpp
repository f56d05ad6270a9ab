// What processors and memory do for a collective call: copies, planning, waking each other; by the
// library's own functions. See calibrate.hpp.
#include "base/flatten.hpp"
#include "bench/measure/regression.hpp"
#include "file/plan/claims.hpp"
#include "file/run/movement.hpp"
#include "tools/calibrate/calibrate.hpp"
#include "transport/doorbell.hpp"

#include <ctime>
#include <functional>
#include <mpi.h>

namespace sluice::calibrate {
namespace {

constexpr Bytes copied_bytes = window_bytes_default;

/// Of this thread: others may use its core meanwhile.
double processor_seconds() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// What `action` takes undisturbed, repeated for so long.
double seconds_of(std::function<void()> const& action, double seconds) {
    constexpr int least = 3;
    std::vector<double> each;
    double const begin = bench::now();
    action();  // Memory is touched for the first time.
    while (static_cast<int>(each.size()) < least || bench::now() - begin < seconds) {
        double const start = processor_seconds();
        action();
        each.push_back(processor_seconds() - start);
    }
    return low_of(std::move(each));
}

/// Pieces of these lengths on average, in no order that could be foretold; as a view of a file.
std::shared_ptr<TypeTree const> scattered(Bytes length, std::int64_t count) {
    std::uint64_t state = 1;              // The same pieces each time.
    auto const about = [&](Bytes mean) {  // Never 0: pieces do not touch.
        state = state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<Bytes>((state >> 33) % static_cast<std::uint64_t>(2 * mean - 1)) + 1;
    };
    TypeTree element, type_tree;
    element.size = 1;
    element.seal();
    type_tree.maker = Maker::hindexed;
    type_tree.parts.push_back(std::make_shared<TypeTree const>(std::move(element)));
    type_tree.counts.resize(static_cast<std::size_t>(2 * count + 1), count);
    Offset at = 0;
    for (std::int64_t i = 1; i <= count; ++i) {
        Bytes const bytes = about(length);
        type_tree.counts[static_cast<std::size_t>(i)] = bytes;
        type_tree.counts[static_cast<std::size_t>(count + i)] = at;
        at += bytes + about(length);
    }
    type_tree.seal();
    return std::make_shared<TypeTree const>(std::move(type_tree));
}

Request request_of(std::shared_ptr<Layout const> const& view, Bytes bytes) {
    Request request;
    request.view.filetype = view;
    request.bytes = bytes;
    return request;
}

/// A window in memory as ranks fill it, and what they fill it from.
class Filling {
public:
    /// Bytes and pieces that went into windows, and the seconds of it.
    Sample fill(Request const& request, double seconds) {
        Span const span = span_of(request);
        user_.resize(static_cast<std::size_t>(request.bytes), std::byte{1});
        double const took = seconds_of(
            [&] {
                for (Offset at = span.begin; at < span.end; at += copied_bytes) {
                    Span const window{at, std::min(span.end, at + copied_bytes)};
                    UserCopies copies(user_.data(), Direction::write);
                    place(request, copies, window, cb_buffer_, false);
                }
            },
            seconds);
        return {static_cast<double>(request.bytes), took};
    }

private:
    std::vector<std::byte> data_ = std::vector<std::byte>(copied_bytes), user_;
    std::vector<std::uint64_t> words_ =
        std::vector<std::uint64_t>(Coverage::words_for(copied_bytes, 1));
    std::atomic<std::int64_t> limit_{endless};
    CbBuffer cb_buffer_{data_.data(), Coverage(words_, 1, copied_bytes), &limit_};
};

double median_of_ranks(Job const& job, double value) {
    std::vector<double> all(static_cast<std::size_t>(job.ranks));
    MPI_Allgather(&value, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
    return median_of(std::move(all));
}

/// From memory that no cache holds, as the data of programs is.
double copy_byte_of(Filling& filling, double seconds) {
    constexpr Bytes bytes = Bytes{32} << 20;
    return filling.fill(request_of(Layout::contiguous(), bytes), seconds).seconds /
           static_cast<double>(bytes);
}

/// What short pieces cost beside their bytes.
double copy_piece_of(Filling& filling, double copy_byte, double seconds) {
    constexpr Bytes lengths[] = {8, 16, 32, 64, 128};
    constexpr std::int64_t pieces = 1 << 15;
    std::vector<double> beside;
    for (Bytes const length : lengths) {
        auto const view = flatten(*scattered(length, pieces));
        Sample const s = filling.fill(request_of(view, view->tile_bytes()),
                                      seconds / static_cast<double>(std::size(lengths)));
        beside.push_back((s.seconds - s.amount * copy_byte) / static_cast<double>(pieces));
    }
    return std::max(0.0, median_of(std::move(beside)));
}

/// From a datatype's pieces to claims.
double plan_piece_of(double seconds) {
    constexpr std::int64_t pieces = 1 << 15;
    auto const type_tree = scattered(64, pieces);
    Topology const topology({0, 0});
    auto const key = FingerprintKey::of_seed(1);
    double const took = seconds_of(
        [&] {
            auto const view = flatten(*type_tree);
            Request const request = request_of(view, view->tile_bytes());
            Summary all = summarise(request, {0, key.get()});
            all.hints.write = Strategy::two_phase;
            all.operation = 1;
            all.cb_buffer_bytes = copied_bytes;
            PlanLimits limits;
            limits.aggregator_count = 2;
            limits.key = key;
            (void)make_claims(request, make_plan(all, topology, limits), 0);
        },
        seconds);
    return took / static_cast<double>(pieces);
}

/// Two ranks ring and wait in turn: seconds from a ring until the other one is awake.
class Waking {
public:
    Waking(Job const& job, int other) : job_(job), other_(other) {
        constexpr std::size_t page = 4096;
        SharedMemoryName name;
        bool const first = job.rank == 0;
        if (first) {
            if (auto made = SharedMemory::create(page)) memory_ = std::move(*made), ok_ = true;
            name = memory_.name();
        }
        if (first) MPI_Send(&name, sizeof name, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        if (job.rank == other) {
            MPI_Recv(&name, sizeof name, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (auto found = SharedMemory::attach(name, page))
                memory_ = std::move(*found), ok_ = true;
        }
        int const mine = ok_ || (!first && job.rank != other) ? 1 : 0;
        int least = 0;
        MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        ok_ = least == 1;
    }
    [[nodiscard]] bool is_possible() const noexcept { return ok_; }

    double seconds(int repeats) {
        bench::wait_for_all();
        double const begin = bench::now();
        bool const first = job_.rank == 0;
        if (!first && job_.rank != other_) return bench::max_over_ranks(0);
        EventCount &own = doorbell(first ? 0 : 1), &peer = doorbell(first ? 1 : 0);
        for (int i = 0; i < repeats; ++i) {
            if (first) notify(peer);
            await(own, ++rings_);
            if (!first) notify(peer);
        }
        return bench::max_over_ranks(first ? (bench::now() - begin) / (2 * repeats) : 0);
    }

private:
    [[nodiscard]] EventCount& doorbell(int which) const {
        return reinterpret_cast<EventCount*>(memory_.data())[which];
    }
    static void await(EventCount& doorbell, std::uint32_t rings) {
        constexpr double nap_most = 0.1;
        for (std::uint32_t seen = 0; (seen = doorbell.events.load()) != rings;)
            wait_for_event(doorbell, seen, nap_most);
    }

    Job const& job_;
    int const other_;
    SharedMemory memory_;
    bool ok_ = false;
    std::uint32_t rings_ = 0;
};

}  // namespace

void measure_work(Job const& job, double seconds, MachineProfile& profile) {
    job.progress->part("copies and planning");
    constexpr int steps = 4;
    double const share = seconds / steps;
    job.progress->expect(steps);
    job.progress->step("copies");
    Filling filling;
    profile.copy_byte = median_of_ranks(job, copy_byte_of(filling, share));
    job.progress->step("copies of pieces");
    profile.copy_piece = median_of_ranks(job, copy_piece_of(filling, profile.copy_byte, share));
    job.progress->step("planning");
    profile.plan_piece = median_of_ranks(job, plan_piece_of(share));
    job.progress->step("waking");
    auto const near = job.near();
    if (near.size() > 1) {
        Waking waking(job, near[1]);
        constexpr int repeats = 200, turns = 9;
        std::vector<double> each;
        for (int turn = 0; waking.is_possible() && turn < turns; ++turn)
            each.push_back(waking.seconds(repeats));
        if (!each.empty()) profile.wake = low_of(std::move(each));
    }
    job.progress->wipe();
}

}  // namespace sluice::calibrate
