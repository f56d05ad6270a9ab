// Elements and operations of reductions: values that give the same bits in whatever order they are
// combined, and operations of the user's.
#pragma once
#include "check.hpp"
#include "collective_types.hpp"

#include <complex>

namespace collective_test {

/// One kind of elements, and which operations MPI defines on it.
struct Element {
    MPI_Datatype type;
    char const* name;
    std::vector<std::pair<MPI_Op, char const*>> operations;
    void (*set)(unsigned char* at, Random& random);  ///< A value.
    std::size_t gap_begin = 0, gap_end = 0;          ///< Bytes that belong to no value.
};

template <class T> void set_small(unsigned char* at, Random& random) {
    T const value = static_cast<T>(random.between(0, 3));
    std::memcpy(at, &value, sizeof value);
}
template <class T> void set_complex(unsigned char* at, Random& random) {
    std::complex<T> const value(static_cast<T>(random.between(-1, 2)),
                                static_cast<T>(random.between(-1, 1)));
    std::memcpy(at, &value, sizeof value);
}
template <class T> struct Pair {
    T value;
    int place;
};
template <class T> void set_pair(unsigned char* at, Random& random) {
    Pair<T> pair{};
    pair.value = static_cast<T>(random.between(0, 3));
    pair.place = random.between(0, 100);
    std::memcpy(at, &pair, sizeof pair);
}

template <class T> Element pair_of(MPI_Datatype type, char const* name) {
    return {type,
            name,
            {{MPI_MINLOC, "minloc"}, {MPI_MAXLOC, "maxloc"}},
            set_pair<T>,
            sizeof(T) < offsetof(Pair<T>, place) ? sizeof(T) : 0,
            sizeof(T) < offsetof(Pair<T>, place) ? offsetof(Pair<T>, place) : 0};
}

inline std::vector<Element> const& elements() {
    using Operations = std::vector<std::pair<MPI_Op, char const*>>;
    Operations const real{{MPI_SUM, "sum"}, {MPI_PROD, "prod"}, {MPI_MIN, "min"}, {MPI_MAX, "max"}};
    Operations const logical{{MPI_LAND, "land"}, {MPI_LOR, "lor"}, {MPI_LXOR, "lxor"}};
    Operations const bits{{MPI_BAND, "band"}, {MPI_BOR, "bor"}, {MPI_BXOR, "bxor"}};
    Operations integer = real;
    integer.insert(integer.end(), logical.begin(), logical.end());
    integer.insert(integer.end(), bits.begin(), bits.end());
    static std::vector<Element> const all{
        {MPI_SIGNED_CHAR, "signed char", integer, set_small<signed char>},
        {MPI_UINT8_T, "uint8", integer, set_small<std::uint8_t>},
        {MPI_SHORT, "short", integer, set_small<short>},
        {MPI_UNSIGNED_SHORT, "unsigned short", integer, set_small<unsigned short>},
        {MPI_INT, "int", integer, set_small<int>},
        {MPI_UINT32_T, "uint32", integer, set_small<std::uint32_t>},
        {MPI_LONG, "long", integer, set_small<long>},
        {MPI_UINT64_T, "uint64", integer, set_small<std::uint64_t>},
        {MPI_AINT, "MPI_Aint", integer, set_small<MPI_Aint>},
        {MPI_FLOAT, "float", real, set_small<float>},
        {MPI_DOUBLE, "double", real, set_small<double>},
        // Of products of complex numbers the sign of a zero depends on the order.
        {MPI_C_FLOAT_COMPLEX, "complex float", {real[0]}, set_complex<float>},
        {MPI_C_DOUBLE_COMPLEX, "complex double", {real[0]}, set_complex<double>},
        {MPI_C_BOOL, "bool", logical, [](unsigned char* at, Random& r) { *at = r.chance(70); }},
        {MPI_BYTE, "byte", bits,
         [](unsigned char* at, Random& r) { *at = static_cast<unsigned char>(r.next()); }},
        pair_of<float>(MPI_FLOAT_INT, "float+int"),
        pair_of<double>(MPI_DOUBLE_INT, "double+int"),
        pair_of<long>(MPI_LONG_INT, "long+int"),
        pair_of<short>(MPI_SHORT_INT, "short+int"),
        pair_of<int>(MPI_2INT, "int+int"),
    };
    return all;
}

// x -> a x + b, modulo 2^32: what comes first is applied last, so the order matters.
struct Affine {
    std::uint32_t a, b;
};
struct AffineWithGap {
    std::uint32_t a, gap, b;
};

template <class Map> Type affine_type() {
    int const places[] = {0, sizeof(Map) / sizeof(std::uint32_t) - 1};
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_indexed_block(2, 1, places, MPI_UINT32_T, &type);
    return committed(type, 1, sizeof(Map) == sizeof(Affine) ? "affine" : "affine with a gap");
}

template <class Map> void set_affine(unsigned char* at, Random& random) {
    Map map{};
    std::memcpy(&map, at, sizeof map);
    map.a = static_cast<std::uint32_t>(random.next());
    map.b = static_cast<std::uint32_t>(random.next());
    std::memcpy(at, &map, sizeof map);
}

/// A user's function sees the user's datatype, and memory that is laid out so.
template <class Map> void check_type_seen(MPI_Datatype type) {
    MPI_Aint lower = 0, extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    check::is_equal(sizeof(Map), static_cast<std::size_t>(extent), "extent that the user sees");
}

template <class Map> void compose(void* left, void* right, int* count, MPI_Datatype* type) {
    check_type_seen<Map>(*type);
    auto const* const in = static_cast<Map const*>(left);
    auto* const out = static_cast<Map*>(right);
    for (int i = 0; i < *count; ++i) {
        out[i].b = in[i].a * out[i].b + in[i].b;
        out[i].a = in[i].a * out[i].a;
    }
}

template <class Map> void add_up(void* left, void* right, int* count, MPI_Datatype* type) {
    check_type_seen<Map>(*type);
    auto const* const in = static_cast<Map const*>(left);
    auto* const out = static_cast<Map*>(right);
    for (int i = 0; i < *count; ++i) {
        out[i].a += in[i].a;
        out[i].b += in[i].b;
    }
}

}  // namespace collective_test
