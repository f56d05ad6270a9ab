// sluice-exchange (`sluice bench exchange`): the kernels of the exchange against each other, in
// simulation.
#include "base/byte_count.hpp"
#include "device/model/device_file.hpp"
#include "study/exchange/exchange.hpp"
#include "tools/command.hpp"
#include "tools/options.hpp"

#include <cstring>
#include <sstream>

namespace sluice {
namespace {

using tools::ExchangeOptions;

constexpr char usage[] =
    "usage: sluice bench exchange [OPTION ...]   in simulation; needs no MPI\n"
    "  --throttles         sweep the throttle (on the first pattern)\n"
    "  --kernels           kernels x patterns; both are run when none is asked for\n"
    "  --romio             ROMIO's own collective write beside Sluice's, 64 aggregators\n"
    "  --queues NAME,...   what a request in a queue costs there (free,measured,estimate)\n"
    "  --choices N         the library's choice beside the best way, on N drawn scenarios\n"
    "  --first N           the seed of the first of them (1)\n"
    "  --planning          real time and memory of planning, for each rank\n"
    "  --ranks N,...       (1024,4096)\n"
    "  --machines NAME,... (knl,power9) also: ethernet\n"
    "  --patterns NAME,... (strided,e3sm-f,btio,flash)\n"
    "  --bytes SIZE        of each rank (16K)\n"
    "  --piece SIZE        of strided (256)\n"
    "  --window SIZE       cb_buffer_size (128K)\n"
    "  --device NAME       storage: hdd, ssd, nvm or a description's file\n"
    "  --published         btio and flash at the paper's size, as far as --bytes goes\n"
    "  --read              instead of writes\n"
    "  --check             compare all bytes with those of a serial model\n"
    "  --json FILE         append lines of JSON\n";

std::vector<std::string> words(std::string const& text) {
    std::istringstream stream(text);
    std::vector<std::string> all;
    for (std::string word; std::getline(stream, word, ',');) all.push_back(word);
    return all;
}

bool take_size(std::string const& text, Bytes& value) {
    auto const bytes = parse_bytes(text);
    value = bytes.value_or(0);
    return value > 0;
}

/// An option with a value; false where one of them is not known.
bool take(ExchangeOptions& options, std::string const& name, std::string const& value) {
    if (name == "--choices") return take_size(value, options.choices);
    if (name == "--first") return take_size(value, options.first);
    if (name == "--bytes") return take_size(value, options.bytes);
    if (name == "--piece") return take_size(value, options.piece_bytes);
    if (name == "--window") return take_size(value, options.window_bytes);
    if (name == "--json") return (options.json = std::fopen(value.c_str(), "ae")) != nullptr;
    if (name == "--device") {
        std::string why;
        options.device = find_device(value, why);
        if (!options.device) std::fprintf(stderr, "sluice bench exchange: %s\n", why.c_str());
        return options.device.has_value();
    }
    if (name == "--machines") {
        options.machines = words(value);
        return std::all_of(options.machines.begin(), options.machines.end(),
                           [](auto const& m) { return simulated::machine_named(m).has_value(); });
    }
    if (name == "--patterns") {
        options.patterns = words(value);
        return !options.patterns.empty();
    }
    if (name == "--queues") return !(options.queues = words(value)).empty();
    if (name != "--ranks") return false;
    options.ranks.clear();
    for (std::string const& word : words(value)) {
        Bytes count = 0;
        if (!take_size(word, count) || count > 1 << 20) return false;
        options.ranks.push_back(static_cast<Rank>(count));
    }
    return !options.ranks.empty();
}

/// The exit code.
int compare_exchanges(int argc, char** argv) {
    if (argc > 0 && asks_for_help(argv[0])) return tell(usage);
    ExchangeOptions options;
    for (int i = 0; i < argc; ++i) {
        std::string const name = argv[i];
        if (name == "--throttles") {
            options.throttles = true;
        } else if (name == "--kernels") {
            options.kernels = true;
        } else if (name == "--romio") {
            options.romio = true;
        } else if (name == "--planning") {
            options.planning = true;
        } else if (name == "--published") {
            options.published = true;
        } else if (name == "--read") {
            options.direction = Direction::read;
        } else if (name == "--check") {
            options.checked = true;
        } else if (i + 1 < argc && take(options, name, argv[i + 1])) {
            ++i;
        } else {
            return not_understood("bench exchange", argc, argv, usage);
        }
    }
    if (options.planning) return measure_planning(options);
    if (options.choices > 0) return compare_choices(options);
    bool const all = !options.throttles && !options.kernels && !options.romio;
    int const swept = all || options.throttles ? sweep_throttles(options) : 0;
    int const compared = all || options.kernels ? compare_kernels(options) : 0;
    int const beside = options.romio ? compare_romio(options) : 0;
    if (options.json != nullptr) std::fclose(options.json);
    return std::max({swept, compared, beside});
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) { return sluice::compare_exchanges(argc - 1, argv + 1); }
