// sluice-device: files on an emulated device, for any program. `sluice device` becomes this.
#include "device/fuse/session.hpp"
#include "device/model/device_file.hpp"
#include "tools/command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstring>
#include <sys/sysinfo.h>

namespace {

using namespace sluice;

struct Options {
    std::string profile = "own", mount, over, serve, connect, secret_file, faults,
                page_cache = "off";
    double bandwidth = 0;  // 0: as in the profile
    double latency_us = -1;
    std::int32_t queue_depth = 0, servers = 0;
    device::Count capacity = 0;
};

device::Count half_the_memory() {
    struct sysinfo machine{};
    sysinfo(&machine);
    return device::Count(machine.totalram) * machine.mem_unit / 2;
}

void define(CLI::App& app, Options& o) {
    auto const size = [] { return CLI::AsSizeValue(false); };
    app.add_option("--profile", o.profile, "hdd, ssd, nvm, or a file: see sluice device --print");
    app.add_option("--mount,DIR", o.mount, "where to mount");
    app.add_option("--over", o.over, "keep the files in this directory, not in memory")
        ->check(CLI::ExistingDirectory);
    app.add_option("--page-cache", o.page_cache, "on: the kernel keeps pages and writes later")
        ->check(CLI::IsMember({"on", "off"}));
    app.add_option("--faults", o.faults,
                   "errors on order, as in write:ENOSPC:after=10,read:EIO:every=3,write:short");
    app.add_option("--serve", o.serve,
                   "HOST:PORT: serve other hosts in place of mounting (PORT: this host only)");
    app.add_option("--connect", o.connect, "HOST:PORT: mount what is served there");
    app.add_option("--secret-file", o.secret_file,
                   "what both sides know, made by --serve (~/.sluice-device-secret)");
    app.add_option("--bandwidth", o.bandwidth,
                   "bytes a second in place of all of the profile's (40M: 40 MiB/s); random "
                   "requests are as fast as others")
        ->transform(size())
        ->check(CLI::PositiveNumber);
    app.add_option("--latency", o.latency_us, "of a request before its bytes (100us, 2ms)")
        ->transform(CLI::AsNumberWithUnit(
            std::map<std::string, double>{{"ns", 1e-3}, {"us", 1}, {"ms", 1e3}, {"s", 1e6}}))
        ->check(CLI::NonNegativeNumber);
    app.add_option("--queue-depth", o.queue_depth, "requests whose latencies overlap")
        ->check(CLI::Range(1, 1024));
    app.add_option("--capacity", o.capacity, "most bytes of all files (default: half the memory)")
        ->transform(size())
        ->check(CLI::PositiveNumber);
    app.add_option("--servers", o.servers,
                   "the files have layouts as Lustre's, of up to so many servers; the device stays "
                   "one")
        ->check(CLI::Range(1, 2000));
}

/// The device that is asked for; nothing with a reason.
std::optional<DeviceProfile> profile_of(Options const& o, std::string& why) {
    std::optional<DeviceProfile> profile = DeviceProfile{};
    if (o.profile != "own") profile = find_device(o.profile, why);
    if (!profile) return profile;
    if (o.bandwidth > 0) {
        profile->read = profile->write = {o.bandwidth, 0};
        profile->sequential_bytes = 0;
    }
    if (o.latency_us >= 0) profile->latency = o.latency_us / 1e6;
    if (o.queue_depth > 0) profile->queue_depth = o.queue_depth;
    if (profile->read.sequential == 0) {
        why = "which device? Give --profile, or --bandwidth";
        return std::nullopt;
    }
    return device_described(describe(*profile), why);
}

std::string summary_of(DeviceProfile const& p, Options const& o) {
    char text[256];
    std::snprintf(text, sizeof text,
                  "%s, read %.6g MB/s, write %.6g MB/s, %.6g us a request, queue depth %d",
                  p.name.c_str(), p.read.sequential / 1e6, p.write.sequential / 1e6,
                  p.latency * 1e6, p.queue_depth);
    return text + (o.over.empty() ? std::string(", in memory") : ", over " + o.over) +
           (o.page_cache == "on" ? ", with the page cache" : "") +
           (o.faults.empty() ? "" : ", faults " + o.faults);
}

/// Of a command line whose words are known, but not what they say.
int refuse(std::string const& why) {
    device::fail(why);
    return bad_usage;
}

int run(Options const& o) {
    std::string why;
    if (o.mount.empty() == o.serve.empty())
        return refuse("give either --mount DIR or --serve HOST:PORT");
    if (!o.mount.empty()) why = device::first_obstacle(o.mount);
    if (!why.empty()) return device::fail(why);
    if (o.servers > 0 && !o.over.empty())
        return refuse("--servers is for files in memory, and not for --over");
    if (!o.connect.empty()) return device::run_remote_mount(o.connect, o.secret_file, o.mount);
    auto const profile = profile_of(o, why);
    if (!profile) return refuse(why);
    std::vector<FaultRule> rules;
    if (!o.faults.empty()) {
        auto const parsed = parse_faults(o.faults, why);
        if (!parsed) return refuse("--faults " + why);
        rules = *parsed;
    }
    auto store = o.over.empty()
                     ? device::store_in_memory(o.capacity > 0 ? o.capacity : half_the_memory())
                     : device::store_over(o.over);
    if (!store) return device::fail(o.over + ": " + std::strerror(errno));
    device::Emulation emulation(std::move(store), *profile, std::move(rules), o.servers);
    std::string const what = summary_of(*profile, o);
    return o.serve.empty() ? device::run_mount(emulation, o.mount, o.page_cache == "on", what)
                           : device::run_server(emulation, o.serve, o.secret_file, what);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app(
        "A file system on one emulated device. Reads, writes and fsync wait for the device, in\n"
        "order of arrival; names and attributes are free of charge.\n"
        "Ends, and unmounts, at SIGTERM or SIGINT.",
        "sluice device");
    define(app, options);
    if (auto const parsed = parse_line(app, argc, argv); parsed.exit_code) {
        parsed.tell();
        return *parsed.exit_code;
    }
    umask(0);  // The kernel has taken the caller's off.
    return run(options);
}
