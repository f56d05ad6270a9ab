// ROMIO's own collective write beside Sluice's, on machines whose queues have several prices. See
// exchange.hpp.
#include "study/romio/romio.hpp"

#include "study/exchange/exchange.hpp"
#include "tools/simulate/report.hpp"

#include <algorithm>

namespace sluice::tools {
namespace {

constexpr std::int32_t stripes = 64;  // And aggregators: as on the paper's Lustre.
constexpr Bytes stripe_bytes = Bytes{1} << 20;

/// What each request in a receiver's queue adds to a message: nothing, what it adds to one of MPICH
/// on an x86-64 processor (7 to 10 ns by `sluice bench overhead --what queue`), the machine's
/// estimate.
struct QueuePrice {
    char const* name;
    double seconds;
};

std::vector<QueuePrice> queue_prices(double estimate) {
    return {{"free", 0}, {"measured", 1e-8}, {"estimate", estimate}};
}

class Comparison {
public:
    Comparison(ExchangeOptions const& options, std::string machine, Scenario scenario)
        : options_(options),
          machine_(std::move(machine)),
          scenario_(std::move(scenario)) {}

    /// False: something was wrong.
    bool run() {
        std::printf(
            "\n%s, %d ranks on %d nodes: write of %s, %d aggregators, stripes of %lld KiB\n",
            machine_.c_str(), scenario_.machine.ranks(), scenario_.machine.nodes,
            scenario_.pattern.name.c_str(), stripes, static_cast<long long>(stripe_bytes >> 10));
        std::printf("  %-14s %-22s %10s %10s %10s %10s %10s %8s\n", "queue", "", "time", "metadata",
                    "counts", "data", "messages", "x");
        for (QueuePrice const& price : queue_prices(scenario_.machine.queue_seconds)) {
            if (std::ranges::find(options_.queues, price.name) == options_.queues.end()) continue;
            price_ = price;
            Scenario priced = scenario_;
            priced.machine.queue_seconds = price.seconds;
            own_seconds_ = sluice_run(priced, "the library's choice", {});
            (void)sluice_run(priced, "balanced", balanced());
            romio_run(priced, "ROMIO", false);
            romio_run(priced, "ROMIO, issend", true);
        }
        return is_right_;
    }

private:
    static Hints balanced() {
        Hints hints;
        Delivery delivery{Kernel::balanced, Layers::one, 1};
        delivery.throttle = {Throttle::usual};
        hints.metadata = hints.data = delivery;
        hints.domains = Domains::even;  // As ROMIO: all ranks with all aggregators.
        hints.aggregator_count = stripes;
        hints.window_bytes = stripe_bytes;
        return hints;
    }

    double sluice_run(Scenario scenario, char const* name, Hints const& hints) {
        tell(name);
        scenario.hints = hints;
        scenario.hints.write = Strategy::two_phase;
        auto const outcome = simulated::run(experiment_of(scenario));
        note_fault(outcome.fault);
        row(name, outcome.seconds, {outcome.largest.metadata, 0, outcome.largest.data},
            outcome.messages);
        record(name, outcome.seconds, outcome.messages, "");
        return outcome.seconds;
    }

    void romio_run(Scenario const& scenario, char const* name, bool synchronous) {
        tell(name);
        simulated::RomioCall call;
        call.machine = scenario.machine;
        call.aggregators = stripes, call.stripe_bytes = stripe_bytes;
        call.synchronous = synchronous, call.seed = scenario.seed;
        call.request = experiment_of(scenario).request;
        auto const outcome = simulated::run_romio(call);
        note_fault(outcome.fault);
        auto const part = [&](simulated::RomioPart which) {
            auto const place = static_cast<std::size_t>(which);
            return place < outcome.parts.size() ? outcome.parts[place] : 0;
        };
        using enum simulated::RomioPart;
        row(name, outcome.seconds,
            {part(metadata), part(counts), std::max(part(data), part(storage))}, outcome.messages);
        char more[256];
        std::snprintf(more, sizeof more,
                      ", \"rounds\": %lld, \"requests\": %lld, \"senders\": %.1f, "
                      "\"metadata\": %.9g, \"counts\": %.9g, \"times_the_choice\": %.4g",
                      static_cast<long long>(outcome.rounds),
                      static_cast<long long>(outcome.requests), outcome.senders, part(metadata),
                      part(counts), outcome.seconds / own_seconds_);
        record(name, outcome.seconds, outcome.messages, more);
    }

    void tell(char const* name) const {
        std::fprintf(stderr, "\r%s, %d ranks, %s, queue %s: %s\033[K", machine_.c_str(),
                     scenario_.machine.ranks(), scenario_.pattern.name.c_str(), price_.name, name);
    }

    struct Times {
        double metadata, counts, data;
    };

    void row(char const* name, double seconds, Times const& parts, std::int64_t messages) const {
        std::fprintf(stderr, "\r\033[K");
        std::printf("  %-14s %-22s %10s %10s %10s %10s %10lld %8.2f\n", price_.name, name,
                    seconds_text(seconds).c_str(), seconds_text(parts.metadata).c_str(),
                    seconds_text(parts.counts).c_str(), seconds_text(parts.data).c_str(),
                    static_cast<long long>(messages),
                    own_seconds_ > 0 ? seconds / own_seconds_ : 1.0);
        std::fflush(stdout);
    }

    void note_fault(std::string const& fault) {
        if (fault.empty()) return;
        std::printf("  %s\n", fault.c_str());
        is_right_ = false;
    }

    void record(char const* name, double seconds, std::int64_t messages,
                std::string const& more) const {
        if (options_.json == nullptr) return;
        std::fprintf(options_.json,
                     "{\"mode\": \"romio\", \"machine\": \"%s\", \"ranks\": %d, \"pattern\": "
                     "\"%s\", \"bytes\": %lld, \"published\": %s, \"queue\": \"%s\", "
                     "\"queue_seconds\": %.3g, \"name\": \"%s\", \"seconds\": %.9g, "
                     "\"messages\": %lld%s, \"unit\": \"s\", \"command\": \"sluice bench exchange "
                     "--romio\", \"sluice\": \"%s\"}\n",
                     machine_.c_str(), scenario_.machine.ranks(), scenario_.pattern.name.c_str(),
                     static_cast<long long>(scenario_.pattern.bytes),
                     scenario_.pattern.published ? "true" : "false", price_.name, price_.seconds,
                     name, seconds, static_cast<long long>(messages), more.c_str(), SLUICE_VERSION);
        std::fflush(options_.json);
    }

    ExchangeOptions const& options_;
    std::string machine_;
    Scenario scenario_;
    QueuePrice price_{};
    double own_seconds_ = 0;
    bool is_right_ = true;
};

}  // namespace

int compare_romio(ExchangeOptions const& options) {
    if (options.direction == Direction::read) {
        std::fprintf(stderr, "sluice bench exchange: --romio has collective writes only\n");
        return 2;
    }
    bool right = true;
    for (Rank const ranks : options.ranks) {
        for (std::string const& machine : options.machines) {
            for (std::string const& pattern : options.patterns) {
                Scenario const scenario = scenario_of(options, machine, ranks, pattern);
                if (auto const impossible = why_not(scenario); !impossible.empty())
                    std::printf("\n%s is left out: it %s\n", pattern.c_str(), impossible.c_str());
                else
                    right &= Comparison(options, machine, scenario).run();
            }
        }
    }
    return right ? 0 : 1;
}

}  // namespace sluice::tools
