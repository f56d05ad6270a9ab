// The library's storage with so many threads, through the page cache or by direct I/O.
#pragma once
#include "storage/posix.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sluice::tools {

class StorageSetup {
public:
    StorageSetup(int threads, PageCache page_cache);

    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    [[nodiscard]] PageCache page_cache() const noexcept { return page_cache_; }
    [[nodiscard]] std::unique_ptr<StoredFile> open(std::string const& path,
                                                   std::function<void()> finished);

private:
    std::string name_;
    PageCache page_cache_;
    WorkerPool pool_;
};

/// What the others are compared with, for each page cache: as the library is without settings.
inline constexpr char const* baseline = "threads 2";

[[nodiscard]] std::vector<std::unique_ptr<StorageSetup>> all_setups();

}  // namespace sluice::tools
