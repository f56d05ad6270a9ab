// The list of setups. See setups.hpp.
#include "study/storage/setups.hpp"

namespace sluice::tools {

StorageSetup::StorageSetup(int threads, PageCache page_cache)
    : name_("threads " + std::to_string(threads)),
      page_cache_(page_cache),
      pool_(threads) {}

std::unique_ptr<StoredFile> StorageSetup::open(std::string const& path,
                                               std::function<void()> finished) {
    PosixWay const way{.pool = pool_, .page_cache = page_cache_};
    return std::make_unique<PosixFile>(path, AccessMode::both, way, std::move(finished));
}

std::vector<std::unique_ptr<StorageSetup>> all_setups() {
    std::vector<std::unique_ptr<StorageSetup>> all;
    for (PageCache const cache : {PageCache::keep, PageCache::direct_io})
        for (int const threads : {1, 2, 8})
            all.push_back(std::make_unique<StorageSetup>(threads, cache));
    return all;
}

}  // namespace sluice::tools
