// The operations that MPI predefines, as loops over packed elements, which may lie unaligned. Each
// pair of an operation and a type is a loop of its own, so that compilers can make vectors of it.
#include "collective/reduction.hpp"

#include <complex>
#include <cstring>
#include <type_traits>

namespace sluice {
namespace {

// ---- Elements ---------------------------------------------------------------------------------

/// A value, and where it is.
template <class Value> struct Pair {
    Value value;
    std::int32_t place;
};

/// How an element lies in packed memory.
template <class T> struct Element {
    static constexpr Bytes bytes = sizeof(T);
    static T load(std::byte const* at) noexcept {
        T value;
        std::memcpy(&value, at, sizeof value);
        return value;
    }
    static void store(std::byte* at, T value) noexcept { std::memcpy(at, &value, sizeof value); }
};

template <class Value> struct Element<Pair<Value>> {
    static constexpr Bytes bytes = sizeof(Value) + sizeof(std::int32_t);
    static Pair<Value> load(std::byte const* at) noexcept {
        return {Element<Value>::load(at), Element<std::int32_t>::load(at + sizeof(Value))};
    }
    static void store(std::byte* at, Pair<Value> pair) noexcept {
        Element<Value>::store(at, pair.value);
        Element<std::int32_t>::store(at + sizeof(Value), pair.place);
    }
};

// ---- Operations -------------------------------------------------------------------------------

template <class T> constexpr bool is_integer = std::is_integral_v<T>;

/// Integers that overflow wrap around: unsigned, and wide enough not to be promoted to int.
template <class T>
using Wrapping = std::make_unsigned_t<std::conditional_t<sizeof(T) < sizeof(int), int, T>>;

struct Sum {
    template <class T> static T of(T a, T b) noexcept {
        if constexpr (is_integer<T>) {
            return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
        } else {
            return a + b;
        }
    }
};

struct Product {
    template <class T> static T of(T a, T b) noexcept {
        if constexpr (is_integer<T>) {
            return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
        } else {
            return a * b;
        }
    }
};

struct Least {
    template <class T> static T of(T a, T b) noexcept { return b < a ? b : a; }
};

struct Most {
    template <class T> static T of(T a, T b) noexcept { return a < b ? b : a; }
};

struct LogicalAnd {
    template <class T> static T of(T a, T b) noexcept { return T{a != 0} & T{b != 0}; }
};

struct LogicalOr {
    template <class T> static T of(T a, T b) noexcept { return T{a != 0} | T{b != 0}; }
};

struct LogicalXor {
    template <class T> static T of(T a, T b) noexcept {
        return T{a != 0} ^ T { b != 0 };
    }
};

struct BitAnd {
    template <class T> static T of(T a, T b) noexcept { return static_cast<T>(a & b); }
};

struct BitOr {
    template <class T> static T of(T a, T b) noexcept { return static_cast<T>(a | b); }
};

struct BitXor {
    template <class T> static T of(T a, T b) noexcept { return static_cast<T>(a ^ b); }
};

/// Of equal values the one with the smaller place.
struct LeastPlace {
    template <class P> static P of(P a, P b) noexcept {
        return b.value < a.value || (b.value == a.value && b.place < a.place) ? b : a;
    }
};

struct MostPlace {
    template <class P> static P of(P a, P b) noexcept {
        return a.value < b.value || (b.value == a.value && b.place < a.place) ? b : a;
    }
};

template <class Operation, class T> class Elementwise final : public Reduction {
    void apply(std::byte const* left, std::byte* right, Bytes bytes) const override {
        using E = Element<T>;
        Bytes const count = bytes / E::bytes;
        for (Bytes i = 0; i < count; ++i) {
            Bytes const at = i * E::bytes;
            E::store(right + at, Operation::of(E::load(left + at), E::load(right + at)));
        }
    }
};

/// MPI_REPLACE and MPI_NO_OP: the left operand is what comes, as in MPI_Accumulate.
class Replace final : public Reduction {
    void apply(std::byte const* left, std::byte* right, Bytes bytes) const override {
        if (bytes > 0) std::memcpy(right, left, static_cast<std::size_t>(bytes));
    }
};

class Keep final : public Reduction {
    void apply(std::byte const* /*left*/, std::byte* /*right*/, Bytes /*bytes*/) const override {}
};

/// Never destroyed: a helper thread may still be at work when the program ends.
template <class Kernel> Reduction const* the() {
    static Reduction const* const one = new Kernel;
    return one;
}

// ---- Which operation on which elements: the table of MPI-4.1, section 6.9.2 -------------------

template <class T> Reduction const* of_numbers(ReductionOp op) noexcept {
    if (op == ReductionOp::sum) return the<Elementwise<Sum, T>>();
    if (op == ReductionOp::prod) return the<Elementwise<Product, T>>();
    return nullptr;
}

/// Sums go by their parts, which compilers make vectors of.
template <class Part> Reduction const* of_complex(ReductionOp op) noexcept {
    if (op == ReductionOp::sum) return of_numbers<Part>(op);
    return of_numbers<std::complex<Part>>(op);
}

template <class T> Reduction const* of_ordered(ReductionOp op) noexcept {
    if (op == ReductionOp::min) return the<Elementwise<Least, T>>();
    if (op == ReductionOp::max) return the<Elementwise<Most, T>>();
    return of_numbers<T>(op);
}

template <class T> Reduction const* of_logicals(ReductionOp op) noexcept {
    if (op == ReductionOp::logical_and) return the<Elementwise<LogicalAnd, T>>();
    if (op == ReductionOp::logical_or) return the<Elementwise<LogicalOr, T>>();
    if (op == ReductionOp::logical_xor) return the<Elementwise<LogicalXor, T>>();
    return nullptr;
}

template <class T> Reduction const* of_integers(ReductionOp op) noexcept {
    if (op == ReductionOp::bit_and) return the<Elementwise<BitAnd, T>>();
    if (op == ReductionOp::bit_or) return the<Elementwise<BitOr, T>>();
    if (op == ReductionOp::bit_xor) return the<Elementwise<BitXor, T>>();
    auto const* const logical = of_logicals<T>(op);
    return logical ? logical : of_ordered<T>(op);
}

template <class Value> Reduction const* of_pairs(ReductionOp op) noexcept {
    if (op == ReductionOp::min_place) return the<Elementwise<LeastPlace, Pair<Value>>>();
    if (op == ReductionOp::max_place) return the<Elementwise<MostPlace, Pair<Value>>>();
    return nullptr;
}

/// Calls `visit` with a value of the C++ type and the function that knows its operations.
template <class Visit> auto with_type(ElementType type, Visit&& visit) noexcept {
    switch (type) {
    case ElementType::int8:
        return visit(std::int8_t{}, of_integers<std::int8_t>);
    case ElementType::int16:
        return visit(std::int16_t{}, of_integers<std::int16_t>);
    case ElementType::int32:
        return visit(std::int32_t{}, of_integers<std::int32_t>);
    case ElementType::int64:
        return visit(std::int64_t{}, of_integers<std::int64_t>);
    case ElementType::uint8:
        return visit(std::uint8_t{}, of_integers<std::uint8_t>);
    case ElementType::uint16:
        return visit(std::uint16_t{}, of_integers<std::uint16_t>);
    case ElementType::uint32:
        return visit(std::uint32_t{}, of_integers<std::uint32_t>);
    case ElementType::uint64:
        return visit(std::uint64_t{}, of_integers<std::uint64_t>);
    case ElementType::float32:
        return visit(float{}, of_ordered<float>);
    case ElementType::float64:
        return visit(double{}, of_ordered<double>);
    case ElementType::float80:
        return visit(static_cast<long double>(0), of_ordered<long double>);
    case ElementType::complex32:
        return visit(std::complex<float>{}, of_complex<float>);
    case ElementType::complex64:
        return visit(std::complex<double>{}, of_complex<double>);
    case ElementType::complex80:
        return visit(std::complex<long double>{}, of_complex<long double>);
    case ElementType::boolean:  // A byte: one that is neither 0 nor 1 is no bool to C++.
        return visit(std::uint8_t{}, of_logicals<std::uint8_t>);
    case ElementType::logical32:
        return visit(std::uint32_t{}, of_logicals<std::uint32_t>);
    case ElementType::pair_float:
        return visit(Pair<float>{}, of_pairs<float>);
    case ElementType::pair_double:
        return visit(Pair<double>{}, of_pairs<double>);
    case ElementType::pair_long:
        return visit(Pair<long>{}, of_pairs<long>);
    case ElementType::pair_int:
        return visit(Pair<std::int32_t>{}, of_pairs<std::int32_t>);
    case ElementType::pair_short:
        return visit(Pair<short>{}, of_pairs<short>);
    case ElementType::pair_long_double:
        break;
    }
    return visit(Pair<long double>{}, of_pairs<long double>);
}

}  // namespace

Bytes element_bytes(ElementType type) noexcept {
    return with_type(
        type, [](auto element, auto /*kernels*/) { return Element<decltype(element)>::bytes; });
}

Reduction const* native_reduction(ReductionOp op, ElementType type) {
    if (op == ReductionOp::replace) return the<Replace>();
    if (op == ReductionOp::no_op) return the<Keep>();
    return with_type(type, [op](auto /*element*/, auto kernels) { return kernels(op); });
}

}  // namespace sluice
