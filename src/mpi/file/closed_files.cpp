// How closed files are kept and released. See closed_files.hpp.
#include "mpi/file/closed_files.hpp"

#include "mpi/errors.hpp"
#include "mpi/file/statistics.hpp"
#include "mpi/pmpi.hpp"
#include "mpi/requests/requests.hpp"

#include <algorithm>
#include <deque>
#include <map>

namespace sluice {
namespace {

/// By a File and by its Delayed.
constexpr long uses_of_team = 2;

class ClosedFiles {
public:
    /// All ranks of a team close its files in the same order.
    void add(std::shared_ptr<File> const& file) {
        std::lock_guard const lock(mutex_);
        file->team->uses_by_closed += uses_of_team;
        by_team_[file->team.get()].push_back(file);
    }
    [[nodiscard]] std::vector<std::shared_ptr<File>> of(Team const& team) const {
        std::lock_guard const lock(mutex_);
        auto const found = by_team_.find(&team);
        if (found == by_team_.end()) return {};
        return {found->second.begin(), found->second.end()};
    }
    /// Takes out the first one.
    void remove_first(Team const& team) {
        std::lock_guard const lock(mutex_);
        auto const found = by_team_.find(&team);
        found->second.pop_front();
        if (found->second.empty()) by_team_.erase(found);
    }
    [[nodiscard]] std::vector<std::shared_ptr<File>> all() const {
        std::lock_guard const lock(mutex_);
        std::vector<std::shared_ptr<File>> found;
        for (auto const& [team, files] : by_team_)
            found.insert(found.end(), files.begin(), files.end());
        return found;
    }

    void note(Status status) {
        std::lock_guard const lock(mutex_);
        untold_ = agreed(untold_, status);
    }
    [[nodiscard]] Status take_untold() {
        std::lock_guard const lock(mutex_);
        return std::exchange(untold_, Status::ok);
    }
    /// For statistics, which are reduced over the ranks when MPI ends.
    void keep_for_statistics(std::shared_ptr<File> file) {
        std::lock_guard const lock(mutex_);
        released_.push_back(std::move(file));
    }
    [[nodiscard]] std::vector<std::shared_ptr<File>> take_released() {
        std::lock_guard const lock(mutex_);
        return std::exchange(released_, {});
    }

private:
    mutable std::mutex mutex_;
    std::map<Team const*, std::deque<std::shared_ptr<File>>> by_team_;  ///< Files hold their team.
    std::vector<std::shared_ptr<File>> released_;
    Status untold_ = Status::ok;
};
ClosedFiles& closed_files() {
    static auto* const only = new ClosedFiles;
    return *only;
}

/// `file` is complete on all ranks.
void release(std::shared_ptr<File> const& file) {
    closed_files().note(file->delayed->late_errors_and_journal().any());
    file->delayed->forget();
    file->storage->release();
    file->release_queue();
    if (wants_statistics())
        closed_files().keep_for_statistics(file);
    else
        file->team->uses_by_closed -= uses_of_team;
}

}  // namespace

int close_behind(std::shared_ptr<File> const& file, MPI_File* handle) {
    file->drain_requests();
    file->split.reset();
    reap(false);
    closed_files().note(file->delayed->late_errors().any());
    for (auto const& earlier : closed_files().all())
        closed_files().note(earlier->delayed->late_errors().any());
    int const error = raise(file->handle, closed_files().take_untold());
    file->keep_queue();
    closed_files().add(file);
    remove_file(*handle);
    int const code = SLUICE_PMPI(MPI_File_close)(handle);
    return code == MPI_SUCCESS ? error : code;
}

std::size_t count_complete(Team const& team) {
    auto const files = closed_files().of(team);
    auto const under_way =
        std::ranges::find_if(files, [](auto const& file) { return !file->is_drained(); });
    return static_cast<std::size_t>(under_way - files.begin());
}

void release_closed(Team const& team, std::size_t count) {
    auto const files = closed_files().of(team);
    for (std::size_t i = 0; i < std::min(count, files.size()); ++i) {
        release(files[i]);
        closed_files().remove_first(team);
    }
}

bool limit_closed(Team& team, std::size_t most) {
    auto const files = closed_files().of(team);
    if (files.size() <= most) return false;
    std::size_t const oldest = files.size() - most / 2;
    for (std::size_t i = 0; i < oldest; ++i) files[i]->drain();
    (void)team.largest({});
    release_closed(team, oldest);
    return true;
}

Status end_closed_files() {
    for (auto const& file : closed_files().all()) file->drain();
    for (auto const& file : closed_files().all()) {
        release(file);
        closed_files().remove_first(*file->team);
    }
    return closed_files().take_untold();
}

/// Files of all communicators in the same order on all ranks.
void collect_statistics_of_closed() {
    auto files = closed_files().take_released();
    std::ranges::sort(files, {}, [](auto const& file) { return file->opening; });
    for (auto const& file : files) collect_statistics(*file);
}

}  // namespace sluice
