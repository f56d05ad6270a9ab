// Threads that start together. See clients.hpp.
#include "tools/calibrate/clients.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

namespace sluice::calibrate {
namespace {

/// One request, by the library's own way to the file.
class Single final : public Transfer {
public:
    Single(Direction way, Segment segment) : Transfer(way), segment_(segment) {}
    std::optional<Segment> next() override {
        if (given_) return std::nullopt;
        given_ = true;
        return segment_;
    }

private:
    Segment segment_;
    bool given_ = false;
};

PosixWay way_of(WorkerPool& pool, PageCache page_cache) {
    return {.pool = pool, .page_cache = page_cache};
}

}  // namespace

Clients::Clients(Job const& job, std::string const& path, PageCache page_cache)
    : job_(job),
      file_(path, AccessMode::both, way_of(no_threads_, page_cache), [] {}) {
    for (int client = job.rank; client < clients_most; client += job.ranks)
        memory_.push_back(memory_of_a_client(client));
}

Clients::Memory Clients::memory_of_a_client(int seed) {
    constexpr std::size_t page = 4096;
    auto* const bytes = static_cast<std::byte*>(std::aligned_alloc(page, point_bytes_most));
    if (bytes == nullptr) give_up("there is no memory");
    std::mt19937_64 source(static_cast<std::uint64_t>(seed));  // Nothing that can be compressed.
    auto* const words = reinterpret_cast<std::uint64_t*>(bytes);
    for (std::size_t i = 0; i < point_bytes_most / sizeof *words; ++i) words[i] = source();
    return Memory(bytes);
}

void Clients::request(Direction way, Offset at, std::byte* memory, Bytes bytes) {
    Single transfer(way, {at, memory, bytes});
    file_.run(transfer);
    if (transfer.error) give_up(std::string("a request failed: ") + describe(transfer.status()));
    if (transfer.bytes != bytes) give_up("the file is shorter than what was written to it");
}

Bytes Clients::fill(Bytes bytes, Bytes bytes_least, double seconds) {
    Bytes done = 0;
    double const begin = bench::now();
    auto const may_go_on = [&] { return done < bytes_least || bench::now() - begin < seconds; };
    if (job_.rank == 0) {
        for (; done < bytes && may_go_on(); done += point_bytes_most)
            request(Direction::write, done, memory_.front().get(), point_bytes_most);
        if (file_.sync()) give_up("the file cannot be made durable");
    }
    bench::wait_for_all();
    return static_cast<Bytes>(of_rank_0(static_cast<double>(done)));
}

void Clients::walk(Point const& point, Bytes file_bytes, std::int32_t client, std::int64_t begin,
                   std::int64_t end, std::byte* memory) {
    for (std::int64_t i = begin; i < end; ++i)
        request(point.way, place_of(point, file_bytes, client, i, before_), memory, point.bytes);
}

double Clients::time(Point const& point, Bytes file_bytes, std::int64_t requests) {
    std::int64_t const before = point.random ? 0 : 1;
    std::atomic<bool> started{false};
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < memory_.size(); ++i) {
        auto const client = job_.rank + static_cast<std::int32_t>(i) * job_.ranks;
        if (client >= point.clients) break;
        threads.emplace_back([&, client, memory = memory_[i].get()] {
            walk(point, file_bytes, client, 0, before, memory);
            ready.fetch_add(1);
            ready.notify_one();
            started.wait(false);
            walk(point, file_bytes, client, before, before + requests, memory);
        });
    }
    for (int seen = 0; (seen = ready.load()) < static_cast<int>(threads.size());) ready.wait(seen);
    bench::start_together();
    double const begin = bench::now();
    started = true;
    started.notify_all();
    for (auto& thread : threads) thread.join();
    before_ += (before + requests) * point.clients;
    return bench::span_over_ranks(begin, threads.empty() ? begin : bench::now());
}

}  // namespace sluice::calibrate
