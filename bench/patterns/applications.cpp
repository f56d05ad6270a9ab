// Programs by name. See applications.hpp.
#include "bench/patterns/applications.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace sluice::patterns {
namespace {

constexpr Bytes word = 8;

/// splitmix64: the same numbers on every process and machine.
class Draws {
public:
    explicit Draws(std::uint64_t seed) noexcept : state_(seed * 0xD1B54A32D192ED03u + 1) {}

    std::int64_t below(std::int64_t limit) noexcept {
        auto x = state_ += 0x9E3779B97F4A7C15u;
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
        return static_cast<std::int64_t>((x ^ (x >> 31)) % static_cast<std::uint64_t>(limit));
    }

    template <typename Item> void shuffle(std::vector<Item>& items) noexcept {
        for (std::size_t left = items.size(); left > 1; --left) {
            auto const chosen = static_cast<std::size_t>(below(static_cast<std::int64_t>(left)));
            std::swap(items[left - 1], items[chosen]);
        }
    }

private:
    std::uint64_t state_;
};

struct Process {
    ApplicationSpec const& spec;
    Rank rank, ranks;
};

Bytes whole_words(Bytes bytes) noexcept { return std::max(bytes / word, Bytes{1}) * word; }

/// A stretch of the file, call by call.
void add(std::vector<Transfer>& transfers, Direction direction, Offset begin, Bytes bytes,
         Bytes most) {
    for (Bytes done = 0; done < bytes; done += most)
        transfers.push_back({direction, begin + done, std::min(most, bytes - done)});
}

// ---- IOR ------------------------------------------------------------------------------------

enum class Order { own, tasks, offsets };

struct Blocks {
    std::int32_t segments;
    Bytes block, transfer;
};

Blocks blocks_of(ApplicationSpec const& spec) noexcept {
    std::int32_t const segments = spec.parts > 0 ? spec.parts : 2;
    Bytes const transfer = whole_words(std::min(spec.transfer_bytes, spec.bytes / segments));
    return {segments, std::max(spec.bytes / segments / transfer, Bytes{1}) * transfer, transfer};
}

std::vector<Transfer> ior_step(Process const& process, Order order, Direction direction) {
    auto const blocks = blocks_of(process.spec);
    bool const writes = direction == Direction::write;
    // Equal on all processes, so that no block has two.
    Draws draws(2 * process.spec.seed + (writes ? 0 : 1));
    std::vector<Transfer> transfers;
    std::vector<Rank> owners(static_cast<std::size_t>(process.ranks));
    std::iota(owners.begin(), owners.end(), 0);
    for (std::int32_t segment = 0; segment < blocks.segments; ++segment) {
        if (order != Order::own) draws.shuffle(owners);
        Offset const block =
            Offset{segment} * process.ranks + owners[static_cast<std::size_t>(process.rank)];
        add(transfers, direction, block * blocks.block, blocks.block, blocks.transfer);
    }
    if (order == Order::offsets)
        Draws(process.spec.seed + 7919u * static_cast<std::uint64_t>(process.rank + 1))
            .shuffle(transfers);
    return transfers;
}

template <Order order> std::vector<Step> ior(Process const& process) {
    return {{"write", ior_step(process, order, Direction::write)},
            {"read", ior_step(process, order, Direction::read), false, true}};
}

// ---- HACC-IO --------------------------------------------------------------------------------

/// Three places, three velocities, a potential, a number, a mask.
constexpr std::array<Bytes, 9> variables{4, 4, 4, 4, 4, 4, 4, 8, 2};
constexpr Bytes particle = 38;

/// Of a process; so many that each variable is whole pages, or at least whole words.
Bytes particles_of(ApplicationSpec const& spec) noexcept {
    constexpr Bytes page = 4096;
    Bytes const asked = spec.bytes / particle, unit = asked >= page ? page : word;
    return std::max(asked / unit, Bytes{1}) * unit;
}

std::vector<Step> hacc(Process const& process) {
    Bytes const particles = particles_of(process.spec);
    std::vector<Transfer> transfers;
    Offset variable = 0;
    for (Bytes const bytes : variables) {
        add(transfers, Direction::write, variable + process.rank * particles * bytes,
            particles * bytes, whole_words(process.spec.transfer_bytes));
        variable += process.ranks * particles * bytes;
    }
    Draws(process.spec.seed + static_cast<std::uint64_t>(process.rank)).shuffle(transfers);
    return {{"write", std::move(transfers)}};
}

// ---- MADBench2 ------------------------------------------------------------------------------

struct Matrices {
    std::int32_t count;
    Bytes share;  ///< Of one matrix, of one process.
};

Matrices matrices_of(ApplicationSpec const& spec) noexcept {
    std::int32_t const count = spec.parts > 0 ? spec.parts : 8;
    return {count, whole_words(spec.bytes / count)};
}

std::vector<Step> madbench(Process const& process) {
    auto const matrices = matrices_of(process.spec);
    auto const at = [&](std::int32_t matrix) {
        return (Offset{matrix} * process.ranks + process.rank) * matrices.share;
    };
    Step make{"S", {}}, multiply{"W", {}}, sum{"C", {}};
    for (std::int32_t i = 0; i < matrices.count; ++i) {
        Offset const matrix = at(i), result = at(matrices.count + i);
        make.transfers.push_back({Direction::write, matrix, matrices.share});
        multiply.transfers.push_back({Direction::read, matrix, matrices.share});
        multiply.transfers.push_back({Direction::write, result, matrices.share});
        sum.transfers.push_back({Direction::read, result, matrices.share});
    }
    return {make, multiply, sum};
}

// ---- S3aSim ---------------------------------------------------------------------------------

std::vector<Step> s3asim(Process const& process) {
    constexpr std::int64_t usual_queries = 100, longest = 64;  // Times as long as the shortest.
    auto const& spec = process.spec;
    std::int64_t const queries = spec.parts > 0 ? spec.parts : usual_queries;
    Bytes const whole = whole_words(spec.bytes) * process.ranks;
    Draws draws(spec.seed);
    std::vector<std::int64_t> ends;
    for (std::int64_t query = 0; query < queries; ++query)
        ends.push_back((ends.empty() ? 0 : ends.back()) + 1 + draws.below(longest));
    Bytes const words = whole / word;
    double const unit = static_cast<double>(words) / static_cast<double>(ends.back());
    /// Where a process's share of a query begins.
    auto const place = [&](std::int64_t weight, std::int64_t rank, std::int64_t length) {
        auto const share = static_cast<double>(rank) / process.ranks;
        double const begin = static_cast<double>(weight) + share * static_cast<double>(length);
        return static_cast<Offset>(std::llround(unit * begin)) * word;
    };
    Step search{"read", {}, false, true};
    std::int64_t begin = 0;
    for (std::int64_t const end : ends) {
        Offset const from = place(begin, process.rank, end - begin);
        Offset const to = process.rank + 1 == process.ranks
                              ? place(end, 0, 0)
                              : place(begin, process.rank + 1, end - begin);
        add(search.transfers, Direction::read, from, to - from, whole_words(spec.transfer_bytes));
        begin = end;
    }
    Step database{"database", {}, true};
    Bytes const share = whole / process.ranks;
    add(database.transfers, Direction::write, process.rank * share, share,
        whole_words(spec.transfer_bytes));
    return {database, search};
}

// ---- By name --------------------------------------------------------------------------------

struct Program {
    char const* name;
    std::vector<Step> (*make)(Process const&);
};

constexpr std::array programs{
    Program{"ior", ior<Order::tasks>},       Program{"ior-random", ior<Order::offsets>},
    Program{"ior-ordered", ior<Order::own>}, Program{"hacc", hacc},
    Program{"madbench", madbench},           Program{"s3asim", s3asim},
};

}  // namespace

std::vector<std::string> const& application_names() {
    static std::vector<std::string> const names = [] {
        std::vector<std::string> all;
        for (Program const& program : programs) all.emplace_back(program.name);
        return all;
    }();
    return names;
}

std::vector<Step> steps_of(ApplicationSpec const& spec, Rank rank, Rank ranks) {
    auto const* const program =
        std::find_if(programs.begin(), programs.end(),
                     [&](Program const& known) { return spec.name == known.name; });
    return program == programs.end() ? std::vector<Step>() : program->make({spec, rank, ranks});
}

Bytes file_bytes(ApplicationSpec const& spec, Rank ranks) {
    if (spec.name == "hacc") return particles_of(spec) * particle * ranks;
    if (spec.name == "s3asim") return whole_words(spec.bytes) * ranks;
    if (spec.name == "madbench") {
        auto const matrices = matrices_of(spec);
        return 2 * matrices.count * matrices.share * ranks;
    }
    auto const blocks = blocks_of(spec);
    return blocks.segments * blocks.block * ranks;
}

}  // namespace sluice::patterns
