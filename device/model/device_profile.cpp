// The built-in devices, and their descriptions as text. See device.hpp; docs/device.md says where
// the numbers come from.
#include "device/model/device.hpp"

#include <cstdio>
#include <cstdlib>

namespace sluice {
namespace {

constexpr Bytes mebibyte = Bytes{1} << 20;

/// A disk that turns 7,200 times a minute: half a turn and a seek before each place.
DeviceProfile hdd() {
    return {"hdd", {120e6, 0.5e6}, {120e6, 0.5e6}, mebibyte, 4096, 200e-6, 1, 4};
}

/// Flash behind SATA.
DeviceProfile ssd() { return {"ssd", {550e6, 60e6}, {270e6, 40e6}, mebibyte, 4096, 100e-6, 4, 16}; }

/// Memory behind a file system; any place is as good as another, or nearly.
DeviceProfile nvm() { return {"nvm", {1000e6, 78e6}, {900e6, 78e6}, mebibyte, 4096, 80e-6, 2, 16}; }

DeviceProfile const& profile_number(std::size_t i) {
    static DeviceProfile const all[] = {hdd(), ssd(), nvm()};
    return all[i];
}

constexpr DeviceKey keys[] = {
    {"preset", "numbers to begin with: hdd, ssd or nvm"},
    {"name", "how messages call it"},
    {"read_bandwidth", "bytes a second of sequential reads at the full queue depth"},
    {"write_bandwidth", "the same of writes"},
    {"sequential_bytes", "for requests of this size; 0: beside the latency of requests"},
    {"random_read_bandwidth",
     "bytes a second of random reads at the full queue depth; 0: as sequential ones"},
    {"random_write_bandwidth", "the same of writes"},
    {"random_bytes", "for requests of this size"},
    {"latency_seconds", "of each request, before its bytes"},
    {"queue_depth", "requests whose latencies overlap"},
    {"streams", "so many streams of requests are known; a request that follows none is random"},
};

// Whoever reads the text gets the same number again: a rounded one may be of no device, and sizes
// have no exponent.
std::string number_text(std::int64_t value) { return std::to_string(value); }
std::string number_text(std::int32_t value) { return std::to_string(value); }
std::string number_text(double value) {
    char buffer[32];
    for (int const digits : {9, 17}) {
        std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
        if (std::strtod(buffer, nullptr) == value) break;
    }
    return buffer;
}

/// Why no device has these numbers; empty if one may.
std::string why_not(DeviceProfile const& p) {
    for (auto const direction : {Direction::read, Direction::write}) {
        bool const reads = direction == Direction::read;
        std::string const which = reads ? "read" : "write";
        if ((reads ? p.read : p.write).sequential <= 0)
            return "device." + which + "_bandwidth: expected more than 0";
        DeviceCosts const costs = costs_of(p, direction);
        if (costs.byte_seconds <= 0)
            return "device.latency_seconds: too long for the " + which + "_bandwidth";
        constexpr double rounding = 1e-12;
        if (costs.seek_seconds < -rounding)
            return "device.random_" + which + "_bandwidth: the latency and the " + which +
                   "_bandwidth do not allow so much";
    }
    return {};
}

}  // namespace

std::span<DeviceProfile const> device_profiles() noexcept { return {&profile_number(0), 3}; }
std::span<DeviceKey const> device_keys() noexcept { return keys; }

std::optional<DeviceProfile> device_named(std::string const& name) {
    for (DeviceProfile const& profile : device_profiles()) {
        if (profile.name == name) return profile;
    }
    return std::nullopt;
}

void take_device(Description& description, DeviceProfile& profile) {
    if (auto const name = description.take("device.preset")) {
        if (auto const preset = device_named(*name))
            profile = *preset;
        else
            description.fail("there is no device '" + *name + "'");
    }
    description.take("device.name", profile.name);
    description.take("device.read_bandwidth", profile.read.sequential);
    description.take("device.write_bandwidth", profile.write.sequential);
    description.take("device.sequential_bytes", profile.sequential_bytes);
    description.take("device.random_read_bandwidth", profile.read.random);
    description.take("device.random_write_bandwidth", profile.write.random);
    description.take("device.random_bytes", profile.random_bytes);
    description.take("device.latency_seconds", profile.latency);
    description.take("device.queue_depth", profile.queue_depth);
    description.take("device.streams", profile.streams);
    constexpr std::int32_t most = 1024;
    if (profile.queue_depth < 1 || profile.queue_depth > most)
        description.fail("device.queue_depth: expected 1 to 1024");
    else if (profile.streams > most)
        description.fail("device.streams: expected at most 1024");
    else if (auto const why = why_not(profile); !why.empty())
        description.fail(why);
}

std::optional<DeviceProfile> device_described(std::string const& text, std::string& error) {
    Description description;
    DeviceProfile profile;
    description.add(text);
    take_device(description, profile);
    error = description.error();
    return error.empty() ? std::optional(profile) : std::nullopt;
}

std::string describe(DeviceProfile const& p) {
    std::string text = "[device]\nname = \"" + p.name + "\"\n";
    auto const line = [&](char const* key, auto value) {
        text += key + std::string(" = ") + number_text(value) + "\n";
    };
    line("read_bandwidth", p.read.sequential);
    line("write_bandwidth", p.write.sequential);
    line("sequential_bytes", p.sequential_bytes);
    line("random_read_bandwidth", p.read.random);
    line("random_write_bandwidth", p.write.random);
    line("random_bytes", p.random_bytes);
    line("latency_seconds", p.latency);
    line("queue_depth", p.queue_depth);
    line("streams", p.streams);
    return text;
}

std::string describe_speed(DeviceProfile const& p) {
    struct Kind {
        char const* name;
        bool random;
        Bytes bytes;
    };
    constexpr Kind kinds[] = {
        {"sequential 1M", false, mebibyte}, {"random 64K", true, 65536}, {"random 4K", true, 4096}};
    std::string text;
    auto const add = [&](Kind const& kind, std::int32_t depth) {
        auto const speed = [&](Direction way) {
            return device_bandwidth(p, way, kind.random, kind.bytes, depth) / 1e6;
        };
        auto const wait = [&](Direction way) {
            return device_latency(p, way, kind.random, kind.bytes) * 1e6;
        };
        char line[160];
        std::snprintf(line, sizeof line,
                      "# %-13s depth %-4d read %8.2f MB/s %6.0f us   write %8.2f MB/s %6.0f us\n",
                      kind.name, depth, speed(Direction::read), wait(Direction::read),
                      speed(Direction::write), wait(Direction::write));
        text += line;
    };
    for (Kind const& kind : kinds) {
        add(kind, 1);
        if (p.queue_depth > 1) add(kind, p.queue_depth);
    }
    return text;
}

}  // namespace sluice
