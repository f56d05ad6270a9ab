// Every algorithm of every kind that reduces, on real bytes, with an operation that tells the order
// of its operands.
#include "collective/reductions.hpp"
#include "collective_bytes.hpp"
#include "sanitizers.hpp"
#include "schedule/describe.hpp"
#include "schedule/schedule_check.hpp"
#include "simulate/proof/collective_check.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace sluice::collective_reductions_test {
namespace {

using testing::RankMemory;
using testing::Stream;

constexpr Bytes element = 8;
constexpr CollectiveKind kinds[] = {
    CollectiveKind::reduce,         CollectiveKind::allreduce,
    CollectiveKind::reduce_scatter, CollectiveKind::reduce_scatter_block,
    CollectiveKind::scan,           CollectiveKind::exscan};

/// x -> a x + b modulo a prime. Applied one after the other: associative, not commutative.
struct Affine {
    std::uint32_t a, b;
    bool operator==(Affine const&) const = default;
};
constexpr std::uint32_t prime = 65521;

Affine after(Affine left, Affine right) {
    return {left.a * right.a % prime, (left.a * right.b + left.b) % prime};
}

/// Associative and commutative.
Affine plus(Affine left, Affine right) { return {left.a + right.a, left.b ^ right.b}; }

template <class Op> void combine(Op op, std::byte const* left, std::byte* right, Bytes bytes) {
    ASSERT_EQ(bytes % element, 0);
    for (Bytes at = 0; at < bytes; at += element) {
        std::array<Affine, 2> pair;
        std::memcpy(&pair[0], left + at, element);
        std::memcpy(&pair[1], right + at, element);
        pair[1] = op(pair[0], pair[1]);
        std::memcpy(right + at, &pair[1], element);
    }
}

using Elements = std::vector<Affine>;

struct Case {
    CollectiveCall call;
    Algorithm algorithm;
    Rank ranks;
    Bytes segment;
    std::uint64_t seed;

    [[nodiscard]] std::string text() const {
        return std::string(describe(call.kind)) + " " + describe(algorithm) + " ranks " +
               std::to_string(ranks) + " root " + std::to_string(call.root) + " block " +
               std::to_string(call.block) + (call.in_place ? " in place" : "") +
               (call.commutative ? " commutative" : "") + " segment " + std::to_string(segment);
    }
};

class Run {
public:
    explicit Run(Case const& the_case) : case_(the_case), random_(the_case.seed) {
        auto const& call = case_.call;
        if (call.kind == CollectiveKind::reduce_scatter) {
            sizes_ = call.outputs;
        } else if (call.kind == CollectiveKind::reduce_scatter_block) {
            sizes_.assign(static_cast<std::size_t>(case_.ranks), call.block);
        } else {
            sizes_ = {call.block};
        }
        Bytes const all = std::accumulate(sizes_.begin(), sizes_.end(), Bytes{0});
        for (Rank r = 0; r < case_.ranks; ++r) {
            Elements elements(static_cast<std::size_t>(all / element));
            for (Affine& one : elements) {
                one = {static_cast<std::uint32_t>(random_() % (prime - 1) + 1),
                       static_cast<std::uint32_t>(random_() % prime)};
            }
            brought_.push_back(std::move(elements));
        }
    }

    void check() {
        std::vector<CollectiveSchedule> schedules;
        for (Rank r = 0; r < case_.ranks; ++r) {
            schedules.push_back(make_reduction_collective(case_.call, case_.algorithm, r,
                                                          case_.ranks, case_.segment));
            ASSERT_EQ(first_fault(schedules.back().schedule), "") << case_.text();
            memory_.push_back(memory_of(r));
        }
        if (case_.ranks <= 6) {
            std::vector<CollectiveCall> const calls(schedules.size(), case_.call);
            ASSERT_EQ(first_fault(calls, schedules), "") << case_.text();
        }
        auto const before = memory_;
        testing::ByteWorld world(
            schedules, memory_,
            [&](std::byte const* left, std::byte* right, Bytes bytes) {
                case_.call.commutative ? combine(plus, left, right, bytes)
                                       : combine(after, left, right, bytes);
            },
            case_.seed);
        ASSERT_EQ(world.run(), "") << case_.text();
        for (Rank r = 0; r < case_.ranks; ++r) {
            auto const i = static_cast<std::size_t>(r);
            ASSERT_TRUE(memory_[i].input == before[i].input) << case_.text() << " rank " << r;
            ASSERT_TRUE(memory_[i].output == expected(r, before[i].output))
                << case_.text() << " rank " << r;
        }
    }

private:
    static void put(Stream& stream, Bytes at, Elements const& elements) {
        if (!elements.empty()) {
            std::memcpy(stream.data() + at, elements.data(), elements.size() * element);
        }
    }

    [[nodiscard]] RankMemory memory_of(Rank r) const {
        RankMemory memory;
        memory.input.resize(static_cast<std::size_t>(input_bytes(case_.call, r, case_.ranks)));
        memory.output.assign(static_cast<std::size_t>(output_bytes(case_.call, r, case_.ranks)),
                             std::byte{0xee});
        put(is_in_place(case_.call, r) ? memory.output : memory.input, 0,
            brought_[static_cast<std::size_t>(r)]);
        return memory;
    }

    /// From left to right, one rank after the other.
    [[nodiscard]] Elements folded(Rank begin, Rank end) const {
        Elements result = brought_[static_cast<std::size_t>(begin)];
        for (Rank r = begin + 1; r < end; ++r) {
            Elements const& next = brought_[static_cast<std::size_t>(r)];
            for (std::size_t i = 0; i < result.size(); ++i) {
                result[i] =
                    case_.call.commutative ? plus(result[i], next[i]) : after(result[i], next[i]);
            }
        }
        return result;
    }

    [[nodiscard]] Stream expected(Rank self, Stream output) {
        switch (case_.call.kind) {
        case CollectiveKind::reduce:
            if (self == case_.call.root) put(output, 0, folded(0, case_.ranks));
            return output;
        case CollectiveKind::allreduce:
            if (all_.empty()) all_ = folded(0, case_.ranks);
            put(output, 0, all_);
            return output;
        case CollectiveKind::scan:
            put(output, 0, folded(0, self + 1));
            return output;
        case CollectiveKind::exscan:
            if (self > 0) put(output, 0, folded(0, self));
            return output;
        default: {
            if (all_.empty()) all_ = folded(0, case_.ranks);
            auto const begin =
                std::accumulate(sizes_.begin(), sizes_.begin() + self, Bytes{0}) / element;
            auto const count = sizes_[static_cast<std::size_t>(self)] / element;
            put(output, 0, Elements(all_.begin() + begin, all_.begin() + begin + count));
            return output;
        }
        }
    }

    Case case_;
    std::mt19937_64 random_;
    std::vector<Bytes> sizes_;
    std::vector<Elements> brought_;
    Elements all_;
    std::vector<RankMemory> memory_;
};

/// Elements of a call: fewer than ranks, as many, some more, by `choice`.
CollectiveCall make_call(CollectiveKind kind, Rank ranks, bool in_place, bool commutative,
                         int choice, std::mt19937_64& random) {
    CollectiveCall call;
    call.kind = kind;
    call.in_place = in_place;
    call.commutative = commutative;
    call.element = element;
    Bytes const counts[] = {1, ranks / 2, ranks, 2 * ranks + 3, 0};
    if (kind == CollectiveKind::reduce) call.root = static_cast<Rank>(random() % 64) % ranks;
    if (kind == CollectiveKind::reduce_scatter) {
        for (Rank r = 0; r < ranks; ++r) {
            auto const count = choice == 4 ? 0 : random() % 4;
            call.outputs.push_back(static_cast<Bytes>(count) * element);
        }
    } else {
        Bytes const count = counts[choice];
        bool const blocks = kind == CollectiveKind::reduce_scatter_block;
        call.block = (blocks ? count / ranks + choice % 2 : count) * element;
    }
    return call;
}

void check_algorithms(CollectiveCall const& call, Rank ranks, std::mt19937_64& random) {
    for (Algorithm const algorithm : reduction_algorithms_of(call, ranks)) {
        bool const to_all = algorithm == Algorithm::linear || algorithm == Algorithm::pairwise;
        if (to_all && ranks > 16 && ranks % 8 > 1) continue;  // Messages of all pairs take long.
        Bytes const segment = random() % 2 ? call.block / 3 + element : 64 << 10;
        Run({call, algorithm, ranks, segment, random()}).check();
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(collective_reductions, few_ranks_with_all_sizes) {
    std::mt19937_64 random(testing::run_seed());
    for (Rank ranks = 1; ranks <= 9; ++ranks) {
        for (CollectiveKind const kind : kinds) {
            for (int i = 0; i < 4 * 5; ++i) {
                if (testing::is_left_out()) continue;
                auto const call = make_call(kind, ranks, i & 1, i & 2, i / 4, random);
                ASSERT_NO_FATAL_FAILURE(check_algorithms(call, ranks, random));
            }
        }
    }
}

TEST(collective_reductions, up_to_64_ranks) {
    std::mt19937_64 random(testing::run_seed());
    for (Rank ranks = 10; ranks <= 64; ++ranks) {
        for (CollectiveKind const kind : kinds) {
            for (int turn = 0; turn < (ranks <= 16 ? 2 : 1); ++turn) {
                if (testing::is_left_out()) continue;
                bool const commutative = (turn + ranks + static_cast<int>(kind)) % 2 != 0;
                auto const call = make_call(kind, ranks, random() % 2, commutative,
                                            static_cast<int>(random() % 4), random);
                ASSERT_NO_FATAL_FAILURE(check_algorithms(call, ranks, random));
            }
        }
    }
}

}  // namespace
}  // namespace sluice::collective_reductions_test
