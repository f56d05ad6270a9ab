// `sluice recover`: writes what journals of dead ranks hold to the files where it belongs.
#include "base/printable.hpp"
#include "behind/journal_folder.hpp"
#include "behind/unfinished_marks.hpp"
#include "system/errno_status.hpp"
#include "tools/command.hpp"
#include "tools/options.hpp"
#include "tools/recovery_note.hpp"
#include "tools/replay.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
/// A rank says only now and then that it may still change files.
constexpr std::int64_t slack_ns = 5 * second_ns;
constexpr double mebibyte = 1 << 20;

struct Options {
    bool only_lists = false, forced = false, waits = false;
    std::vector<std::string> into;  ///< Files that the user knows to be those of the records.
    std::string folder;

    /// Keepers may have all that is to be waited for in memory.
    [[nodiscard]] bool is_complete() const { return waits || !folder.empty(); }
};

/// A journal of the folder that this call may work on.
struct ChosenJournal {
    std::string path;
    Descriptor descriptor;
    MappedJournal journal;
};

std::optional<Options> parse(int argc, char** argv) {
    Options options;
    for (int i = 0; i < argc; ++i) {
        std::string_view const word = argv[i];
        if (word == "--dry-run")
            options.only_lists = true;
        else if (word == "--force")
            options.forced = true;
        else if (word == "--wait")
            options.waits = true;
        else if (word == "--into" && i + 1 < argc)
            options.into.emplace_back(argv[++i]);
        else if (!word.starts_with('-') && options.folder.empty())
            options.folder = word;
        else
            return std::nullopt;
    }
    return options.is_complete() ? std::optional(options) : std::nullopt;
}

std::int64_t since_start_of_system_ns() noexcept {
    timespec up{};
    clock_gettime(CLOCK_BOOTTIME, &up);
    return std::int64_t{up.tv_sec} * second_ns + up.tv_nsec;
}

std::string time_in_words(std::int64_t ns) {
    std::time_t const seconds = ns / second_ns;
    std::tm parts{};
    char text[32] = "";
    if (localtime_r(&seconds, &parts)) std::strftime(text, sizeof text, "%F %T", &parts);
    return text;
}

bool is_of_start(char const* boot, JournalOrigin const& here) noexcept {
    return *boot != '\0' && std::strcmp(boot, here.boot) == 0;
}

/// When ranks and replays may have changed files, as the journals tell. What one rank wrote may be
/// another's bytes, so all ranks count. A start of the system ended them all.
class Activity {
public:
    explicit Activity(std::span<MappedJournal const> journals) {
        for (MappedJournal const& journal : journals)
            if (is_of_start(journal.header().origin.boot, here_))
                last_ = std::max(last_, journal.header().active);
    }
    [[nodiscard]] JournalOrigin const& here() const noexcept { return here_; }
    /// When one of the ranks last said that it works, since the system was started.
    [[nodiscard]] std::int64_t last() const noexcept { return last_; }
    [[nodiscard]] std::int64_t end_of_ranks(JournalHeader const& header) const noexcept {
        return is_of_start(header.origin.boot, here_) ? last_ + slack_ns : start_of_system();
    }
    [[nodiscard]] bool covers(JournalHeader const& header, std::int64_t time) const noexcept {
        if (time <= end_of_ranks(header)) return true;
        if (header.replay_begin == 0 || time < header.replay_begin) return false;
        return time <= (is_of_start(header.replay_boot, here_) ? header.replay_until + slack_ns
                                                               : start_of_system());
    }

private:
    static std::int64_t start_of_system() noexcept {
        return system_clock_ns() - since_start_of_system_ns();
    }

    JournalOrigin const here_ = origin_here(-1);
    std::int64_t last_ = 0;
};

/// The last change that no recovery on another node made. The file's own time is asked for first:
/// what a recovery changes later, it has noted before.
std::int64_t last_change_by_others(int fd) {
    std::int64_t const changed = last_change(fd);
    auto const note = recovery_note_on(fd);
    return note && changed <= note->until ? note->before : changed;
}

/// Why what is written may only go into files that are judged; what this call is asked to.
class Judgement {
public:
    Judgement(Activity const& activity, Options const& options, RecoveryNotes& notes)
        : activity_(activity),
          options_(options),
          notes_(notes) {}

    /// Empty: the bytes may be written, and a note is kept on the file.
    [[nodiscard]] std::string refusal(JournalRecord const& record, JournalHeader const& header,
                                      int fd) const {
        auto const is_same = birth_of(fd).is_same(record.birth);
        if (!has_its_numbers(record, header, fd) || is_same == false)
            return "it is not the file any more that was written to";
        if (!is_same && !is_named(fd))
            return "its file system does not tell whether it is the file that was written to, or a "
                   "later one with its number; if it is, add --into " +
                   record.path;
        std::int64_t const changed = last_uncovered(header, fd);
        if (options_.forced || activity_.covers(header, changed)) {
            notes_.add(fd, std::max(changed, activity_.last()));
            return {};
        }
        return "it was changed at " + time_in_words(changed) + ", and the ranks had ended by " +
               time_in_words(activity_.end_of_ranks(header)) +
               "; if the bytes are to be written all the same, use --force";
    }

private:
    /// A system that was started again may number its devices in another way.
    [[nodiscard]] bool has_its_numbers(JournalRecord const& record, JournalHeader const& header,
                                       int fd) const {
        auto const found = identity_of(fd);
        bool const same_device = found && found->device == record.identity.device;
        return found && found->inode == record.identity.inode &&
               (same_device || !is_of_start(header.origin.boot, activity_.here()));
    }
    [[nodiscard]] bool is_named(int fd) const {
        return std::ranges::any_of(options_.into, [&](std::string const& name) {
            Descriptor const named(::open(name.c_str(), O_PATH | O_CLOEXEC));
            return named.get() >= 0 && identity_of(named.get()) == identity_of(fd);
        });
    }

    /// A recovery that goes on elsewhere may be about to note its last change: then this waits.
    [[nodiscard]] std::int64_t last_uncovered(JournalHeader const& header, int fd) const {
        constexpr int tries = 25;
        constexpr unsigned pause_microseconds = 200000;
        std::int64_t changed = last_change_by_others(fd);
        for (int i = 0; i < tries && !options_.forced && !activity_.covers(header, changed); ++i) {
            auto const note = recovery_note_on(fd);
            if (!note || !activity_.covers(header, note->before)) break;
            usleep(pause_microseconds);
            changed = last_change_by_others(fd);
        }
        return changed;
    }

    Activity const& activity_;
    Options const& options_;
    RecoveryNotes& notes_;
};

/// A container has a host name of its own, on the same start of the system; a system that was
/// started again has its old name.
bool is_of_here(MappedJournal const& journal, JournalOrigin const& here) {
    JournalOrigin const& origin = journal.header().origin;
    return std::strcmp(origin.host, here.host) == 0 || is_of_start(origin.boot, here);
}

/// Those that nobody holds and that are of this host. Says what becomes of the others.
std::vector<ChosenJournal> candidates(Options const& options, int& problems) {
    Error error;
    std::vector<ChosenJournal> chosen;
    JournalOrigin const here = origin_here(-1);
    for (FoundJournal& one : journals_in(options.folder, error)) {
        std::string const shown = printable(one.file.path);
        char const* const path = shown.c_str();
        auto journal = one.is_free ? MappedJournal::of(one.file.descriptor.get()) : std::nullopt;
        if (one.file.error) {
            std::printf("%s: left alone: %s\n", path, errno_text(one.file.error.code).c_str());
            ++problems;
        } else if (!one.is_free) {
            std::printf("%s: left alone: its rank or its keeper still runs\n", path);
        } else if (!journal) {
            std::printf("%s: left alone: it is no journal of this version of Sluice\n", path);
            ++problems;
        } else if (!journal->header().durable) {
            std::printf("%s: left alone: it was in memory, for a keeper\n", path);
            ++problems;
        } else if (!options.forced && !is_of_here(*journal, here)) {
            std::printf("%s: left alone: it is of the host %s: run sluice recover there, or with "
                        "--force if that was a container of this one\n",
                        path, printable(journal->header().origin.host).c_str());
            ++problems;
        } else {
            chosen.push_back({one.file.path, std::move(one.file.descriptor), std::move(*journal)});
        }
    }
    if (error) {
        std::fprintf(stderr, "sluice recover: %s: %s\n", printable(options.folder).c_str(),
                     errno_text(error.code).c_str());
        ++problems;
    }
    return chosen;
}

Bytes list(std::vector<ChosenJournal> const& chosen) {
    Bytes all = 0;
    for (ChosenJournal const& one : chosen) {
        std::map<std::string, std::pair<std::int64_t, Bytes>> files;
        for (JournalRecord const& record : records_of(one.journal.bytes())) {
            auto& [writes, bytes] = files[record.path];
            writes += 1, bytes += record.request.bytes;
            all += record.request.bytes;
        }
        JournalOrigin const& origin = one.journal.header().origin;
        std::printf("%s: rank %lld, begun %s%s\n", printable(one.path).c_str(),
                    static_cast<long long>(origin.rank), time_in_words(origin.created).c_str(),
                    files.empty() ? ": nothing is left to write" : "");
        for (auto const& [path, of_file] : files)
            std::printf("  %s: %lld writes, %.1f MiB\n", printable(path).c_str(),
                        static_cast<long long>(of_file.first),
                        static_cast<double>(of_file.second) / mebibyte);
    }
    return all;
}

/// A line that is written over, where somebody looks on.
class ProgressLine {
public:
    explicit ProgressLine(Bytes all) : all_(all), is_seen_(isatty(STDERR_FILENO) == 1) {}
    ~ProgressLine() {
        if (is_seen_ && done_ > 0) std::fputs("\n", stderr);
    }
    void add(Bytes bytes) {
        done_ += bytes;
        std::int64_t const now = system_clock_ns();
        if (!is_seen_ || now - told_ < second_ns / 5) return;
        told_ = now;
        std::fprintf(stderr, "\r%.1f of %.1f MiB", static_cast<double>(done_) / mebibyte,
                     static_cast<double>(all_) / mebibyte);
    }

private:
    Bytes all_, done_ = 0;
    bool is_seen_;
    std::int64_t told_ = 0;
};

/// What this call writes is no change by somebody else, if the call is ended and made again.
void begin_replay(std::span<MappedJournal const> journals, JournalOrigin const& here) {
    std::int64_t const now = system_clock_ns();
    for (MappedJournal const& journal : journals) {
        JournalHeader& header = journal.header();
        if (header.replay_begin == 0) header.replay_begin = now;
        header.replay_until = now;
        std::memcpy(header.replay_boot, here.boot, sizeof header.replay_boot);
        (void)journal.sync();
    }
}

void end_replay(std::span<MappedJournal const> journals) {
    for (MappedJournal const& journal : journals) {
        journal.header().replay_begin = 0;
        (void)journal.sync();
    }
}

ReplayOutcome complete(std::span<MappedJournal const> journals, Bytes all, Options const& options) {
    Activity const activity(journals);
    RecoveryNotes notes;
    Judgement const judgement(activity, options, notes);
    ProgressLine line(all);
    ReplayRules rules;
    rules.refusal = [&](JournalRecord const& record, JournalHeader const& header, int fd) {
        return judgement.refusal(record, header, fd);
    };
    rules.begins = [&] { begin_replay(journals, activity.here()); };
    rules.flushed = [&](int fd) { notes.ends(fd); };
    rules.writes = [&](int fd, Bytes bytes) {
        notes.writes(fd);
        for (MappedJournal const& journal : journals)
            journal.header().replay_until = system_clock_ns();
        line.add(bytes);
    };
    auto outcome = replay(journals, rules);
    end_replay(journals);
    return outcome;
}

int recover(std::vector<ChosenJournal> chosen, Options const& options, int problems) {
    Bytes const all = list(chosen);
    if (options.only_lists || chosen.empty()) return problems > 0;
    std::vector<MappedJournal> journals;
    for (ChosenJournal& one : chosen) journals.push_back(std::move(one.journal));
    auto const outcome = complete(journals, all, options);
    std::printf("%lld writes, %.1f MiB, are in their files\n",
                static_cast<long long>(outcome.writes),
                static_cast<double>(outcome.bytes) / mebibyte);
    for (std::string const& line : outcome.refused)
        std::printf("not written: %s\n", printable(line).c_str());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        if (records_of(journals[i].bytes()).empty())
            unlink(chosen[i].path.c_str());
        else
            std::printf("%s stays: mend the cause and run sluice recover again, or remove it\n",
                        printable(chosen[i].path).c_str());
    }
    return problems > 0 || !outcome.refused.empty();
}

}  // namespace

/// A launcher may have returned before them. A rank that has just ended has a keeper that has just
/// noticed it.
static void await_keepers_of_node() {
    constexpr unsigned pause_microseconds = 100000;
    auto const table = MarkTable::of_node();
    do usleep(pause_microseconds);
    while (table && table->is_held_by_others(UnfinishedMarks::of_keepers));
}

int command_recover(int argc, char** argv) {
    auto const options = parse(argc, argv);
    if (!options) {
        return not_understood(
            "recover", argc, argv,
            "usage: sluice recover [--dry-run] [--force] [--into FILE] [--wait] FOLDER\n"
            "       sluice recover --wait\n");
    }
    if (options->waits) await_keepers_of_node();
    if (options->folder.empty()) return 0;
    int problems = 0;
    if (!options->only_lists) clear_unfinished_journals(options->folder);
    auto chosen = candidates(*options, problems);
    if (chosen.empty() && problems == 0)
        std::printf("%s: nothing is to be recovered\n", options->folder.c_str());
    return recover(std::move(chosen), *options, problems);
}

}  // namespace sluice
