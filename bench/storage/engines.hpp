// The storage engines of the library, each with threads and a ring of its own.
#pragma once
#include "storage/posix.hpp"
#include "storage/uring.hpp"

#include <memory>
#include <string>
#include <vector>

namespace sluice::tools {

class Engine {
public:
    Engine(std::string name, StorageEngine kind, int threads, PageCache page_cache);

    [[nodiscard]] std::string const& name() const noexcept { return name_; }
    [[nodiscard]] PageCache page_cache() const noexcept { return page_cache_; }
    [[nodiscard]] StorageEngine kind() const noexcept { return kind_; }
    /// Why it cannot be measured here; empty if it can.
    [[nodiscard]] std::string const& missing() const noexcept { return missing_; }
    [[nodiscard]] std::unique_ptr<StoredFile> open(std::string const& path,
                                                   std::function<void()> finished);

private:
    std::string name_;
    StorageEngine kind_;
    PageCache page_cache_;
    std::string missing_;
    WorkerPool pool_;
    std::unique_ptr<Uring> ring_;
};

/// What the others are compared with, for each page cache: as the library is without hints.
inline constexpr char const* baseline = "threads 2";

[[nodiscard]] std::vector<std::unique_ptr<Engine>> all_engines();

}  // namespace sluice::tools
