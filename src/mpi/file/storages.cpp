// The storages of this process are made when the first file needs them. See storages.hpp.
#include "mpi/file/storages.hpp"

#include "device/model/device_file.hpp"
#include "device/model/emulated.hpp"
#include "mpi/events/recorder.hpp"
#include "mpi/progress/progress.hpp"
#include "mpi/progress/threads.hpp"
#include "system/environment.hpp"
#include "system/log.hpp"

#include <algorithm>
#include <climits>
#include <unistd.h>

namespace sluice {
namespace {

PosixWay posix_way(FileHints const& hints, std::string const& path) {
    Recorder* const recorder = recorder_of_all_times();
    return {.pool = storage_threads(),
            .page_cache = hints.page_cache,
            .tracer = recorder,
            .traced_file = recorder ? recorder->name(path) : std::uint16_t{0}};
}

/// Null unless SLUICE_TEST names one: then all files of the process are on it.
EmulatedDevice* emulated_device() {
    static auto* const only = []() -> EmulatedDevice* {
        if (settings().device == "none") return nullptr;
        std::string why;
        auto const profile = find_device(settings().device, why);
        if (!profile) warn("SLUICE_TEST: device: " + why + "; no device is emulated");
        return profile ? new EmulatedDevice(*profile) : nullptr;
    }();
    return only;
}

/// Drivers of the MPI whose files POSIX calls reach just as well.
constexpr std::string_view posix_drivers[] = {"ufs", "nfs", "xfs", "lustre", "gpfs", "panfs"};

/// Open MPI's own component for files takes such a name as it stands, and its ROMIO does not.
#ifdef OPEN_MPI
constexpr bool drivers_are_known = false;
#else
constexpr bool drivers_are_known = true;
#endif

std::string absolute(std::string const& name) {
    if (!name.empty() && name[0] == '/') return name;
    char here[PATH_MAX];
    return getcwd(here, sizeof here) ? std::string(here) + "/" + name : name;
}

}  // namespace

AccessMode access_mode(int amode) noexcept {
    if (amode & MPI_MODE_RDONLY) return AccessMode::read;
    return amode & MPI_MODE_WRONLY ? AccessMode::write : AccessMode::both;
}

std::unique_ptr<StoredFile> stored_file(std::string const& path, OpenedFile file, int amode,
                                        FileHints const& hints) {
    auto const open = [&](std::function<void()> const& ring) {
        return std::make_unique<PosixFile>(std::move(file), access_mode(amode),
                                           posix_way(hints, path), ring);
    };
    auto const ring = [] { Progress::instance().ring(); };
    EmulatedDevice* const device = emulated_device();
    if (!device) return open(ring);
    return std::make_unique<EmulatedFile>(*device, path, open, ring);
}

std::optional<std::string> path_of(std::string const& name) {
    auto const colon = name.find(':');
    bool const prefixed = colon != std::string::npos && colon >= 2 && name.find('/') > colon;
    if (!prefixed) return absolute(name);
    auto const driver = std::string_view(name).substr(0, colon);
    bool const known = drivers_are_known &&
                       std::find(std::begin(posix_drivers), std::end(posix_drivers), driver) !=
                           std::end(posix_drivers);
    return known ? std::optional(absolute(name.substr(colon + 1))) : std::nullopt;
}

WorkerPool& storage_threads() {
    static auto* const pool = new WorkerPool(settings().storage_threads);
    return *pool;
}

double storage_seconds() { return storage_threads().processor_seconds(); }

}  // namespace sluice
