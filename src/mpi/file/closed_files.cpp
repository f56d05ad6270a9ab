// How closed files are kept and released. See closed_files.hpp.
#include "mpi/file/closed_files.hpp"

#include "mpi/behind/rank_journal.hpp"
#include "mpi/errors.hpp"
#include "mpi/file/statistics.hpp"
#include "mpi/pmpi.hpp"
#include "mpi/requests/requests.hpp"

#include <algorithm>
#include <limits>

namespace sluice {
namespace {

constexpr std::ptrdiff_t incomplete_at_most = 16;  ///< Of a team.

/// By a File and by its Delayed.
constexpr long uses_of_team = 2;

using FileList = std::vector<std::shared_ptr<File>>;

class ClosedFiles {
public:
    void add(std::shared_ptr<File> const& file) {
        std::lock_guard const lock(mutex_);
        file->team->uses_by_closed += uses_of_team;
        files_.push_back(file);
    }
    [[nodiscard]] FileList all() const {
        std::lock_guard const lock(mutex_);
        return files_;
    }
    [[nodiscard]] FileList of(Team const& team) const {
        FileList found = all();
        std::erase_if(found, [&](auto const& file) { return file->team.get() != &team; });
        return found;
    }
    /// Those for which `which` holds are taken out; each by one thread only.
    template <class Which> [[nodiscard]] FileList take(Which const& which) {
        std::lock_guard const lock(mutex_);
        FileList taken;
        std::erase_if(files_, [&](auto const& file) {
            return which(*file) && (taken.push_back(file), true);
        });
        return taken;
    }

    void note(Status status) {
        std::lock_guard const lock(mutex_);
        untold_ = agreed(untold_, status);
    }
    [[nodiscard]] Status take_untold() {
        std::lock_guard const lock(mutex_);
        return std::exchange(untold_, Status::ok);
    }

private:
    mutable std::mutex mutex_;
    FileList files_;
    Status untold_ = Status::ok;
};
ClosedFiles& closed_files() {
    static auto* const only = new ClosedFiles;
    return *only;
}

/// The file is complete on this rank, which needs neither its descriptor nor memory any more. With
/// journals that outlive their ranks the descriptor tells of other ranks' records; and to ask the
/// own journal would be to wait for what later handles have in it.
void end_here(File& file) {
    closed_files().note(file.delayed->late_errors().any());
    if (wants_durable_journal() || !file.give_back()) return;
    closed_files().note(file.release_storage());
}

/// The file is complete on all ranks; or nobody will meet on its team again.
void release(std::shared_ptr<File> const& file) {
    end_here(*file);
    file->delayed->forget();
    closed_files().note(file->release_storage());
    file->release_queue();
    file->team->uses_by_closed -= uses_of_team;
}

/// Of any team, what is complete here.
void sweep() {
    for (auto const& file : closed_files().all())
        if (file->is_drained()) end_here(*file);
    if (wants_statistics()) return;  // These need all ranks.
    // No communicator will ever find a team again that only closed files use.
    FileList const left = closed_files().take([](File const& file) {
        return file.team.use_count() == file.team->uses_by_closed && file.is_drained();
    });
    for (auto const& file : left) release(file);
}

}  // namespace

int close_behind(std::shared_ptr<File> const& file, MPI_File* handle) {
    sweep();
    file->drain_requests();
    file->split.reset();
    reap(false);
    closed_files().note(file->delayed->late_errors().any());
    for (auto const& earlier : closed_files().all())
        closed_files().note(earlier->delayed->late_errors().any());
    int const error = raise(file->handle, closed_files().take_untold());
    file->begin_to_close();
    closed_files().add(file);
    remove_file(*handle);
    int const code = SLUICE_PMPI(MPI_File_close)(handle);
    return code == MPI_SUCCESS ? error : code;
}

std::uint64_t first_incomplete(Team const& team) {
    sweep();
    auto first = std::numeric_limits<std::uint64_t>::max();
    for (auto const& file : closed_files().of(team))
        if (!file->is_drained()) first = std::min(first, file->sequence);
    return first;
}

bool are_too_many_incomplete(Team const& team) {
    auto const files = closed_files().of(team);
    return std::ranges::count_if(files, [](auto const& file) { return !file->is_drained(); }) >
           incomplete_at_most;
}

void release_closed(Team const& team, std::uint64_t below) {
    FileList files = closed_files().take(
        [&](File const& file) { return file.team.get() == &team && file.sequence < below; });
    std::ranges::sort(files, {}, [](auto const& file) { return file->sequence; });
    for (auto const& file : files) {
        release(file);
        collect_statistics(*file);
    }
}

void complete_closed(Team& team) {
    for (auto const& file : closed_files().of(team)) file->drain();
    (void)team.largest({});
    release_closed(team, std::numeric_limits<std::uint64_t>::max());
}

/// When MPI ends, keepers of other ranks may still ask which calls this rank knows to be complete:
/// the files stay, as those do that nobody has closed. Statistics of all communicators come in the
/// same order on all ranks.
Status end_closed_files(bool last) {
    FileList files = closed_files().all();
    for (auto const& file : files) file->drain();
    for (auto const& file : files) {
        closed_files().note(file->delayed->late_errors_and_journal().any());
        end_here(*file);
    }
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (last && !finalized) {
        std::ranges::sort(files, {}, [](auto const& file) { return file->opening; });
        for (auto const& file : files) collect_statistics(*file);
    }
    return closed_files().take_untold();
}

}  // namespace sluice
