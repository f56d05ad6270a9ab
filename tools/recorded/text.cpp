// How logs are found and read. See text.hpp.
#include "tools/recorded/text.hpp"

#include "bench/measure/decomposition_file.hpp"
#include "record/part_file.hpp"

#include "record/line.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace sluice {
namespace {

std::string whole(std::filesystem::path const& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

RecordText read_record(std::string const& path) {
    RecordText all;
    std::error_code missing;
    std::filesystem::directory_iterator parts(record::PartFile::folder_of(path), missing);
    if (std::filesystem::exists(path) || missing) {
        auto file = read_decomposition(path);
        all = {std::move(file.text), std::move(file.error)};
    }
    if (missing) return all;
    for (auto const& part : parts) {
        // A line that was cut off ends here: what follows is another rank's.
        if (!all.text.empty() && !all.text.ends_with('\n')) all.text.push_back('\n');
        all.text += whole(part.path());
    }
    return all;
}

bool is_record(std::string const& path) {
    std::error_code none;
    if (std::filesystem::is_directory(record::PartFile::folder_of(path), none)) return true;
    if (!std::filesystem::is_regular_file(path, none)) return false;
    if (path.ends_with(".gz")) return read_decomposition(path).text.starts_with(record::signature);
    std::string start(record::signature.size(), '\0');
    std::ifstream(path, std::ios::binary).read(start.data(), std::ssize(start));
    return start == record::signature;
}

}  // namespace sluice
