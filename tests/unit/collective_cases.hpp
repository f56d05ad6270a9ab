// Drawn collective calls of all ranks with real memory, and what MPI says that must be in it
// afterwards, byte by byte. Knows nothing of algorithms.
#pragma once
#include "collective/operation.hpp"
#include "collective_world.hpp"

#include <cstring>

namespace sluice::testing {

using ByteString = std::vector<std::byte>;

/// Adds 64-bit numbers, or composes maps x -> a x + b of 32 bits each, which do not commute.
class TestReduction final : public Reduction {
public:
    explicit TestReduction(bool commutative) : commutative_(commutative) {}
    void apply(std::byte const* left, std::byte* inout, Bytes bytes) const override {
        for (Bytes at = 0; at < bytes; at += 8) {
            std::uint64_t l = 0, r = 0;
            std::memcpy(&l, left + at, 8);
            std::memcpy(&r, inout + at, 8);
            std::uint64_t const both = commutative_ ? l + r : composed(l, r);
            std::memcpy(inout + at, &both, 8);
        }
    }

private:
    static std::uint64_t composed(std::uint64_t l, std::uint64_t r) {
        auto const a = static_cast<std::uint32_t>(l >> 32) | 1, b = static_cast<std::uint32_t>(l);
        auto const c = static_cast<std::uint32_t>(r >> 32) | 1, d = static_cast<std::uint32_t>(r);
        return std::uint64_t{a * c} << 32 | (a * d + b);
    }
    bool commutative_;
};

/// One rank's part in a call.
struct RankCase {
    CollectiveCall call;
    ByteString input, output;  ///< As streams, before the call.
    ByteString expected;       ///< The output stream after it.
    Bytes compared = 0;        ///< So much of it is MPI's business.
};

class CollectiveCase {
public:
    CollectiveCase(std::mt19937_64& random, Rank ranks, CollectiveKind kind, Bytes bytes_most)
        : random_(random),
          ranks_(ranks),
          parts(static_cast<std::size_t>(ranks)) {
        draw(kind, bytes_most);
        for (Rank r = 0; r < ranks; ++r) fill(r);
        for (Rank r = 0; r < ranks; ++r) expect(r);
    }

private:
    using Kind = CollectiveKind;

    std::mt19937_64& random_;
    Rank ranks_;

    std::size_t below(std::size_t n) { return random_() % n; }
    RankCase& of(Rank r) { return parts[static_cast<std::size_t>(r)]; }
    static std::size_t index(Bytes i) { return static_cast<std::size_t>(i); }

    void draw(Kind kind, Bytes bytes_most) {
        CallShape shape;
        shape.kind = kind;
        shape.ranks = ranks_;
        shape.root = static_cast<Rank>(below(index(ranks_)));
        shape.commutative = below(2) == 0;
        shape.in_place = can_be_in_place(kind) && below(3) == 0;
        shape.element = reduces(kind) ? 8 : 1;
        shape.seed = static_cast<unsigned>(random_());
        auto const most = index(bytes_most / shape.element) + 1;
        bool const any = kind != Kind::barrier && below(4) > 0;
        if (any) shape.block = static_cast<Bytes>(below(most)) * shape.element;
        auto calls = draw_calls(shape);
        for (Rank r = 0; r < ranks_; ++r) of(r).call = std::move(calls[index(r)]);
    }

    void fill(Rank r) {
        RankCase& part = of(r);
        auto const drawn = [&](Bytes bytes) {
            ByteString all(index(bytes));
            for (auto& each : all) each = static_cast<std::byte>(random_());
            return all;
        };
        part.input = drawn(input_bytes(part.call, r, ranks_));
        part.output = drawn(output_bytes(part.call, r, ranks_));
        if (part.call.kind == Kind::barrier) part.input = part.output = {};
    }

    /// What rank r sends to all, or its elements, as a stream: also where it is in place.
    ByteString brought(Rank r) {
        RankCase& part = of(r);
        CollectiveCall const& call = part.call;
        bool const scatters = call.kind == Kind::scatter || call.kind == Kind::scatterv;
        if (call.kind == Kind::bcast || (call.in_place && !scatters)) {
            if (call.kind == Kind::allgather) return block_of(part.output, r, call.block);
            if (call.kind == Kind::allgatherv) return cut(part.output, call.outputs, r);
            if (call.kind == Kind::gather) return block_of(part.output, r, call.block);
            if (call.kind == Kind::gatherv) return cut(part.output, call.outputs, r);
            return part.output;
        }
        return part.input;
    }
    static ByteString block_of(ByteString const& all, Rank r, Bytes block) {
        auto const begin = all.begin() + block * r;
        return {begin, begin + block};
    }
    static ByteString cut(ByteString const& all, std::vector<Bytes> const& sizes, Rank r) {
        Bytes at = 0;
        for (Rank i = 0; i < r; ++i) at += sizes[index(i)];
        return {all.begin() + at, all.begin() + at + sizes[index(r)]};
    }

    ByteString combined(Rank first, Rank last) {
        TestReduction const reduction(of(0).call.commutative);
        ByteString all = brought(last);
        for (Rank r = last - 1; r >= first; --r) {
            ByteString const left = brought(r);
            reduction.apply(left.data(), all.data(), static_cast<Bytes>(all.size()));
        }
        return all;
    }

    /// The stream that is to begin the output.
    void set(Rank r, ByteString const& result) {
        RankCase& part = of(r);
        part.compared = static_cast<Bytes>(part.output.size());
        // In place the elements behind the result may have been used for anything.
        if (part.call.in_place && reduces(part.call.kind)) {
            part.compared = static_cast<Bytes>(result.size());
        }
        std::copy(result.begin(), result.end(), part.expected.begin());
    }
    void append(ByteString& to, ByteString const& what) {
        to.insert(to.end(), what.begin(), what.end());
    }

    void expect(Rank r) {
        RankCase& part = of(r);
        CollectiveCall const& call = part.call;
        part.expected = part.output;
        part.compared = static_cast<Bytes>(part.output.size());
        bool const is_root = r == call.root;
        ByteString all;
        switch (call.kind) {
        case Kind::barrier:
            return;
        case Kind::bcast:
            return set(r, of(call.root).output);
        case Kind::gather:
        case Kind::gatherv:
            if (!is_root) return;
            [[fallthrough]];
        case Kind::allgather:
        case Kind::allgatherv:
            for (Rank i = 0; i < ranks_; ++i) append(all, brought(i));
            return set(r, all);
        case Kind::scatter:
            if (call.in_place && is_root) return;
            return set(r, block_of(of(call.root).input, r, call.block));
        case Kind::scatterv:
            if (call.in_place && is_root) return;
            return set(r, cut(of(call.root).input, of(call.root).call.inputs, r));
        case Kind::alltoall:
            for (Rank i = 0; i < ranks_; ++i) append(all, block_of(brought(i), r, call.block));
            return set(r, all);
        case Kind::alltoallv:
            for (Rank i = 0; i < ranks_; ++i) {
                CollectiveCall const& its = of(i).call;
                append(all, cut(brought(i), its.in_place ? its.outputs : its.inputs, r));
            }
            return set(r, all);
        case Kind::reduce:
            if (is_root) set(r, combined(0, ranks_ - 1));
            return;
        case Kind::allreduce:
            return set(r, combined(0, ranks_ - 1));
        case Kind::reduce_scatter:
            return set(r, cut(combined(0, ranks_ - 1), call.outputs, r));
        case Kind::reduce_scatter_block:
            return set(r, block_of(combined(0, ranks_ - 1), r, call.block));
        case Kind::scan:
            return set(r, combined(0, r));
        case Kind::exscan:
            if (r > 0)
                set(r, combined(0, r - 1));
            else if (!call.in_place)
                part.compared = 0;
            return;
        default:
            return expect_neighbours(r);
        }
    }

    void expect_neighbours(Rank r) {
        CollectiveCall const& call = of(r).call;
        ByteString all;
        std::vector<int> seen(index(ranks_));
        for (std::size_t i = 0; i < call.sources.size(); ++i) {
            Rank const source = call.sources[i];
            if (source < 0) {  // Nobody: what is there stays.
                auto const stays = of(r).output.begin() + static_cast<Bytes>(all.size());
                append(all, {stays, stays + (call.outputs.empty() ? call.block : call.outputs[i])});
                continue;
            }
            CollectiveCall const& its = of(source).call;
            ByteString const& from = of(source).input;
            int occurrence = seen[index(source)]++;
            Bytes at = 0;
            bool const one =
                call.kind == Kind::neighbor_allgather || call.kind == Kind::neighbor_allgatherv;
            for (std::size_t d = 0; d < its.destinations.size(); ++d) {
                Bytes const bytes =
                    call.kind == Kind::neighbor_alltoallv ? its.inputs[d] : its.block;
                if (its.destinations[d] == r && occurrence-- == 0) {
                    auto const begin = from.begin() + (one ? 0 : at);
                    append(all, {begin, begin + bytes});
                }
                at += bytes;
            }
        }
        set(r, all);
    }

public:
    std::vector<RankCase> parts;
};

}  // namespace sluice::testing
