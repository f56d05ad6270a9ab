// How parts are written and read. See trace_file.hpp.
#include "system/trace_file.hpp"

#include "trace/chrome_json.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace sluice {
namespace {

std::string because(std::string const& what, std::string const& path) {
    return "cannot " + what + " " + path + ": " + std::strerror(errno);
}

/// As many bytes as there are; the rest of the memory stays as it is.
std::size_t get(int fd, void* into, std::size_t bytes, std::uint64_t offset) {
    std::size_t done = 0;
    while (done < bytes) {
        ssize_t const got = pread(fd, static_cast<char*>(into) + done, bytes - done,
                                  static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

bool is_part(TraceHeader const& header) noexcept {
    constexpr std::uint32_t events_most = 1U << 26U;
    return header.magic == trace_magic && header.version == trace_version &&
           header.events_a_lane > 0 && header.events_a_lane <= events_most;
}

template <std::size_t Size> std::string text_in(char const (&field)[Size]) {
    return {field, std::find(field, field + Size, '\0')};
}

/// In the order in which they were written; events that are not there are of no kind.
std::vector<TraceEvent> events_of(int fd, std::uint32_t lane, std::uint64_t written,
                                  std::uint32_t room) {
    std::uint64_t const count = std::min<std::uint64_t>(written, room);
    std::vector<TraceEvent> events(count);
    get(fd, events.data(), count * sizeof(TraceEvent), ring_offset(lane, room));
    auto const oldest = static_cast<std::ptrdiff_t>(written > room ? written % room : 0);
    std::rotate(events.begin(), events.begin() + oldest, events.end());
    return events;
}

TracePart part_of(TraceTables const& tables) {
    TraceHeader const& header = tables.header;
    TracePart part;
    part.rank = header.rank;
    part.ranks = header.ranks;
    part.ended = header.ended != 0;
    part.job = header.job;
    part.began = header.began;
    part.over = header.over;
    part.first = header.first;
    part.last = header.last;
    part.lost = header.lost;
    part.host = text_in(header.host);
    part.program = text_in(header.program);
    part.names.assign(tables.names.data(), tables.names.size());
    return part;
}

}  // namespace

PartsFolder trace_parts(std::string const& file) {
    return {file, [](int fd) {
                std::array<char, trace_magic.size()> found{};
                return get(fd, &found, sizeof found, 0) == sizeof found && found == trace_magic;
            }};
}

bool is_free_for_trace(std::string const& file) {
    Descriptor const there(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (there.get() < 0) return errno != EACCES;  // Who makes the parts tells of all else.
    std::string start(ChromeJson::start.size(), '\0');
    std::size_t const got = get(there.get(), start.data(), start.size(), 0);
    return got == 0 || start == ChromeJson::start;
}

/// The mark is there at once, so that a part of a rank that was killed is known as one.
std::unique_ptr<TracePartFile> TracePartFile::create(std::string const& file, int rank,
                                                     std::string& why) {
    if (!is_free_for_trace(file)) {
        why = file + " is no trace, and is left alone";
        return nullptr;
    }
    Descriptor descriptor = trace_parts(file).open(rank, why);
    if (descriptor.get() < 0) return nullptr;
    std::unique_ptr<TracePartFile> part(new TracePartFile(std::move(descriptor)));
    bool const works = ftruncate(part->descriptor_.get(), 0) == 0 &&
                       part->put(&trace_magic, sizeof trace_magic, 0);
    if (works) return part;
    why = because("write", trace_parts(file).path_of(rank));
    return nullptr;
}

bool TracePartFile::put(void const* from, std::size_t bytes, std::uint64_t offset) {
    for (std::size_t done = 0; done < bytes;) {
        ssize_t const put = pwrite(descriptor_.get(), static_cast<char const*>(from) + done,
                                   bytes - done, static_cast<off_t>(offset + done));
        if (put < 0 && errno == EINTR) continue;
        if (put == 0) errno = ENOSPC;
        if (put <= 0) return false;
        done += static_cast<std::size_t>(put);
    }
    return true;
}

/// With the last one that was written already: a wait that goes on makes it longer.
bool TracePartFile::write_ring(std::uint32_t lane, TraceEvent const* ring, std::uint64_t written,
                               std::uint32_t room) {
    std::uint64_t const first = written_[lane] == 0 ? 0 : written_[lane] - 1;
    std::uint64_t at = written - first > room ? written - room : first;
    while (at < written) {
        std::uint64_t const place = at % room;
        std::uint64_t const count = std::min<std::uint64_t>(written - at, room - place);
        if (!put(ring + place, count * sizeof(TraceEvent),
                 ring_offset(lane, room) + place * sizeof(TraceEvent)))
            return false;
        at += count;
    }
    written_[lane] = written;
    return true;
}

/// The tables come last: they name no event that is not there.
bool TracePartFile::write(TraceTables& tables, std::array<TraceEvent*, trace_lanes> const& rings,
                          std::string& why) {
    bool works = true;
    for (std::uint32_t lane = 0; works && lane < trace_lanes; ++lane) {
        std::uint64_t const written = tables.lanes[lane].written.load(std::memory_order_acquire);
        if (written == 0 || !rings[lane]) continue;
        works = write_ring(lane, rings[lane], written, tables.header.events_a_lane);
    }
    works = works && put(&tables, sizeof tables, 0);
    if (!works) why = std::string("writing it failed: ") + std::strerror(errno);
    return works;
}

std::optional<TracePart> read_trace_part(Descriptor const& file, bool events) {
    auto const tables = std::make_unique<TraceTables>();
    tables->header.magic = {};
    if (get(file.get(), tables.get(), sizeof *tables, 0) < sizeof(TraceHeader)) return std::nullopt;
    if (!is_part(tables->header)) return std::nullopt;
    TracePart part = part_of(*tables);
    std::uint32_t const room = tables->header.events_a_lane;
    for (std::uint32_t lane = 0; lane < trace_lanes; ++lane) {
        TraceLane const& known = tables->lanes[lane];
        std::uint64_t const written = known.written;
        if (known.thread == 0 || written == 0) continue;
        if (written > room) part.lost += written - room;
        part.lanes.push_back({text_in(known.name), known.thread, {}});
        if (events) part.lanes.back().events = events_of(file.get(), lane, written, room);
    }
    return part;
}

}  // namespace sluice
