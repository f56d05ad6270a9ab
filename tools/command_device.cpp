// `sluice device`: tells of the devices that can be emulated; becomes sluice-device to mount one.
#include "device/model/device_file.hpp"
#include "tools/command.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace sluice {
namespace {

void print(DeviceProfile const& profile) {
    std::printf("%s%s", describe(profile).c_str(), describe_speed(profile).c_str());
}

int print_one(std::string const& name) {
    std::string why;
    auto const profile = find_device(name, why);
    if (profile) return print(*profile), 0;
    std::fprintf(stderr, "sluice device: %s\n", why.c_str());
    return bad_usage;
}

int print_all() {
    for (DeviceProfile const& profile : device_profiles()) {
        print(profile);
        std::puts("");
    }
    std::puts("# what a file may say in its section [device]:");
    for (DeviceKey const& key : device_keys()) std::printf("#   %-24s %s\n", key.name, key.meaning);
    return 0;
}

}  // namespace

int command_device(int argc, char** argv) {
    std::string const first = argc > 0 ? argv[0] : "";
    if (first == "--list") return print_all();
    if (first == "--print") return argc > 1 ? print_one(argv[1]) : print_all();
    std::string program = installation() + "/libexec/sluice-device";
    if (access(program.c_str(), X_OK) != 0) {
        std::fprintf(stderr,
                     "sluice device: %s is missing: it was built without libfuse or CLI11. Install "
                     "libfuse3-dev, fuse3 and libcli11-dev (Debian's names), and build again\n",
                     program.c_str());
        return 1;
    }
    --argv;  // The name "device" makes room for the program's.
    argv[0] = program.data();
    execv(argv[0], argv);
    std::fprintf(stderr, "sluice device: cannot run %s: %s\n", argv[0], std::strerror(errno));
    return 1;
}

}  // namespace sluice
