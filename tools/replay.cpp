// A file is opened by its name, once for all of its records. See replay.hpp.
#include "tools/replay.hpp"

#include "file/run/transfers.hpp"
#include "storage/posix.hpp"
#include "system/errno_status.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace sluice {
namespace {

std::string cause_of(Error const& error) {
    std::string const what = error.what ? error.what : "it";
    return error.code != 0 ? what + ": " + errno_text(error.code) : what;
}

std::string not_the_same(JournalRecord const& record, int fd) {
    bool const is_other = birth_of(fd).is_same(record.birth) == false;
    if (identity_of(fd) == record.identity && !is_other) return {};
    return "it is not the file any more that was written to";
}

/// Does not wait for the other end of a pipe, but for another keeper that keeps others out.
Descriptor open_at_once(std::string const& path) {
    constexpr int how = O_WRONLY | O_CLOEXEC;
    Descriptor file(::open(path.c_str(), how | O_NONBLOCK));
    if (file.get() >= 0 || errno != EWOULDBLOCK) return file;
    return Descriptor(::open(path.c_str(), how));
}

bool is_regular(int fd) noexcept {
    struct stat about{};
    return fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
}

/// Where nobody else has the file open, an open by anybody waits until it is closed here, for 45 s
/// at most: whoever starts anew where a rank was killed writes behind what the rank had left.
void keep_others_out(int fd) noexcept {
    constexpr int tries = 20;
    constexpr unsigned pause_microseconds = 1000;
    std::signal(SIGIO, SIG_IGN);  // The system tells the holder of a lease that somebody waits.
    for (int i = 0; i < tries && fcntl(fd, F_SETLEASE, F_WRLCK) != 0 && errno == EAGAIN; ++i)
        usleep(pause_microseconds);  // Keepers of other ranks have it still.
}

/// Its descriptor may be that of somebody who keeps it.
void let_others_in(int fd) noexcept { (void)fcntl(fd, F_SETLEASE, F_UNLCK); }

/// A file of some records.
struct Target {
    Descriptor descriptor;
    std::string refusal;  ///< Why nothing is written; empty: it is.
    std::vector<std::size_t> written;
};

class Replay {
public:
    Replay(std::span<MappedJournal const> journals, ReplayRules const& rules)
        : journals_(journals),
          rules_(rules),
          records_(merged_records(journals)) {
        if (rules.chooses)
            std::erase_if(records_, [&](auto const& one) { return !rules.chooses(one.record); });
    }

    ReplayOutcome run() {
        outcome_.journals = journals_.size();
        for (SourcedRecord const& one : records_) open(one);
        for (auto const& [key, target] : targets_)  // A file may have several names.
            if (target.refusal.empty()) keep_others_out(target.descriptor.get());
        if (rules_.begins && !records_.empty()) rules_.begins();
        for (std::size_t i = 0; i < records_.size(); ++i) write_out(i);
        for (auto& [key, target] : targets_) {
            finish(target);
            if (target.refusal.empty()) let_others_in(target.descriptor.get());
        }
        for (MappedJournal const& journal : journals_) {
            if (journal.header().durable) (void)journal.sync();
        }
        return std::move(outcome_);
    }

private:
    /// A name may have led to one file after the other.
    using Key = std::pair<std::string, FileIdentity>;
    static Key key_of(JournalRecord const& record) { return {record.path, record.identity}; }

    /// The file needs no look: it is the one that the rank had.
    [[nodiscard]] Descriptor given(FileIdentity const& file) const {
        int const fd = rules_.given ? rules_.given(file) : -1;
        int const how = fd < 0 ? -1 : fcntl(fd, F_GETFL);
        bool const can_write = how >= 0 && (how & O_ACCMODE) != O_RDONLY;
        if (!can_write || ((how & O_DIRECT) && fcntl(fd, F_SETFL, how & ~O_DIRECT) != 0)) return {};
        return Descriptor(fcntl(fd, F_DUPFD_CLOEXEC, 0));
    }

    void open(SourcedRecord const& one) {
        auto const [found, is_new] = targets_.try_emplace(key_of(one.record));
        Target& target = found->second;
        if (!is_new) return;
        target.descriptor = given(one.record.identity);
        if (target.descriptor.get() >= 0) return;
        target.descriptor = open_at_once(one.record.path);
        int const fd = target.descriptor.get();
        if (fd < 0)
            target.refusal = "open: " + errno_text(errno);
        else if (!is_regular(fd))
            target.refusal = "it is no regular file";
        else if (rules_.refusal)
            target.refusal = rules_.refusal(one.record, journals_[one.journal].header(), fd);
        else
            target.refusal = not_the_same(one.record, fd);
    }

    void write_out(std::size_t place) {
        SourcedRecord const& one = records_[place];
        Target& target = targets_.at(key_of(one.record));
        if (!target.refusal.empty()) return refuse(one.record, target.refusal);
        UserTransfer transfer(one.record.request, one.record.data);
        transfer_all(transfer, [&](Direction, iovec const* vectors, int count, Offset offset) {
            int const fd = target.descriptor.get();
            if (rules_.writes) rules_.writes(fd, 0);
            long const moved = pwritev(fd, vectors, count, offset);
            if (moved > 0 && rules_.writes) rules_.writes(fd, moved);
            return moved;
        });
        if (transfer.error) return refuse(one.record, cause_of(transfer.error));
        target.written.push_back(place);
    }

    /// A journal forgets bytes only when the system has no error of them left to tell.
    [[nodiscard]] bool needs_flush(Target const& target) const {
        if (target.written.empty()) return false;
        int const fd = target.descriptor.get();
        auto const file = identity_of(fd);
        if (!file || consistency_of(fd, *file) != Consistency::posix) return true;
        return std::ranges::any_of(target.written, [&](std::size_t place) {
            return journals_[records_[place].journal].header().durable != 0;
        });
    }

    void finish(Target& target) {
        int const failed = needs_flush(target) ? sync_data(target.descriptor.get()) : 0;
        if (rules_.flushed && !target.written.empty()) rules_.flushed(target.descriptor.get());
        for (std::size_t const place : target.written) {
            SourcedRecord const& one = records_[place];
            if (failed) {
                refuse(one.record, "fdatasync: " + errno_text(failed));
                continue;
            }
            clear(journals_[one.journal].bytes(), one.record.slot);
            outcome_.writes += 1;
            outcome_.bytes += one.record.request.bytes;
        }
    }

    void refuse(JournalRecord const& record, std::string const& why) {
        outcome_.refused.push_back(std::to_string(record.request.bytes) + " bytes for " +
                                   record.path + ": " + why);
    }

    std::span<MappedJournal const> journals_;
    ReplayRules const& rules_;
    std::vector<SourcedRecord> records_;
    std::map<Key, Target> targets_;
    ReplayOutcome outcome_;
};

}  // namespace

std::optional<MappedJournal> MappedJournal::of(int fd) {
    struct stat about{};
    if (fstat(fd, &about) != 0 || about.st_size <= journal_records) return std::nullopt;
    MappedJournal journal;
    auto mapping = Mapping::of(fd, {0, about.st_size});
    if (!mapping || !mapping->open({0, about.st_size})) return std::nullopt;
    journal.fd_ = fd;
    journal.bytes_ = {mapping->data(), static_cast<std::size_t>(about.st_size)};
    journal.mapping_ = std::move(*mapping);
    return header_of(journal.bytes_) ? std::optional(std::move(journal)) : std::nullopt;
}

std::vector<SourcedRecord> merged_records(std::span<MappedJournal const> journals) {
    std::vector<SourcedRecord> all;
    for (std::size_t i = 0; i < journals.size(); ++i) {
        for (JournalRecord& record : records_of(journals[i].bytes()))
            all.push_back({std::move(record), i});
    }
    std::ranges::sort(all, {}, [](SourcedRecord const& one) {
        return std::tuple(one.record.stamp, one.journal, one.record.number);
    });
    return all;
}

ReplayOutcome replay(std::span<MappedJournal const> journals, ReplayRules const& rules) {
    return Replay(journals, rules).run();
}

}  // namespace sluice
