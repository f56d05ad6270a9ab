// How parts of a trace are written, read and merged. See trace_file.hpp.
#include "system/trace_file.hpp"

#include "system/errno_status.hpp"

#include <filesystem>
#include <limits>
#include <sys/stat.h>

namespace sluice {
namespace {

constexpr char const* merged_name = "merged.json";  ///< Beside the parts, until it is whole.

std::string_view bytes_of(void const* first, std::size_t bytes) {
    return {static_cast<char const*>(first), bytes};
}

/// The parts of a job, without their events, by their ranks.
std::vector<std::unique_ptr<TracePart>> find_parts(PartsFolder const& folder,
                                                   std::optional<std::uint64_t> job) {
    std::vector<std::unique_ptr<TracePart>> all;
    std::uint64_t newest = 0;
    for (std::int64_t const rank : folder.ranks()) {
        auto part = read_trace_part(folder.find(rank), false);
        if (!part) continue;
        newest = std::max(newest, part->header.job);
        all.push_back(std::move(part));
    }
    std::erase_if(all, [&](auto const& part) { return part->header.job != job.value_or(newest); });
    std::ranges::sort(all, {}, [](auto const& part) { return part->header.rank; });
    return all;
}

/// Empty, or why it failed.
std::string write_merged(PartsFolder const& folder, MergedTrace const& of, std::int64_t zero) {
    std::string why;
    Descriptor const file = folder.create(merged_name, why);
    if (file.get() < 0) return why;
    ChromeJson json([&](std::string_view text) { return write_all(file.get(), text); }, zero);
    bool works = true;
    for (std::size_t i = 0; works && i < of.ranks.size(); ++i) {
        auto const part = read_trace_part(folder.find(of.ranks[i]), true);
        works = !part || json.add(*part);
    }
    works = works && json.finish();
    return works ? "" : with_errno("cannot write the merged trace");
}

/// Empty, or why it failed.
std::string put_in_place(std::string const& file) {
    if (!is_free_for(trace_kind, file)) return file + " is no trace, and is left alone";
    std::error_code error;
    std::filesystem::rename(PartsFolder::path_of(file) + "/" + merged_name, file, error);
    return error ? "cannot write " + file + ": " + error.message() : "";
}

/// How many events the file has bytes for, whatever its header says; one that is cut off counts.
std::uint64_t events_in(Descriptor const& file) {
    struct stat status{};
    if (fstat(file.get(), &status) != 0) return 0;
    auto const bytes = static_cast<std::uint64_t>(status.st_size);
    return bytes < trace_ring_offset ? 0 : (bytes - trace_ring_offset) / sizeof(TraceEvent) + 1;
}

}  // namespace

std::string TracePartFile::write(std::span<TraceEvent const> events) {
    written_ += events.size();
    return file.append(bytes_of(events.data(), events.size_bytes()));
}

std::string TracePartFile::write(TraceHeader& header) {
    header.room = room_;
    header.written = written_;
    return file.put(bytes_of(&header, sizeof header), 0);
}

std::unique_ptr<TracePart> read_trace_part(Descriptor const& file, bool events) {
    auto part = std::make_unique<TracePart>();
    TraceHeader& header = part->header;
    bool const there = read_at(file.get(), &header, sizeof header, 0) == sizeof header;
    bool const is_one = header.magic == trace_magic && header.version == trace_version;
    if (!there || !is_one || !header.is_sane()) return nullptr;
    header.host[sizeof header.host - 1] = header.program[sizeof header.program - 1] = '\0';
    if (!events) return part;
    part->events.resize(std::min({header.written, header.room, events_in(file)}));
    read_at(file.get(), part->events.data(), part->events.size() * sizeof(TraceEvent),
            trace_ring_offset);
    return part;
}

MergedTrace merge_trace(std::string const& file, std::optional<std::uint64_t> job) {
    MergedTrace merged;
    PartsFolder const folder = trace_kind.folder(file);
    std::int64_t zero = std::numeric_limits<std::int64_t>::max();
    for (auto const& part : find_parts(folder, job)) {
        TraceHeader const& of = part->header;
        merged.ranks.push_back(of.rank);
        if (of.ended == 0) merged.cut_off.push_back(of.rank);
        merged.lost += of.missing();
        merged.clock_error = std::max({merged.clock_error, of.first.error, of.last.error});
        zero = std::min(zero, of.aligned(of.began));
    }
    if (merged.ranks.empty()) merged.error = "no parts are in " + PartsFolder::path_of(file);
    if (merged.error.empty()) merged.error = write_merged(folder, merged, zero);
    if (merged.error.empty()) merged.error = put_in_place(file);
    if (merged.error.empty())
        folder.remove_parts();
    else
        folder.remove(merged_name);
    return merged;
}

std::string ranks_in_words(std::vector<int> const& ranks) {
    constexpr std::size_t most = 8;
    std::string text = ranks.size() == 1 ? "rank" : "ranks";
    for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i)
        text += (i == 0 ? " " : ", ") + std::to_string(ranks[i]);
    return ranks.size() > most ? text + " ..." : text;
}

}  // namespace sluice
