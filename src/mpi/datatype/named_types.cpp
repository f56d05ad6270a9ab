// How the table is filled. See named_types.hpp.
#include "mpi/datatype/named_types.hpp"

#include <array>
#include <functional>
#include <vector>

namespace sluice {
namespace {

constexpr auto no_element = static_cast<ElementType>(255);

/// What a type is, where its size tells the rest.
enum class Family : std::uint8_t {
    other,
    bytes,
    integer,
    natural,
    real,
    complex,
    boolean,
    logical
};

ElementType integer_of(Bytes size, bool has_sign) noexcept {
    switch (size) {
    case 1:
        return has_sign ? ElementType::int8 : ElementType::uint8;
    case 2:
        return has_sign ? ElementType::int16 : ElementType::uint16;
    case 4:
        return has_sign ? ElementType::int32 : ElementType::uint32;
    case 8:
        return has_sign ? ElementType::int64 : ElementType::uint64;
    default:
        return no_element;
    }
}

ElementType real_of(Bytes size) noexcept {
    if (size == sizeof(float)) return ElementType::float32;
    if (size == sizeof(double)) return ElementType::float64;
    return no_element;
}

ElementType complex_of(Bytes size) noexcept {
    if (size == 2 * sizeof(float)) return ElementType::complex32;
    if (size == 2 * sizeof(double)) return ElementType::complex64;
    return no_element;
}

ElementType element_of(Family family, Bytes size) noexcept {
    switch (family) {
    case Family::bytes:
        return ElementType::uint8;
    case Family::integer:
        return integer_of(size, true);
    case Family::natural:
        return integer_of(size, false);
    case Family::real:
        return real_of(size);
    case Family::complex:
        return complex_of(size);
    case Family::boolean:
        return size == 1 ? ElementType::boolean : no_element;
    case Family::logical:
        return size == 4 ? ElementType::logical32 : no_element;
    case Family::other:
        break;
    }
    return no_element;
}

ElementForm number_of(Bytes size) noexcept {
    switch (size) {
    case 1:
        return ElementForm::bytes;
    case 2:
        return ElementForm::number_2;
    case 4:
        return ElementForm::number_4;
    case 8:
        return ElementForm::number_8;
    case 16:
        return ElementForm::number_16;
    default:
        return ElementForm::unknown;
    }
}

ElementForm form_of(ElementType element, Bytes size) noexcept {
    switch (element) {
    case ElementType::float80:
        return ElementForm::long_double;
    case ElementType::complex32:
        return ElementForm::complex_4;
    case ElementType::complex64:
        return ElementForm::complex_8;
    case ElementType::complex80:
        return ElementForm::complex_long_double;
    case ElementType::pair_float:
    case ElementType::pair_int:
        return ElementForm::value_4_and_int;
    case ElementType::pair_double:
        return ElementForm::value_8_and_int;
    case ElementType::pair_long:
        return ElementForm::long_and_int;
    case ElementType::pair_short:
        return ElementForm::value_2_and_int;
    case ElementType::pair_long_double:
        return ElementForm::long_double_and_int;
    default:
        return number_of(size);
    }
}

class Table {
public:
    Table() {
        add_c();
        add_fixed();
        add_fortran();
        add_pairs();
        add_forms();
    }

    [[nodiscard]] NamedType const* find(MPI_Datatype type) const noexcept {
        for (std::size_t at = place_of(type);; at = next(at)) {
            if (places_[at].type == type) return &places_[at];
            if (places_[at].type == MPI_DATATYPE_NULL) return nullptr;
        }
    }

private:
    static constexpr std::size_t place_count = 256;  ///< A power of two, more than twice the types.

    static std::size_t place_of(MPI_Datatype type) noexcept {
        auto const key = static_cast<std::uint64_t>(std::hash<MPI_Datatype>{}(type));
        return (key * 0x9e3779b97f4a7c15) >> 56;
    }
    static std::size_t next(std::size_t at) noexcept { return (at + 1) % place_count; }

    void add(MPI_Datatype type, ElementType element) {
        if (type == MPI_DATATYPE_NULL) return;  // The MPI was built without the language.
        MPI_Count size = 0;
        MPI_Aint lower = 0, extent = 0;
        if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size <= 0) return;
        PMPI_Type_get_extent(type, &lower, &extent);
        std::size_t at = place_of(type);
        for (; places_[at].type != MPI_DATATYPE_NULL; at = next(at)) {
            if (places_[at].type == type) return;  // Two names of one type.
        }
        bool const combines = element != no_element && element_bytes(element) == size;
        bool const is_number = combines || element == no_element;
        ElementForm const form = is_number ? form_of(element, size) : ElementForm::unknown;
        places_[at] = {type, size, extent, combines, element, type == MPI_BYTE, form};
    }
    void set_form(MPI_Datatype type, ElementForm form) {
        std::size_t at = place_of(type);
        while (places_[at].type != type && places_[at].type != MPI_DATATYPE_NULL) at = next(at);
        if (places_[at].type == type) places_[at].form = form;
    }
    void add(Family family, std::initializer_list<MPI_Datatype> types) {
        for (MPI_Datatype const type : types) {
            MPI_Count size = 0;
            if (type != MPI_DATATYPE_NULL) PMPI_Type_size_x(type, &size);
            add(type, element_of(family, size));
        }
    }

    void add_c() {
        add(Family::bytes, {MPI_BYTE});
        add(Family::other, {MPI_PACKED, MPI_CHAR, MPI_WCHAR});
        add(Family::integer, {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG});
        add(Family::natural, {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED,
                              MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG});
        add(Family::real, {MPI_FLOAT, MPI_DOUBLE});
        add(MPI_LONG_DOUBLE, ElementType::float80);
        add(Family::complex, {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX});
        add(MPI_C_LONG_DOUBLE_COMPLEX, ElementType::complex80);
        add(Family::boolean, {MPI_C_BOOL});
#ifdef MPI_CXX_BOOL
        add(Family::boolean, {MPI_CXX_BOOL});
        add(Family::complex, {MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX});
        add(MPI_CXX_LONG_DOUBLE_COMPLEX, ElementType::complex80);
#endif
    }
    void add_fixed() {
        add(Family::integer,
            {MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_COUNT, MPI_OFFSET});
        add(Family::natural, {MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T});
    }
    void add_fortran() {
        add(Family::other, {MPI_CHARACTER});
        add(Family::integer, {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8});
        add(Family::real, {MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8});
        add(Family::complex, {MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16});
        add(Family::logical, {MPI_LOGICAL});
    }
    void add_pairs() {
        add(MPI_FLOAT_INT, ElementType::pair_float);
        add(MPI_DOUBLE_INT, ElementType::pair_double);
        add(MPI_LONG_INT, ElementType::pair_long);
        add(MPI_2INT, ElementType::pair_int);
        add(MPI_2INTEGER, ElementType::pair_int);
        add(MPI_SHORT_INT, ElementType::pair_short);
        add(MPI_LONG_DOUBLE_INT, ElementType::pair_long_double);
    }
    /// Types whose size in external32 is their own.
    void add_forms() {
        set_form(MPI_LONG, ElementForm::long_integer);
        set_form(MPI_UNSIGNED_LONG, ElementForm::unsigned_long);
        set_form(MPI_WCHAR, ElementForm::wide_character);
#ifdef MPI_REAL16
        add(MPI_REAL16, no_element);
#endif
#ifdef MPI_COMPLEX32
        add(MPI_COMPLEX32, no_element);
        set_form(MPI_COMPLEX32, ElementForm::complex_16);
#endif
    }

    std::array<NamedType, place_count> places_{};
};

}  // namespace

NamedType const* named_type(MPI_Datatype type) noexcept {
    static Table const table;
    return table.find(type);
}

ElementForm form_of(MPI_Datatype type) noexcept {
    NamedType const* const known = named_type(type);
    return known ? known->form : ElementForm::unknown;
}

}  // namespace sluice
