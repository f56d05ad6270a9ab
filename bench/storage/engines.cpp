// Their table. See engines.hpp.
#include "bench/storage/engines.hpp"

namespace sluice::tools {
namespace {

constexpr int usual_threads = 2;  ///< SLUICE_STORAGE_THREADS.

}  // namespace

Engine::Engine(std::string name, StorageEngine kind, int threads, PageCache page_cache)
    : name_(std::move(name)),
      kind_(kind),
      page_cache_(page_cache),
      pool_(threads) {
    if (kind == StorageEngine::uring) {
        ring_ = Uring::make(threads);
        if (!ring_) missing_ = "the system has no io_uring for this process";
    }
}

std::unique_ptr<StoredFile> Engine::open(std::string const& path, std::function<void()> finished) {
    PosixWay const way{.pool = pool_, .ring = ring_.get(), .page_cache = page_cache_};
    return std::make_unique<PosixFile>(path, AccessMode::both, way, std::move(finished));
}

std::vector<std::unique_ptr<Engine>> all_engines() {
    std::vector<std::unique_ptr<Engine>> all;
    for (PageCache const cache : {PageCache::keep, PageCache::direct_io}) {
        auto const add = [&](char const* name, StorageEngine kind, int threads) {
            all.push_back(std::make_unique<Engine>(name, kind, threads, cache));
        };
        add("threads 1", StorageEngine::threads, 1);
        add(baseline, StorageEngine::threads, usual_threads);
        add("threads 8", StorageEngine::threads, 8);
        add("uring", StorageEngine::uring, usual_threads);
    }
    return all;
}

}  // namespace sluice::tools
