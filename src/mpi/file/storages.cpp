// The storages of this process are made when the first file needs them. See storages.hpp.
#include "mpi/file/storages.hpp"

#include "device/model/device_file.hpp"
#include "device/model/emulated.hpp"
#include "mpi/progress/progress.hpp"
#include "mpi/trace/recorder.hpp"
#include "storage/uring.hpp"
#include "system/environment.hpp"
#include "system/log.hpp"

#include <algorithm>
#include <climits>
#include <unistd.h>

namespace sluice {
namespace {

/// Null until a file wants it.
std::atomic<Uring*> ring_made{nullptr};

/// Null: the storage threads serve the file. One ring for all files of the process, made when the
/// first file wants it.
Uring* storage_ring(FileHints const& hints) {
    if (hints.storage != StorageEngine::uring) return nullptr;
    static auto* const ring = [] {
        auto made = Uring::make(settings().storage_threads);
        if (!made) warn("the system has no io_uring for this process: storage threads serve");
        ring_made = made.get();
        return made.release();
    }();
    return ring;
}

bool may_call_mpi() {
    if (thread_multiple()) return true;
    warn("sluice_storage=mpi needs MPI_THREAD_MULTIPLE, which this MPI or program does not give: "
         "ask for it in MPI_Init_thread, or set SLUICE_HINTS=sluice_storage=mpi; storage threads "
         "serve");
    return false;
}

std::uint16_t traced_name(FileNames const& names) {
    Recorder* const to = recorder_of_all_times();
    return to ? to->name(names.path.value_or(names.mpi)) : std::uint16_t{0};
}

PosixWay posix_way(FileHints const& hints, FileNames const& names) {
    return {.pool = storage_threads(),
            .ring = storage_ring(hints),
            .page_cache = hints.page_cache,
            .tracer = recorder_of_all_times(),
            .traced_file = traced_name(names)};
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

/// The MPI's name for the file behind a descriptor.
std::string mpi_name_of(FileNames const& names, int fd) {
    std::string const prefix = names.mpi.substr(0, names.mpi.size() - names.path->size());
    return prefix + name_of_descriptor(fd);
}

/// `ring` is called after each transfer.
std::unique_ptr<StoredFile> engine_file(FileNames const& names, OpenedFile file, AccessMode mode,
                                        FileHints const& hints, Team const& team,
                                        std::function<void()> const& ring) {
    std::unique_ptr<StoredFile> by_path;
    int const fd = file.descriptor.get();
    if (names.path)
        by_path = std::make_unique<PosixFile>(std::move(file), mode, posix_way(hints, names), ring);
    if (hints.storage != StorageEngine::mpi) return by_path;
    return std::make_unique<MpiFile>(names.path ? mpi_name_of(names, fd) : names.mpi, mode,
                                     MpiWay{.parent = team.communicator,
                                            .pool = storage_threads(),
                                            .tracer = recorder_of_all_times(),
                                            .traced_file = traced_name(names)},
                                     std::move(by_path), ring);
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

FileHints with_engine(FileHints hints) {
    if (hints.storage == StorageEngine::automatic) hints.storage = StorageEngine::threads;
    bool const refused = (hints.storage == StorageEngine::uring && !storage_ring(hints)) ||
                         (hints.storage == StorageEngine::mpi && !may_call_mpi());
    if (refused) hints.storage = StorageEngine::threads;
    return hints;
}

AccessMode access_mode(int amode) noexcept {
    if (amode & MPI_MODE_RDONLY) return AccessMode::read;
    return amode & MPI_MODE_WRONLY ? AccessMode::write : AccessMode::both;
}

std::unique_ptr<StoredFile> stored_file(FileNames const& names, OpenedFile file, int amode,
                                        FileHints const& hints, Team const& team) {
    auto const open = [&](std::function<void()> const& ring) {
        return engine_file(names, std::move(file), access_mode(amode), hints, team, ring);
    };
    auto const ring = [] { Progress::instance().ring(); };
    EmulatedDevice* const device = emulated_device();
    if (!device) return open(ring);
    return std::make_unique<EmulatedFile>(*device, names.path.value_or(names.mpi), open, ring);
}

FileNames names_of(std::string const& name) {
    auto const colon = name.find(':');
    bool const prefixed = colon != std::string::npos && colon >= 2 && name.find('/') > colon;
    if (!prefixed) return {absolute(name), absolute(name)};
    auto const driver = std::string_view(name).substr(0, colon);
    bool const known = drivers_are_known &&
                       std::find(std::begin(posix_drivers), std::end(posix_drivers), driver) !=
                           std::end(posix_drivers);
    if (!known) return {name, std::nullopt};
    auto const path = absolute(name.substr(colon + 1));
    return {name.substr(0, colon + 1) + path, path};
}

WorkerPool& storage_threads() {
    static auto* const pool = new WorkerPool(settings().storage_threads);
    return *pool;
}

double storage_seconds() {
    Uring* const ring = ring_made;
    return storage_threads().processor_seconds() + (ring ? ring->processor_seconds() : 0);
}

}  // namespace sluice
