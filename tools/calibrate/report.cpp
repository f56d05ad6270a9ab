// Text of results. See report.hpp.
#include "tools/calibrate/report.hpp"

#include "storage/profile_path.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <set>
#include <unistd.h>

namespace sluice::calibrate {
namespace {

constexpr double micro = 1e-6, mega = 1e6;

int node_count(Job const& job) {
    return static_cast<int>(std::set<int>(job.nodes.begin(), job.nodes.end()).size());
}

std::string counted(std::int64_t count, char const* what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string date() {
    char text[32];
    std::time_t const now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%MZ", &utc);
    return text;
}

bool is_in_memory(Job const& job) {
    auto const mount = mount_of_path(job.options.directory);
    return mount && (mount->type == "tmpfs" || mount->type == "ramfs");
}

void print_storage(MachineProfile const& profile) {
    constexpr Bytes told_sizes[] = {Bytes{4} << 10, Bytes{64} << 10, Bytes{1} << 20};
    std::printf("\nstorage, MB/s            4K        64K         1M\n");
    for (Direction const way : {Direction::write, Direction::read}) {
        for (bool const random : {false, true}) {
            auto const& costs = (random ? profile.random : profile.sequential)[index_of(way)];
            if (costs.depths.empty()) continue;
            for (std::int32_t const clients : {1, costs.depths.back().clients}) {
                std::string const kind = std::string(describe(way)) +
                                         (random ? " random, " : " in order, ") +
                                         std::to_string(clients);
                std::printf("  %-18s", kind.c_str());
                for (Bytes const bytes : told_sizes) {
                    double const size = static_cast<double>(bytes);
                    std::printf(" %10.1f", size * clients / costs.seconds(size, clients) / mega);
                }
                std::printf("\n");
            }
        }
    }
}

void print_messages(char const* where, MessageCosts const& costs, bool measured) {
    std::printf("messages %-14s T_s %.2f us, T_w %.4g ns a byte (%.0f MB/s)%s\n", where,
                costs.start / micro, 1e9 * costs.byte, 1 / costs.byte / mega,
                measured ? "" : "; not measured, a usual value");
}

}  // namespace

std::string out_path(Options const& options) {
    namespace fs = std::filesystem;
    std::string const path = options.out.empty() ? profile_path(options.directory) : options.out;
    if (path.empty())
        give_up("there is no place for the profile: neither HOME nor XDG_CONFIG_HOME is set, or "
                "the file system of " +
                options.directory + " is not known; name a file with --out");
    fs::path const folder = fs::path(path).parent_path();
    std::error_code error;
    if (!folder.empty()) fs::create_directories(folder, error);
    if (error) give_up("cannot make " + folder.string() + ": " + error.message());
    if (access(folder.empty() ? "." : folder.c_str(), W_OK) != 0)
        give_up("cannot write to " + folder.string() + ": " + std::strerror(errno));
    return path;
}

std::string measured_where(Job const& job, StorageFacts const& facts) {
    auto const mount = mount_of_path(job.options.directory);
    std::string text = host_name() + ", " + date() + ", ";
    text += mount ? mount->type + " " + mount->source + " at " + mount->point : "unknown files";
    text += ", " + counted(job.ranks, "rank") + " on " + counted(node_count(job), "node");
    text += job.options.page_cache == PageCache::direct_io ? ", by direct I/O"
            : facts.in_page_cache                          ? ", files in the page cache"
                                                           : ", files not in the page cache";
    text += ", a file of " + std::to_string(facts.file_bytes >> 20) + " MiB, " +
            counted(facts.turns, "turn") + ", sluice " SLUICE_VERSION;
    return text;
}

void write_profile(MachineProfile const& profile, std::string const& path) {
    std::string const text = describe(profile), fresh = path + ".new";
    // Other users of the folder may have put a link there.
    unlink(fresh.c_str());
    int const fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    std::FILE* const file = fd < 0 ? nullptr : fdopen(fd, "w");
    bool const written =
        file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    bool const closed = file != nullptr && std::fclose(file) == 0;
    if (!written || !closed || std::rename(fresh.c_str(), path.c_str()) != 0) {
        std::string const why = std::strerror(errno);
        unlink(fresh.c_str());
        give_up("cannot write " + path + ": " + why);
    }
}

void print_report(Job const& job, StorageFacts const& facts, MachineProfile const& profile,
                  std::string const& path) {
    bool const has_near = job.near().size() > 1;
    print_messages("within a node", profile.within, has_near);
    print_messages("between nodes", profile.between, !job.one_node());
    std::printf("a copy %.0f MB/s; a call %.1f us, an exchange %.1f us more, a window %.1f us\n",
                1 / profile.copy_byte / mega, profile.operation / micro, profile.exchange / micro,
                profile.round / micro);
    print_storage(profile);
    if (is_in_memory(job)) {
        std::printf("\nThe files of %s are in memory: so are these numbers.\n",
                    job.options.directory.c_str());
    } else if (facts.in_page_cache) {
        std::printf("\nThe page cache held the file, so these numbers are the memory's. They are "
                    "right for\nprograms whose files fit in it. For larger files, and writes that "
                    "must reach the\ndevice, measure with --page-cache direct.\n");
    }
    std::printf("\nprofile: %s\n", path.c_str());
    if (job.options.out.empty())
        std::printf("Programs that open files on this file system load it from now on; "
                    "SLUICE_PROFILE=none\nleaves it out.\n");
    else
        std::printf("Programs load it with SLUICE_PROFILE=%s\n", path.c_str());
}

}  // namespace sluice::calibrate
