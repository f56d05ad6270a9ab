// How a datatype was made: its constructor and arguments, with the type trees of the datatypes in
// it. All that flattening needs, so that it needs no MPI, and no datatype that is still there. Two
// datatypes of equal type trees select the same bytes. Pure. Next stage: base/flatten.hpp.
#pragma once
#include "base/extent.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace sluice {

/// The constructors of MPI-4.1, 5.1, by what they take. `element`: a named datatype.
enum class Maker : std::uint8_t {
    element,
    dup,
    contiguous,
    vector,   ///< Steps in extents.
    hvector,  ///< Steps in bytes.
    indexed,
    hindexed,
    indexed_block,
    hindexed_block,
    structure,
    subarray,
    darray,
    resized,
};

/// How one dimension of an array is dealt out to processes.
enum class Distribution : std::uint8_t { none, block, cyclic };
inline constexpr std::int64_t default_argument = -1;  ///< MPI_DISTRIBUTE_DFLT_DARG

/// The numbers that an element is made of: what converting it to external32 has to know.
enum class ElementForm : std::uint8_t {
    unknown,
    bytes,  ///< Characters, packed data: nothing to convert.
    number_2,
    number_4,
    number_8,
    number_16,
    long_integer,  ///< Of 8 bytes in memory; MPI-4.1, 14.5.2 gives it 4.
    unsigned_long,
    wide_character,
    long_double,
    complex_4,  ///< Two numbers of 4 bytes.
    complex_8,
    complex_16,
    complex_long_double,
    value_2_and_int,  ///< Pairs for MPI_MINLOC and MPI_MAXLOC.
    value_4_and_int,
    value_8_and_int,
    long_and_int,
    long_double_and_int,
};

/// Immutable once sealed; shared by all that use it.
class TypeTree {
public:
    Maker maker = Maker::element;
    bool c_order = true;     ///< Of an array: the last dimension runs fastest.
    bool short_int = false;  ///< An element that is a short and an int, with a gap between.
    /// The bounds are those that the MPI tells; else they follow from the arguments.
    bool bounded = false;
    Offset lower = 0, extent = 0;  ///< If bounded.
    Bytes size = 0;                ///< Of an element.
    /// Of an element. Two that differ only here select the same bytes, and count as equal.
    ElementForm form = ElementForm::unknown;

    /// The constructor's arguments in its order, in the lists in which the MPI keeps them: numbers
    /// of small constructors in `ints` and `places`, those of large ones in `counts`. Lists of
    /// words (distributions, the order) are translated in place.
    std::vector<int> ints;
    std::vector<std::int64_t> places, counts;
    /// The datatypes that it is made of, each once; `which[i]` is that of member i of a structure.
    /// Empty: the first for all.
    std::vector<std::shared_ptr<TypeTree const>> parts;
    std::vector<std::uint32_t> which;

    /// Reckons what follows. Called once, when all of the above is set.
    void seal() noexcept;
    [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
    /// Memory that it holds, with its parts.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

    /// In full: equal hashes decide nothing.
    [[nodiscard]] bool operator==(TypeTree const& other) const noexcept;

private:
    std::uint64_t hash_ = 0;
    std::size_t bytes_ = 0;
};

/// Reads the arguments of a type tree in order, and lists of them without copies.
class Arguments {
public:
    /// Numbers that lie together, as ints or as larger ones.
    class List {
    public:
        explicit List(int const* small) noexcept : small_(small) {}
        explicit List(std::int64_t const* large) noexcept : large_(large), is_large_(true) {}
        [[nodiscard]] std::int64_t operator[](std::int64_t i) const noexcept {
            return is_large_ ? large_[i] : small_[i];
        }

    private:
        int const* small_ = nullptr;
        std::int64_t const* large_ = nullptr;
        bool is_large_ = false;
    };

    explicit Arguments(TypeTree const& type_tree) noexcept
        : type_tree_(type_tree),
          large_(!type_tree.counts.empty()) {}

    std::int64_t integer() noexcept { return type_tree_.ints[int_++]; }
    std::int64_t count() noexcept { return large_ ? type_tree_.counts[count_++] : integer(); }
    std::int64_t place() noexcept {
        return large_ ? type_tree_.counts[count_++] : type_tree_.places[place_++];
    }
    List integers(std::int64_t n) noexcept { return List(type_tree_.ints.data() + taken(int_, n)); }
    List counts(std::int64_t n) noexcept { return large_ ? larges(n) : integers(n); }
    List places(std::int64_t n) noexcept {
        return large_ ? larges(n) : List(type_tree_.places.data() + taken(place_, n));
    }

private:
    static std::size_t taken(std::size_t& next, std::int64_t n) noexcept {
        std::size_t const from = next;
        next += static_cast<std::size_t>(n);
        return from;
    }
    List larges(std::int64_t n) noexcept {
        return List(type_tree_.counts.data() + taken(count_, n));
    }

    TypeTree const& type_tree_;
    bool large_;
    std::size_t int_ = 0, place_ = 0, count_ = 0;
};

}  // namespace sluice
