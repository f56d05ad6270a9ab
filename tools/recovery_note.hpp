// A note on a file that `sluice recover` changes, as an extended attribute. Each node of a job
// recovers by itself, and what one has written is no change by somebody else to the next.
#pragma once
#include <cstdint>
#include <map>
#include <optional>

namespace sluice {

/// Times of the file system's clock, in nanoseconds.
struct RecoveryNote {
    /// When somebody else last changed the file before recoveries did, or a rank still worked whose
    /// writes they have written: a job that ended before must not write over that.
    std::int64_t before = 0;
    std::int64_t until = 0;  ///< From then on, up to this time, recoveries have changed it.
};

/// When a file was last changed. A time that somebody set (`cp -p`) is told by the time of that.
[[nodiscard]] std::int64_t last_change(int fd) noexcept;
/// Nothing where no recovery has noted anything, or the file system has no such attributes.
[[nodiscard]] std::optional<RecoveryNote> recovery_note_on(int fd);

/// The files that one call writes to, whose notes it keeps.
class RecoveryNotes {
public:
    /// A file that may be written to, whose descriptor stays open until then; see RecoveryNote.
    void add(int fd, std::int64_t before) { files_[fd] = {before, 0, 0}; }
    /// Something is written to it: before and after each write. Tells of it once a second.
    void writes(int fd);
    /// Nothing more is written to it.
    void ends(int fd);

private:
    struct Told {
        std::int64_t before, until, at;
    };
    void tell(int fd, Told& told, std::int64_t ahead_ns);

    std::map<int, Told> files_;
};

}  // namespace sluice
