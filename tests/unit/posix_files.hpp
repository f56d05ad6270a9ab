// Files of src/storage, through the page cache and past it, for the tests of storage.
#pragma once
#include "conformance.hpp"
#include "storage/posix.hpp"

namespace sluice {

inline std::string name_of(PageCache page_cache) {
    return page_cache == PageCache::direct_io ? "direct" : "keep";
}

inline constexpr PageCache page_caches[] = {PageCache::keep, PageCache::direct_io};

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

/// What a process has for its files.
class FileParts {
public:
    explicit FileParts(PageCache page_cache) : page_cache_(page_cache) {}
    [[nodiscard]] PosixWay way(Faults* faults = nullptr) {
        return {.pool = pool_, .page_cache = page_cache_, .faults = faults};
    }

private:
    PageCache page_cache_;
    WorkerPool pool_{4};
};

}  // namespace sluice
