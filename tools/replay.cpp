// A file that has another inode than the one that was written to is left alone. See replay.hpp.
#include "tools/replay.hpp"

#include "file/run/transfers.hpp"
#include "storage/journal.hpp"
#include "storage/posix.hpp"
#include "system/errno_status.hpp"

namespace sluice {
namespace {

std::string cause_of(Error const& error) {
    std::string const what = error.what ? error.what : "it";
    return error.code != 0 ? what + ": " + errno_text(error.code) : what;
}

/// Empty: it is in its file.
std::string write_out(JournalRecord const& record) {
    auto const file = open_file(record.file.path, AccessMode::write);
    if (file.error) return cause_of(file.error);
    if (identity_of(file.descriptor.get()) != record.file.identity)
        return "it is not the file any more that was written to";
    UserTransfer transfer(record.request, record.data);
    Route route;
    route.fd = file.descriptor.get();
    transfer_all(transfer, route);
    return transfer.error ? cause_of(transfer.error) : std::string();
}

}  // namespace

ReplayOutcome replay(std::span<std::byte> journal) {
    ReplayOutcome outcome;
    for (JournalRecord const& record : records_of(journal)) {
        std::string const why = write_out(record);
        if (why.empty()) {
            clear(journal, record.slot);
            outcome.writes += 1;
            outcome.bytes += record.request.bytes;
        } else {
            outcome.refused.push_back(std::to_string(record.request.bytes) + " bytes for " +
                                      record.file.path + ": " + why);
        }
    }
    return outcome;
}

}  // namespace sluice
