// The note is text, for whoever finds it. See recovery_note.hpp.
#include "tools/recovery_note.hpp"

#include "behind/journal_folder.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <sys/stat.h>
#include <sys/xattr.h>

namespace sluice {
namespace {

constexpr char attribute[] = "user.sluice.recovered";
constexpr std::int64_t between_ns = 1'000'000'000;  ///< Of two tellings, at least.
constexpr std::int64_t ahead_ns = 2 * between_ns;   ///< What is told lasts until the next one.
constexpr std::int64_t tick_ns = 20'000'000;        ///< Times of files are no finer than this.

std::int64_t nanoseconds_of(timespec const& time) noexcept {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void put(int fd, RecoveryNote const& note) {
    std::string const text = std::to_string(note.before) + " " + std::to_string(note.until);
    (void)fsetxattr(fd, attribute, text.data(), text.size(), 0);
}

}  // namespace

std::int64_t last_change(int fd) noexcept {
    struct stat about{};
    if (fstat(fd, &about) != 0) return 0;
    return std::max(nanoseconds_of(about.st_mtim), nanoseconds_of(about.st_ctim));
}

std::optional<RecoveryNote> recovery_note_on(int fd) {
    char text[64];
    auto const length = fgetxattr(fd, attribute, text, sizeof text);
    if (length <= 0) return std::nullopt;
    RecoveryNote note;
    char const* const end = text + length;
    auto const [space, wrong] = std::from_chars(text, end, note.before);
    if (wrong != std::errc() || space == end || *space != ' ') return std::nullopt;
    auto const [last, also_wrong] = std::from_chars(space + 1, end, note.until);
    return also_wrong == std::errc() && last == end ? std::optional(note) : std::nullopt;
}

void RecoveryNotes::writes(int fd) {
    auto const found = files_.find(fd);
    if (found == files_.end()) return;
    std::int64_t const now = system_clock_ns();
    if (now - found->second.at < between_ns) return;
    found->second.at = now;
    tell(fd, found->second, ahead_ns);
}

void RecoveryNotes::ends(int fd) {
    auto const found = files_.find(fd);
    if (found != files_.end() && found->second.at > 0) tell(fd, found->second, tick_ns);
}

/// The note is a change as well, whose time it has to cover, so it is put twice; the first one goes
/// by the clock here. Another node's note may reach further: the later time is kept.
void RecoveryNotes::tell(int fd, Told& told, std::int64_t ahead) {
    auto const last = recovery_note_on(fd);
    bool const is_others = last && last->until != told.until;
    std::int64_t const least = is_others ? last->until : 0;
    std::int64_t const before = is_others ? std::max(told.before, last->before) : told.before;
    put(fd, {before, std::max({least, last_change(fd) + ahead_ns, system_clock_ns() + ahead_ns})});
    told.until = std::max(least, last_change(fd) + ahead);
    put(fd, {before, told.until});
}

}  // namespace sluice
