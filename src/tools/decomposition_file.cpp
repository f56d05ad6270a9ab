// Reading of decomposition files. See decomposition_file.hpp.
#include "tools/decomposition_file.hpp"

#include <array>
#include <cstdio>
#include <filesystem>

namespace sluice {
namespace {

std::string installed_path() {
    std::error_code ignored;
    auto const program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    return (program.parent_path().parent_path() / "share/sluice/e3sm-f-16.txt.gz").string();
}

/// For the shell: whatever the name holds, it stays one word.
std::string quoted_for_shell(std::string const& text) {
    std::string result = "'";
    for (char const c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

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
