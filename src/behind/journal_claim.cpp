// How a journal is found, known and claimed. See journal_claim.hpp.
#include "behind/journal_claim.hpp"

#include "system/futex.hpp"
#include "system/peer_process.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

/// What the environment says.
struct Told {
    int fd = -1;
    unsigned long long device = 0, inode = 0, name = 0;
    int line = -1;
    unsigned long long line_inode = 0;
};

/// The number that a text begins with, which goes on behind it and a colon; false: there is none.
template <class Number> bool read_number(std::string_view& text, Number& number, int base) {
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with(':')) text.remove_prefix(1);
    return true;
}

std::optional<Told> read_told(std::string_view text) {
    Told told;
    bool const found = read_number(text, told.fd, 10) && read_number(text, told.device, 16) &&
                       read_number(text, told.inode, 16) && read_number(text, told.name, 16) &&
                       read_number(text, told.line, 10) && read_number(text, told.line_inode, 16);
    bool const whole = found && text.empty() && told.fd >= 0 && told.name != 0;
    return whole ? std::optional(told) : std::nullopt;
}

bool is_meant(Told const& told) {
    auto const identity = identity_of(told.fd);
    return identity && identity->device == told.device && identity->inode == told.inode;
}

/// The keeper's line; -1: it was closed, or there was none.
int line_of(Told const& told) noexcept {
    struct stat about{};
    bool const is_it = told.line >= 0 && fstat(told.line, &about) == 0 && S_ISSOCK(about.st_mode) &&
                       about.st_ino == told.line_inode;
    return is_it ? told.line : -1;
}

/// From 0 to this process.
bool take(JournalHeader& header) noexcept {
    std::uint32_t nobody = 0;
    bool const taken = std::atomic_ref(header.owner)
                           .compare_exchange_strong(nobody, static_cast<std::uint32_t>(getpid()));
    if (taken) wake_all(&header.owner);
    return taken;
}

bool is_gone(std::int64_t process, JournalHeader const& header) noexcept {
    ProcessAddress one;
    one.pid = process;
    one.namespace_ = header.process_namespace;
    return sluice::is_gone(one);
}

/// Whether the keeper has still to write what a process left.
bool is_unwritten(JournalHeader& header) noexcept {
    std::uint32_t const owner = owner_of(header);
    if (owner == 0 || owner == journal_is_written) return false;
    bool const is_left = owner == journal_is_over || is_gone(owner, header);
    return is_left && !is_gone(header.keeper.process, header);
}

}  // namespace

/// Only its front is backed by memory here.
MappedHeader::MappedHeader(int fd) {
    struct stat about{};
    if (fstat(fd, &about) != 0 || about.st_size <= journal_records) return;
    front_ = Mapping::of(fd, {0, about.st_size});
    if (front_ && front_->open({0, journal_records}))
        header_ = header_of({front_->data(), static_cast<std::size_t>(about.st_size)});
}

std::string told_journal(int fd, JournalHeader const& header, int line) {
    auto const identity = identity_of(fd).value_or(FileIdentity{});
    auto const of_line = identity_of(line).value_or(FileIdentity{});
    char text[128];
    std::snprintf(text, sizeof text, "%d:%llx:%llx:%llx:%d:%llx", fd,
                  static_cast<unsigned long long>(identity.device),
                  static_cast<unsigned long long>(identity.inode),
                  static_cast<unsigned long long>(header.keeper.name), line,
                  static_cast<unsigned long long>(of_line.inode));
    return text;
}

void await_keeper(JournalHeader& header) noexcept {
    constexpr unsigned pause_microseconds = 2000;
    while (is_unwritten(header)) usleep(pause_microseconds);
}

ClaimedJournal claim_journal(char const* text) {
    auto const told = text ? read_told(text) : std::nullopt;
    if (!told) return {};
    if (!is_meant(*told))
        return {.why = "its journal was closed on the way from `sluice run` to this process"};
    MappedHeader const mapped(told->fd);
    JournalHeader* const header = mapped.get();
    if (!header) return {.why = "its journal is none of this version of Sluice"};
    if (header->keeper.name != told->name)
        return {.why = "its journal was closed on the way from `sluice run` to this process"};
    if (header->process_namespace != own_process().namespace_)
        return {.why = "its keeper cannot see this process, which has process numbers of its own"};
    await_keeper(*header);
    if (!take(*header))
        return {.why =
                    "another process of the same `sluice run` has the journal, or was killed while "
                    "it had it: start each program by a `sluice run` of its own"};
    return {.fd = told->fd, .line = line_of(*told)};
}

void release_journal(JournalHeader& header) noexcept {
    std::atomic_ref(header.owner).store(0);
    wake_all(&header.owner);
}

std::uint32_t owner_of(JournalHeader& header) noexcept {
    return std::atomic_ref(header.owner).load();
}

bool end_claims(JournalHeader& header, std::uint32_t owner) noexcept {
    return std::atomic_ref(header.owner).compare_exchange_strong(owner, journal_is_over);
}

void note_written(JournalHeader& header) noexcept {
    std::atomic_ref(header.owner).store(journal_is_written);
}

void watch_claims(JournalHeader& header, std::function<void()> const& changed) {
    for (std::uint32_t seen = owner_of(header);;) {
        sleep_on(&header.owner, seen);
        std::uint32_t const now = owner_of(header);
        if (now != seen) changed();
        seen = now;
    }
}

}  // namespace sluice
