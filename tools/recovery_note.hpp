// A note on a file that `sluice recover` changes, as an extended attribute. Each node of a job
// recovers by itself, and what one has written is no change by somebody else to the next.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sluice {

/// Times of the file system's clock, in nanoseconds.
struct RecoveryNote {
    std::int64_t before = 0;  ///< When somebody else last changed the file before a recovery.
    std::int64_t until = 0;   ///< From then on, up to this time, recoveries have changed it.
};

/// When a file was last changed. A time that somebody set (`cp -p`) is told by the time of that.
[[nodiscard]] std::int64_t last_change(int fd) noexcept;
/// Nothing where no recovery has noted anything, or the file system has no such attributes.
[[nodiscard]] std::optional<RecoveryNote> recovery_note_on(int fd);

/// The files that one call writes to, whose notes it keeps.
class RecoveryNotes {
public:
    /// A file, whose descriptor stays open as long as it is written to, and when somebody else
    /// changed it.
    void add(int fd, std::int64_t changed) { files_.emplace_back(fd, changed); }
    /// That the files are written to until now; before the first write, after the last one, and
    /// now and then between. Does so at most once a second unless it is `due`.
    void tell(bool due);

private:
    std::vector<std::pair<int, std::int64_t>> files_;
    std::int64_t told_ = 0;
};

}  // namespace sluice
