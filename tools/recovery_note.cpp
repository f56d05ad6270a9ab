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

std::int64_t nanoseconds_of(timespec const& time) noexcept {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void put(int fd, RecoveryNote const& note) {
    std::string const text = std::to_string(note.before) + " " + std::to_string(note.until);
    (void)fsetxattr(fd, attribute, text.data(), text.size(), 0);
}

/// The note is a change as well, so it is put twice. Another node may be at work later than this.
void tell_on(int fd, std::int64_t before) {
    auto const last = recovery_note_on(fd);
    std::int64_t const until = last ? last->until : 0;
    put(fd, {before, until});
    put(fd, {before, std::max(until, last_change(fd) + ahead_ns)});
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

void RecoveryNotes::tell(bool due) {
    std::int64_t const now = system_clock_ns();
    if (!due && now - told_ < between_ns) return;
    told_ = now;
    for (auto const& [fd, changed] : files_) tell_on(fd, changed);
}

}  // namespace sluice
