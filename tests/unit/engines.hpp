// The engines of src/storage and what they make of the page cache, for the tests of storage.
#pragma once
#include "conformance.hpp"
#include "storage/uring.hpp"

namespace sluice {

struct Engine {
    StorageEngine engine = StorageEngine::threads;
    PageCache page_cache = PageCache::keep;

    [[nodiscard]] std::string name() const {
        std::string const who = engine == StorageEngine::uring ? "uring" : "threads";
        return who + (page_cache == PageCache::direct_io ? "_direct" : "_keep");
    }
};

inline std::vector<Engine> all_engines() {
    std::vector<Engine> all;
    for (auto const engine : {StorageEngine::threads, StorageEngine::uring}) {
        for (auto const cache : {PageCache::keep, PageCache::direct_io}) {
            all.push_back({engine, cache});
        }
    }
    return all;
}

/// Why the engine cannot be tested here; empty: it can.
inline std::string why_not(Engine const& engine) {
    if (engine.engine == StorageEngine::uring && !Uring::available()) return "no io_uring here";
    return "";
}

/// A folder of its own in $SLUICE_TEST_DIR, or in the system's for temporary files.
class TestFolder {
public:
    TestFolder() {
        char const* const wished = std::getenv("SLUICE_TEST_DIR");
        std::string name = std::string(wished ? wished : "/tmp") + "/storage-XXXXXX";
        if (mkdtemp(name.data())) path_ = name;
    }
    ~TestFolder() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    TestFolder(TestFolder const&) = delete;
    TestFolder& operator=(TestFolder const&) = delete;
    [[nodiscard]] std::string const& path() const noexcept { return path_; }

private:
    std::string path_;
};

/// Threads and ring of one engine, as a process has them.
class EngineParts {
public:
    explicit EngineParts(Engine const& engine) : engine_(engine) {
        if (engine.engine == StorageEngine::uring) ring_ = Uring::make(2);
    }
    [[nodiscard]] PosixWay way(Faults* faults = nullptr) {
        return {
            .pool = pool_, .ring = ring_.get(), .page_cache = engine_.page_cache, .faults = faults};
    }

private:
    Engine engine_;
    // The ring submits nothing to the pool once all transfers ended; the pool may use the ring.
    std::unique_ptr<Uring> ring_;
    WorkerPool pool_{2};
};

}  // namespace sluice
