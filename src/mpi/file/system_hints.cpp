// How the file of hints is found and read. See system_hints.hpp.
#include "mpi/file/system_hints.hpp"

#include "settings/file_hints.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::size_t bytes_at_most = std::size_t{1} << 20;

/// Nothing where it cannot be opened, which ROMIO passes over in silence.
std::optional<std::string> read_file(char const* path) {
    int const file = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (file < 0) return std::nullopt;
    struct stat about{};
    bool const regular = fstat(file, &about) == 0 && S_ISREG(about.st_mode);
    std::string text(regular ? bytes_at_most : 0, '\0');
    ssize_t const bytes = text.empty() ? 0 : read(file, text.data(), text.size());
    text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    close(file);
    return text;
}

std::string known_lines() {
    auto text = read_file(std::getenv("ROMIO_HINTS"));
    if (!text) text = read_file("/etc/romio-hints");
    std::string lines;
    if (!text) return lines;
    for (auto const& [name, value] : hints_in_lines(*text)) lines += name + " " + value + "\n";
    return lines;
}

}  // namespace

std::string const& system_hints() {
    static std::string const lines = known_lines();
    return lines;
}

}  // namespace sluice
