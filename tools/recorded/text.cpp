// How logs are found and read. See text.hpp.
#include "tools/recorded/text.hpp"

#include "bench/measure/decomposition_file.hpp"
#include "system/part_file.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace sluice {
namespace {

std::string whole(int fd) {
    std::string text;
    std::array<char, 65536> piece{};
    for (ssize_t got; (got = read(fd, piece.data(), piece.size())) > 0;)
        text.append(piece.data(), static_cast<std::size_t>(got));
    return text;
}

}  // namespace

RecordText read_record(std::string const& path) {
    RecordText all;
    PartsFolder const folder = log_kind.folder(path);
    auto const ranks = folder.ranks();
    if (std::filesystem::exists(path) || ranks.empty()) {
        auto file = read_decomposition(path);
        all = {std::move(file.text), std::move(file.error)};
    }
    for (std::int64_t const rank : ranks) {
        // A line that was cut off ends here: what follows is another rank's.
        if (!all.text.empty() && !all.text.ends_with('\n')) all.text.push_back('\n');
        all.text += whole(folder.find(rank).get());
    }
    return all;
}

bool is_record(std::string const& path) {
    std::error_code none;
    if (!log_kind.folder(path).ranks().empty()) return true;
    if (!std::filesystem::is_regular_file(path, none)) return false;
    if (path.ends_with(".gz")) return read_decomposition(path).text.starts_with(record::signature);
    std::string start(record::signature.size(), '\0');
    std::ifstream(path, std::ios::binary).read(start.data(), std::ssize(start));
    return start == record::signature;
}

}  // namespace sluice
