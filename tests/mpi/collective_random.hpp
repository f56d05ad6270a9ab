// Random calls. Sizes, kinds and roots follow from the seed and the ranks' numbers alone, so that
// all ranks know of each other what they must; datatypes and places in memory are each rank's own.
#pragma once
#include "collective_call.hpp"
#include "collective_elements.hpp"

namespace collective_test {

/// Every item type has a divisor of this many elements.
inline constexpr int unit = 12;

/// Where a case takes place.
struct Place {
    MPI_Comm communicator = MPI_COMM_NULL;
    std::string name;
    int rank = 0, ranks = 1;
    bool has_neighbours = false;
    std::vector<int> sources, destinations;  ///< With MPI_PROC_NULL.
};

class Maker {
public:
    Maker(std::uint64_t seed, std::int64_t number, Place const& place)
        : seed_(seed),
          number_(number),
          place_(place),
          all_(seed, {number, 1}),
          own_(seed, {number, 2, check::rank()}) {}

    Call make() {
        c_.communicator = place_.communicator;
        c_.ranks = static_cast<std::size_t>(place_.ranks);
        int const most = place_.has_neighbours ? kinds : static_cast<int>(Kind::neighbor_allgather);
        int const least = place_.has_neighbours && all_.chance(70)
                              ? static_cast<int>(Kind::neighbor_allgather)
                              : 0;
        c_.kind = static_cast<Kind>(all_.between(least, most - 1));
        c_.root = all_.below(place_.ranks);
        units_ = any_units();
        wants_in_place_ = all_.chance(25);
        if (c_.kind >= Kind::reduce && c_.kind <= Kind::exscan)
            reduction();
        else if (c_.kind >= Kind::neighbor_allgather)
            neighbours();
        else
            movement();
        say();
        return std::move(c_);
    }

private:
    /// Units of a block: mostly few.
    int any_units() {
        int const dice = all_.below(100);
        if (dice < 10) return 0;
        if (dice < 70) return all_.between(1, 5);
        if (dice < 93) return all_.between(1, 400);
        return all_.between(400, place_.ranks <= 4 ? 6000 : 12000 / place_.ranks);
    }
    [[nodiscard]] bool is_root() const { return place_.rank == c_.root; }
    /// Elements that one rank has for another, in the irregular kinds.
    [[nodiscard]] int elements_of(int from, int to) const {
        Random random(seed_, {number_, 3, from, to});
        return random.chance(15) ? 0 : unit * random.below(2 * units_ + 1);
    }
    [[nodiscard]] std::vector<int> listed(bool by_source) const {
        std::vector<int> all;
        for (int i = 0; i < place_.ranks; ++i) {
            all.push_back(by_source ? elements_of(i, place_.rank) : elements_of(place_.rank, i));
        }
        return all;
    }
    [[nodiscard]] std::vector<int> from_each() const {
        std::vector<int> all;
        for (int i = 0; i < place_.ranks; ++i) all.push_back(elements_of(i, -1));
        return all;
    }

    Type type_for(bool plain) {
        static constexpr int divisors[] = {2, 3, 4, 6};
        int const k = divisors[own_.below(4)];
        return plain ? Type{element_.handle, 1, element_.name, false} : any_type(own_, element_, k);
    }
    /// `blocks` blocks of equal size, one behind the other.
    void regular(Side& side, Memory& memory, int elements, int blocks) {
        Type const type = keep(type_for(own_.chance(30)));
        side.count = elements / type.elements;
        side.type = type.handle;
        Touched const all = touched(type, side.count * blocks);
        memory.cover(all.begin, all.end);
        side.text = std::to_string(side.count) + " x " + type.name;
    }
    /// Blocks of `elements[i]`, in any order, with gaps between.
    void irregular(Side& side, Memory& memory, std::vector<int> const& elements, bool each_typed) {
        Type type = keep(type_for(own_.chance(30)));
        std::size_t const n = elements.size();
        side.counts.reserve(1);  // Open MPI refuses null, also where there are no neighbours.
        side.places.reserve(1);
        side.counts.assign(n, 0);
        side.places.assign(n, 0);
        side.wide_places.assign(n, 0);
        side.types.assign(n, MPI_BYTE);
        MPI_Aint at = each_typed ? 0 : -own_.below(3);  // In items; with types in bytes.
        for (int const i : own_.order_of(static_cast<int>(n))) {
            auto const which = static_cast<std::size_t>(i);
            if (each_typed) type = keep(type_for(own_.chance(30)));
            int const count = elements[which] / type.elements;
            Touched const own = touched(type, count);
            if (each_typed) at = (at - own.begin + 63) / 64 * 64;
            MPI_Aint const shift = each_typed ? at : at * type.extent();
            if (count > 0) memory.cover(shift + own.begin, shift + own.end);
            side.counts[which] = count;
            side.places[which] = static_cast<int>(at);
            side.wide_places[which] = at;
            side.types[which] = type.handle;
            at += each_typed ? own.end + own_.below(40) : count + own_.below(3);
        }
        side.type = type.handle;
        side.text = std::to_string(n) + " blocks of " + type.name + ":";
        for (std::size_t i = 0; i < n; ++i) {
            side.text +=
                " " + std::to_string(side.counts[i]) + "@" + std::to_string(side.places[i]);
        }
    }
    Type keep(Type type) {
        if (type.owned) c_.types.push_back(type);
        return type;
    }

    void movement() {
        Random same(seed_, {number_, 4});
        element_ = any_element(same);
        keep(element_);
        int const n = unit * units_;
        bool const at_root = is_root();
        bool const in_place = wants_in_place_;
        switch (c_.kind) {
        case Kind::barrier:
            break;
        case Kind::bcast:
            regular(c_.received, c_.receive, n, 1);
            break;
        case Kind::gather:
            c_.in_place = in_place && at_root;
            regular(c_.sent, c_.send, n, 1);
            if (at_root) regular(c_.received, c_.receive, n, place_.ranks);
            break;
        case Kind::gatherv:
            c_.in_place = in_place && at_root;
            regular(c_.sent, c_.send, elements_of(place_.rank, -1), 1);
            if (at_root) irregular(c_.received, c_.receive, from_each(), false);
            break;
        case Kind::scatter:
            c_.in_place = in_place && at_root;
            if (at_root) regular(c_.sent, c_.send, n, place_.ranks);
            regular(c_.received, c_.receive, n, 1);
            break;
        case Kind::scatterv:
            c_.in_place = in_place && at_root;
            if (at_root) irregular(c_.sent, c_.send, from_each(), false);
            regular(c_.received, c_.receive, elements_of(place_.rank, -1), 1);
            break;
        case Kind::allgather:
            c_.in_place = in_place;
            regular(c_.sent, c_.send, n, 1);
            regular(c_.received, c_.receive, n, place_.ranks);
            break;
        case Kind::allgatherv:
            c_.in_place = in_place;
            regular(c_.sent, c_.send, elements_of(place_.rank, -1), 1);
            irregular(c_.received, c_.receive, from_each(), false);
            break;
        case Kind::alltoall:
            c_.in_place = in_place;
            regular(c_.sent, c_.send, n, place_.ranks);
            regular(c_.received, c_.receive, n, place_.ranks);
            break;
        default:
            all_to_all_of_several();
        }
        c_.send.fill(own_);
        c_.receive.fill(own_);
    }

    void all_to_all_of_several() {
        bool const typed = c_.kind == Kind::alltoallw;
        c_.in_place = wants_in_place_;
        std::vector<int> sizes = listed(true);
        if (c_.in_place) {  // As much comes from each rank as goes there.
            for (int i = 0; i < place_.ranks; ++i) {
                sizes[static_cast<std::size_t>(i)] =
                    elements_of(std::min(i, place_.rank), std::max(i, place_.rank));
            }
        }
        irregular(c_.sent, c_.send, c_.in_place ? std::vector<int>{} : listed(false), typed);
        irregular(c_.received, c_.receive, sizes, typed);
    }

    void neighbours() {
        Random same(seed_, {number_, 4});
        element_ = any_element(same);
        keep(element_);
        int const n = unit * units_;
        auto const in = static_cast<int>(place_.sources.size());
        auto const out = static_cast<int>(place_.destinations.size());
        std::vector<int> from, to;
        for (int const rank : place_.sources) from.push_back(between(rank));
        for (int const rank : place_.destinations) to.push_back(between(rank));
        switch (c_.kind) {
        case Kind::neighbor_allgather:
            regular(c_.sent, c_.send, n, 1);
            regular(c_.received, c_.receive, n, in);
            break;
        case Kind::neighbor_allgatherv:
            for (std::size_t i = 0; i < from.size(); ++i) {
                from[i] =
                    place_.sources[i] == MPI_PROC_NULL ? 0 : elements_of(place_.sources[i], -1);
            }
            regular(c_.sent, c_.send, elements_of(place_.rank, -1), 1);
            irregular(c_.received, c_.receive, from, false);
            break;
        case Kind::neighbor_alltoall:
            regular(c_.sent, c_.send, n, out);
            regular(c_.received, c_.receive, n, in);
            break;
        default: {
            bool const typed = c_.kind == Kind::neighbor_alltoallw;
            irregular(c_.sent, c_.send, to, typed);
            irregular(c_.received, c_.receive, from, typed);
        }
        }
        c_.send.fill(own_);
        c_.receive.fill(own_);
    }
    /// Equal in both directions, and of all edges between the same two.
    [[nodiscard]] int between(int rank) const {
        return rank == MPI_PROC_NULL
                   ? unit
                   : elements_of(std::min(rank, place_.rank), std::max(rank, place_.rank));
    }

    void reduction() {
        Random same(seed_, {number_, 5});
        void (*set)(unsigned char*, Random&) = nullptr;
        std::string operation;
        if (same.chance(30)) {
            bool const gap = same.chance(50), ordered = same.chance(60);
            element_ = keep(gap ? affine_type<AffineWithGap>() : affine_type<Affine>());
            set = gap ? set_affine<AffineWithGap> : set_affine<Affine>;
            auto* const composes = gap ? compose<AffineWithGap> : compose<Affine>;
            auto* const adds = gap ? add_up<AffineWithGap> : add_up<Affine>;
            MPI_Op_create(ordered ? composes : adds, !ordered, &c_.op);
            c_.owns_op = true;
            operation = ordered ? "user's, ordered" : "user's, commutative";
        } else {
            Element const& e = elements()[same.below(elements().size())];
            auto const& [op, name] = e.operations[same.below(e.operations.size())];
            element_ = {e.type, 1, e.name, false};
            set = e.set;
            c_.op = op;
            operation = name;
            c_.gap_begin = e.gap_begin;
            c_.gap_end = e.gap_end;
        }
        c_.element = static_cast<std::size_t>(element_.extent());
        reduced_sizes();
        set_all(c_.send, set);
        set_all(c_.receive, set);
        c_.received.text += ", " + operation;
    }
    void reduced_sizes() {
        int n = units_ * 7, all = n;
        c_.in_place = wants_in_place_ && (c_.kind != Kind::reduce || is_root());
        c_.received.type = element_.handle;
        if (c_.kind == Kind::reduce_scatter) {
            c_.received.counts = from_each();
            n = c_.received.counts[static_cast<std::size_t>(place_.rank)];
            all = std::accumulate(c_.received.counts.begin(), c_.received.counts.end(), 0);
        }
        if (c_.kind == Kind::reduce_scatter_block) all = n * place_.ranks;
        c_.received.count = n;
        c_.send.cover(0, touched(element_, all).end);
        c_.receive.cover(0, touched(element_, c_.in_place ? all : n).end);
        c_.received.text = std::to_string(n) + " of " + std::to_string(all) + " x " + element_.name;
        c_.compares = c_.kind != Kind::exscan || place_.rank != 0;  // That one gets nothing.
        // In place: what lies behind the own part is not said to be anything.
        c_.rest_begin = c_.element * static_cast<std::size_t>(n);
        c_.rest_end = c_.element * static_cast<std::size_t>(c_.in_place ? all : n);
    }
    void set_all(Memory& memory, void (*set)(unsigned char*, Random&)) {
        memory.fill(own_);
        std::size_t const whole = memory.bytes().size() - static_cast<std::size_t>(memory.origin());
        if (memory.bytes().empty()) return;
        // The last one, too, whose padding MPI does not touch: random bytes might be no number.
        auto const behind = static_cast<std::size_t>(Memory::guard);
        for (std::size_t at = 0; at + behind < whole; at += c_.element)
            set(memory.base() + at, own_);
    }

    void say() {
        std::ostringstream text;
        text << "case " << number_ << ": " << kind_names[static_cast<int>(c_.kind)] << " on "
             << place_.name << ", rank " << place_.rank << " of " << place_.ranks << ", root "
             << c_.root << (c_.in_place ? ", in place" : "") << "; sent: " << c_.sent.text
             << "; received: " << c_.received.text;
        c_.text = text.str();
    }

    std::uint64_t seed_;
    std::int64_t number_;
    Place const& place_;
    Random all_, own_;
    int units_ = 0;
    bool wants_in_place_ = false;
    Type element_;
    Call c_;
};

}  // namespace collective_test
