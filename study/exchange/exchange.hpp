// `sluice bench exchange`: kernels, throttles and planning of the exchange, in simulation.
#pragma once
#include "tools/simulate/scenario.hpp"

#include <cstdio>
#include <vector>

namespace sluice::tools {

struct ExchangeOptions {
    std::vector<Rank> ranks{1024, 4096};
    std::vector<std::string> machines{"knl", "power9"};
    std::vector<std::string> patterns{"strided", "e3sm-f", "btio", "flash"};
    Bytes bytes = Bytes{16} << 10;  ///< Of each rank, as far as the pattern allows it.
    Bytes piece_bytes = 256;        ///< strided.
    Bytes window_bytes = Bytes{128} << 10;
    Direction direction = Direction::write;
    std::optional<DeviceProfile> device;  ///< In the place of the machines' own storage.
    bool throttles = false, kernels = false, planning = false, romio = false;
    bool published = false;  ///< btio and flash have the paper's size.
    std::vector<std::string> queues{"free", "measured", "estimate"};  ///< romio: prices of queues.
    std::int64_t choices = 0;  ///< Drawn scenarios on which the library's choice is compared.
    std::int64_t first = 1;    ///< The seed of the first of them.
    bool checked = false;
    std::FILE* json = nullptr;
};

/// A way to exchange that is measured, named as the paper does.
struct Contender {
    char const* name;
    Delivery metadata, data;
    Rank local_aggregators = 0;  ///< See Experiment::local_aggregators.
};

[[nodiscard]] Scenario scenario_of(ExchangeOptions const& options, std::string const& machine,
                                   Rank ranks, std::string const& pattern);

/// Each prints a table, tells on stderr where it is, and writes lines of JSON. Exit codes.
[[nodiscard]] int sweep_throttles(ExchangeOptions const& options);
[[nodiscard]] int compare_kernels(ExchangeOptions const& options);
[[nodiscard]] int compare_romio(ExchangeOptions const& options);
[[nodiscard]] int compare_choices(ExchangeOptions const& options);
[[nodiscard]] int measure_planning(ExchangeOptions const& options);

}  // namespace sluice::tools
