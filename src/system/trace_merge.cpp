// How parts are found and merged. See trace_merge.hpp.
#include "system/trace_merge.hpp"

#include "system/trace_file.hpp"
#include "trace/chrome_json.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr char const* merged_name = "merged.json";  ///< Beside the parts, until it is whole.

/// The parts of a job, without their events, by their ranks.
std::vector<TracePart> find_parts(PartsFolder const& folder, std::optional<std::uint64_t> job) {
    std::vector<TracePart> all;
    for (std::int64_t const rank : folder.ranks()) {
        auto part = read_trace_part(folder.find(rank), false);
        if (part) all.push_back(std::move(*part));
    }
    std::uint64_t newest = 0;
    for (TracePart const& part : all) newest = std::max(newest, part.job);
    std::erase_if(all, [&](TracePart const& part) { return part.job != job.value_or(newest); });
    std::ranges::sort(all, {}, &TracePart::rank);
    return all;
}

struct Closing {
    void operator()(std::FILE* stream) const noexcept { std::fclose(stream); }
};

/// Empty, or why it failed.
std::string write_merged(PartsFolder const& folder, std::vector<TracePart> const& all) {
    std::int64_t zero = std::numeric_limits<std::int64_t>::max();
    for (TracePart const& part : all) zero = std::min(zero, part.aligned(part.began));
    std::string why;
    Descriptor const file = folder.create(merged_name, why);
    if (file.get() < 0) return why;
    std::unique_ptr<std::FILE, Closing> stream(fdopen(dup(file.get()), "wb"));
    bool works = stream != nullptr;
    ChromeJson json(
        [&](std::string_view text) {
            return std::fwrite(text.data(), 1, text.size(), stream.get()) == text.size();
        },
        zero);
    for (std::size_t i = 0; works && i < all.size(); ++i) {
        auto const part = read_trace_part(folder.find(all[i].rank), true);
        works = !part || json.add(*part);
    }
    works = works && json.finish() && std::fflush(stream.get()) == 0;
    return works ? "" : std::string("cannot write the merged trace: ") + std::strerror(errno);
}

/// Empty, or why it failed.
std::string put_in_place(std::string const& file) {
    if (!is_free_for_trace(file)) return file + " is no trace, and is left alone";
    std::error_code error;
    fs::rename(PartsFolder::path_of(file) + "/" + merged_name, file, error);
    return error ? "cannot write " + file + ": " + error.message() : "";
}

}  // namespace

MergedTrace merge_trace(std::string const& file, std::optional<std::uint64_t> job) {
    MergedTrace merged;
    PartsFolder const folder = trace_parts(file);
    auto const all = find_parts(folder, job);
    if (all.empty()) {
        merged.error = "no parts are in " + PartsFolder::path_of(file);
        return merged;
    }
    merged.error = write_merged(folder, all);
    if (merged.error.empty()) merged.error = put_in_place(file);
    if (!merged.error.empty()) {
        folder.remove(merged_name);
        return merged;
    }
    for (TracePart const& part : all) {
        merged.ranks.push_back(part.rank);
        if (!part.ended) merged.cut_off.push_back(part.rank);
        merged.lost += part.lost;
        merged.clock_error = std::max({merged.clock_error, part.first.error, part.last.error});
    }
    remove_trace_parts(file);
    return merged;
}

bool has_trace_parts(std::string const& file) {
    return !find_parts(trace_parts(file), std::nullopt).empty();
}

void remove_trace_parts(std::string const& file) { trace_parts(file).remove_parts(); }

std::string ranks_in_words(std::vector<int> const& ranks) {
    constexpr std::size_t most = 8;
    std::string text = ranks.size() == 1 ? "rank" : "ranks";
    for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i)
        text += (i == 0 ? " " : ", ") + std::to_string(ranks[i]);
    return ranks.size() > most ? text + " ..." : text;
}

}  // namespace sluice
