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

struct Found {
    std::string path;
    TracePart part;  ///< Without its events.
};

std::vector<Found> find_parts(std::string const& file, std::optional<std::uint64_t> job) {
    std::vector<Found> all;
    std::error_code error;
    for (auto const& entry : fs::directory_iterator(trace_parts_folder(file), error)) {
        auto part = read_trace_part(entry.path(), false);
        if (part) all.push_back({entry.path(), std::move(*part)});
    }
    std::uint64_t newest = 0;
    for (Found const& found : all) newest = std::max(newest, found.part.job);
    std::erase_if(all, [&](Found const& found) { return found.part.job != job.value_or(newest); });
    std::ranges::sort(all, {}, [](Found const& found) { return found.part.rank; });
    return all;
}

struct Closing {
    void operator()(std::FILE* stream) const noexcept { std::fclose(stream); }
};

/// Empty, or why it failed.
std::string write_merged(std::string const& path, std::vector<Found> const& all) {
    std::int64_t zero = std::numeric_limits<std::int64_t>::max();
    for (Found const& found : all) zero = std::min(zero, found.part.aligned(found.part.began));
    std::unique_ptr<std::FILE, Closing> stream(std::fopen(path.c_str(), "wbe"));
    if (!stream) return "cannot write " + path + ": " + std::strerror(errno);
    ChromeJson json(
        [&](std::string_view text) {
            return std::fwrite(text.data(), 1, text.size(), stream.get()) == text.size();
        },
        zero);
    bool works = true;
    for (std::size_t i = 0; works && i < all.size(); ++i) {
        auto const part = read_trace_part(all[i].path, true);
        works = !part || json.add(*part);
    }
    works = works && json.finish() && std::fflush(stream.get()) == 0;
    return works ? "" : "cannot write " + path + ": " + std::strerror(errno);
}

}  // namespace

MergedTrace merge_trace(std::string const& file, std::optional<std::uint64_t> job) {
    MergedTrace merged;
    auto const all = find_parts(file, job);
    if (all.empty()) {
        merged.error = "no parts are in " + trace_parts_folder(file);
        return merged;
    }
    std::string const path = trace_parts_folder(file) + "/merged.json";
    merged.error = write_merged(path, all);
    std::error_code error;
    if (merged.error.empty()) {
        fs::rename(path, file, error);
        if (error) merged.error = "cannot write " + file + ": " + error.message();
    }
    if (!merged.error.empty()) {
        fs::remove(path, error);
        return merged;
    }
    for (Found const& found : all) {
        merged.ranks.push_back(found.part.rank);
        if (!found.part.ended) merged.cut_off.push_back(found.part.rank);
        merged.lost += found.part.lost;
        merged.clock_error =
            std::max({merged.clock_error, found.part.first.error, found.part.last.error});
    }
    remove_trace_parts(file);
    return merged;
}

bool has_trace_parts(std::string const& file) { return !find_parts(file, std::nullopt).empty(); }

/// Nothing else than parts is removed, whatever somebody keeps in a folder of this name.
void remove_trace_parts(std::string const& file) {
    std::error_code error;
    std::string const folder = trace_parts_folder(file);
    std::vector<fs::path> parts;
    for (auto const& entry : fs::directory_iterator(folder, error)) {
        bool const is_merged = entry.path().filename() == "merged.json";
        if (is_merged || read_trace_part(entry.path(), false)) parts.push_back(entry.path());
    }
    for (auto const& path : parts) fs::remove(path, error);
    fs::remove(folder, error);
}

std::string ranks_in_words(std::vector<int> const& ranks) {
    constexpr std::size_t most = 8;
    std::string text = ranks.size() == 1 ? "rank" : "ranks";
    for (std::size_t i = 0; i < std::min(ranks.size(), most); ++i)
        text += (i == 0 ? " " : ", ") + std::to_string(ranks[i]);
    return ranks.size() > most ? text + " ..." : text;
}

}  // namespace sluice
