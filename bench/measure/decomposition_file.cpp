// Reading of decomposition files. See decomposition_file.hpp.
#include "bench/measure/decomposition_file.hpp"

#include "tools/installation.hpp"
#include "tools/shell.hpp"

#include <array>
#include <cstdio>
#include <filesystem>

namespace sluice {
namespace {

std::string installed_path() { return common_file("share/sluice/e3sm-f-16.txt.gz"); }

}  // namespace

DecompositionFile read_decomposition(std::string const& path) {
    if (path.empty()) return read_decomposition(installed_path());
    if (!std::filesystem::exists(path)) return {"", "there is no file " + path};
    bool const packed = path.ends_with(".gz");
    // NOLINTNEXTLINE(bugprone-command-processor): a fixed command, the name is quoted
    auto* const file = packed ? popen(("zcat -- " + quoted_for_shell(path)).c_str(), "re")
                              : std::fopen(path.c_str(), "re");
    if (file == nullptr) return {"", "cannot read " + path};
    DecompositionFile result;
    std::array<char, 65536> part{};
    while (std::size_t const got = std::fread(part.data(), 1, part.size(), file))
        result.text.append(part.data(), got);
    bool const whole = std::ferror(file) == 0;
    bool const ended = (packed ? pclose(file) : std::fclose(file)) == 0;
    if (!whole || !ended) result.error = "cannot read all of " + path;
    return result;
}

}  // namespace sluice
