// How the error of a driver becomes an Error. See gpu_driver.hpp.
#include "gpu/gpu_driver.hpp"

#include <mutex>
#include <set>
#include <string>

namespace sluice {
namespace {

/// Texts of errors are never freed. There are few: pairs of a function and a code.
char const* kept_text(std::string text) {
    struct Texts {
        std::mutex mutex;
        std::set<std::string> all;
    };
    static auto* const only = new Texts;  // Threads may outlive main().
    std::lock_guard const lock(only->mutex);
    return only->all.insert(std::move(text)).first->c_str();
}

}  // namespace

Error gpu_error(Status status, GpuResult const& failed, char const* name) {
    std::string text = failed.function ? failed.function : "the GPU's driver";
    text += ": ";
    text += name ? std::string(name) : "error " + std::to_string(failed.code);
    return {.status = status, .what = kept_text(std::move(text))};
}

}  // namespace sluice
