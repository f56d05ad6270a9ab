// Random datatypes: a predefined element, and random constructors around it. For views their bytes
// ascend and never overlap; for memory they may come in any order and lie below the origin.
#pragma once
#include "random_source.hpp"

#include <sstream>
#include <string>

namespace random_test {

/// A layout, and how a reader would write it down.
struct Named {
    model::Layout layout;
    std::string text;
};

struct Element {
    MPI_Datatype type;
    char const* name;
};

/// One element type of the given size; 0: of any.
inline Element element_of(Random& random, std::int64_t bytes = 0) {
    if (bytes == 0) bytes = random.one_of({1, 2, 4, 8});
    switch (bytes) {
    case 1:
        return {MPI_BYTE, "BYTE"};
    case 2:
        return {MPI_SHORT, "SHORT"};
    case 4:
        return random.chance(50) ? Element{MPI_INT, "INT"} : Element{MPI_FLOAT, "FLOAT"};
    default:
        return {MPI_DOUBLE, "DOUBLE"};
    }
}

inline Named named(Element element) { return {model::element(element.type), element.name}; }

template <class List> std::string list_text(List const& values) {
    std::ostringstream text;
    for (auto const& value : values) text << (&value == values.data() ? "[" : " ") << value;
    text << "]";
    return text.str();
}

/// "name(argument, argument, ...)".
template <class... Arguments> std::string call_text(char const* name, Arguments const&... rest) {
    std::ostringstream text;
    char const* separator = "(";
    text << name;
    ((text << separator << rest, separator = ", "), ...);
    text << ")";
    return text.str();
}

/// Types that the MPI looks at have gaps: MPICH 5.0.2 ends the program for some whose blocks touch.
enum class Use { view, memory };

class TypeMaker {
public:
    TypeMaker(Random& random, Use use, std::int64_t limit)
        : random_(random),
          use_(use),
          limit_(limit) {}

    /// A type of at least one element and at most about `limit` bytes.
    Named make(Element element, std::int64_t piece) {
        Named const first = named(element);
        unit_ = first.layout.size();
        Named type = first;
        auto const most = std::max<std::int64_t>(piece / unit_, 1);
        if (random_.chance(60))
            type = contiguous(type, static_cast<int>(random_.between<std::int64_t>(1, most)));
        for (int depth = random_.between(0, 3); depth > 0; --depth) {
            if (2 * type.layout.extent() > limit_) break;
            type = wrapped(type, first);
        }
        return type;
    }

    static Named contiguous(Named const& base, int count) {
        return {model::contiguous(base.layout, count), call_text("contiguous", count, base.text)};
    }

private:
    /// Places of blocks that ascend without overlap, in units of which a copy takes `step`.
    struct Blocks {
        std::vector<int> lengths;
        std::vector<std::int64_t> places;
    };
    Blocks blocks(std::int64_t step, bool equal_lengths, std::int64_t unit) {
        Blocks result;
        int const length = copies();
        std::int64_t at = random_.chance(50) ? 0 : unit * random_.between(1, 4);
        for (int n = random_.between(1, 4); n > 0; --n) {
            result.lengths.push_back(equal_lengths ? length : copies());
            result.places.push_back(at);
            at += step * result.lengths.back();
            if (use_ == Use::view || random_.chance(70)) at += unit * random_.between(1, 5);
        }
        if (use_ == Use::view) return result;
        auto const order = random_.order_of(static_cast<int>(result.places.size()));
        Blocks const sorted = result;
        auto const shift = random_.chance(30) ? unit * random_.between(1, 9) : 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
            auto const from = static_cast<std::size_t>(order[i]);
            result.lengths[i] = sorted.lengths[from];
            result.places[i] = sorted.places[from] - shift;
        }
        return result;
    }
    int copies() { return random_.between(1, 3); }

    Named wrapped(Named const& base, Named const& element) {
        switch (random_.below(11)) {
        case 0:
            return contiguous(base, random_.between(1, 4));
        case 1:
            return vector(base);
        case 2:
            return hvector(base);
        case 3:
        case 4:
            return indexed(base, random_.chance(50));
        case 5:
        case 6:
            return hindexed(base, random_.chance(50));
        case 7:
            return structure(base, element);
        case 8:
            return base.layout.lower == 0 ? subarray(base) : structure(base, element);
        case 9:
            return base.layout.lower == 0 ? darray(base) : hvector(base);
        default:
            return resized(base);
        }
    }

    Named vector(Named const& base) {
        int const count = random_.between(1, 5), length = copies();
        int stride = length + random_.between(0, 3);
        // Open MPI takes pieces that touch backwards for pieces that touch forwards.
        if (use_ == Use::memory && stride > length && random_.chance(25)) stride = -stride;
        return {model::vector(base.layout, count, length, stride),
                call_text("vector", count, length, stride, base.text)};
    }

    Named hvector(Named const& base) {
        int const count = random_.between(1, 5);
        std::int64_t stride = base.layout.extent() + unit_ * random_.between(0, 5);
        bool const touch = stride == base.layout.extent();  // As above.
        if (use_ == Use::memory && !touch && random_.chance(25)) stride = -stride;
        return {model::hvector(base.layout, count, stride),
                call_text("hvector", count, 1, stride, base.text)};
    }

    Named indexed(Named const& base, bool equal_lengths) {
        Blocks const all = blocks(1, equal_lengths, 1);
        std::vector<int> const places(all.places.begin(), all.places.end());
        if (equal_lengths) {
            return {model::indexed_block(base.layout, all.lengths[0], places),
                    call_text("indexed_block", all.lengths[0], list_text(places), base.text)};
        }
        return {model::indexed(base.layout, all.lengths, places),
                call_text("indexed", list_text(all.lengths), list_text(places), base.text)};
    }

    Named hindexed(Named const& base, bool equal_lengths) {
        Blocks const all = blocks(base.layout.extent(), equal_lengths, unit_);
        std::vector<MPI_Aint> const places(all.places.begin(), all.places.end());
        if (equal_lengths) {
            return {model::hindexed_block(base.layout, all.lengths[0], places),
                    call_text("hindexed_block", all.lengths[0], list_text(places), base.text)};
        }
        return {model::hindexed(base.layout, all.lengths, places),
                call_text("hindexed", list_text(all.lengths), list_text(places), base.text)};
    }

    /// The base between two elements.
    Named structure(Named const& base, Named const& element) {
        std::vector<Named const*> parts{&element, &base, &element};
        if (random_.chance(50)) parts.pop_back();
        if (random_.chance(50)) std::swap(parts[0], parts[1]);
        std::vector<model::Field> fields;
        std::int64_t at = 0;
        std::string text;
        for (auto const* part : parts) {
            at += unit_ * random_.between(use_ == Use::view ? 1 : 0, 3) - part->layout.lower;
            fields.push_back({part->layout, at});
            text += call_text(" at", at) + " " + part->text;
            at += part->layout.upper;
        }
        if (use_ == Use::memory && random_.chance(50)) {
            random_.shuffle(fields);
            text += " (shuffled)";
        }
        std::int64_t const extent = at + unit_ * random_.between(0, 3);
        return {model::structure(fields, extent), call_text("structure", extent, text)};
    }

    int order() { return random_.chance(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN; }
    static char const* order_text(int order) { return order == MPI_ORDER_C ? "C" : "Fortran"; }

    Named subarray(Named const& base) {
        std::vector<int> sizes, part, starts;
        for (int d = random_.between(1, 3); d > 0; --d) {
            sizes.push_back(random_.between(1, 4));
            part.push_back(random_.between(1, sizes.back()));
            starts.push_back(random_.between(0, sizes.back() - part.back()));
        }
        int const way = order();
        return {model::subarray(sizes, part, starts, base.layout, way),
                call_text("subarray", list_text(sizes), list_text(part), list_text(starts),
                          order_text(way), base.text)};
    }

    /// The share of process 0, which is never empty.
    Named darray(Named const& base) {
        std::vector<model::Deal> deals;
        std::string text;
        int ranks = 1;
        for (int d = random_.between(1, 2); d > 0; --d) {
            model::Deal const deal{random_.between(1, 6), copies(), random_.between(0, 2)};
            ranks *= deal.processes;
            text += call_text("deal", deal.size, deal.processes, deal.chunk) + " ";
            deals.push_back(deal);
        }
        int const way = order();
        return {model::darray(deals, 0, ranks, base.layout, way),
                call_text("darray", text, order_text(way), base.text)};
    }

    Named resized(Named const& base) {
        auto const below = use_ == Use::memory
                               ? unit_ * random_.between(0, 4)
                               : random_.between<std::int64_t>(0, base.layout.lower);
        auto const lower = base.layout.lower - below;
        auto const extent = base.layout.upper - lower + unit_ * random_.between(0, 6);
        return {model::resized(base.layout, lower, extent),
                call_text("resized", lower, extent, base.text)};
    }

    Random& random_;
    Use use_;
    std::int64_t limit_;
    std::int64_t unit_ = 1;
};

}  // namespace random_test
