// Random file views of all ranks of a file: most of them deal the file out, so that all may write.
#pragma once
#include "random_types.hpp"

namespace random_test {

struct RankView {
    std::int64_t displacement = 0;
    Named filetype;
};

struct Views {
    Element etype{MPI_BYTE, "BYTE"};
    bool disjoint = false;  ///< No byte is in the views of two ranks.
    std::vector<RankView> of;
};

class ViewMaker {
public:
    ViewMaker(Random& random, int ranks, Sizes sizes)
        : random_(random),
          ranks_(ranks),
          sizes_(sizes) {
        views_.etype = element_of(random_);
        unit_ = model::element(views_.etype.type).size();
        displacement_ = random_.chance(40) ? 0 : random_.between<std::int64_t>(0, 200);
    }

    Views make() {
        switch (random_.below(10)) {
        case 0:
            same(named(views_.etype));
            break;
        case 1:
            same(type());
            break;
        case 2:
        case 3:
            stripes();
            break;
        case 4:
        case 5:
            columns();
            break;
        case 6:
            dealt();
            break;
        default:
            segments();
        }
        return views_;
    }

private:
    Named type() {
        auto const limit = random_.between(unit_, sizes_.type);
        return TypeMaker(random_, Use::view, limit).make(views_.etype, sizes_.piece);
    }

    /// Some etypes in a row.
    Named grain() {
        auto const most = std::max<std::int64_t>(sizes_.piece / unit_, 1);
        auto const count = static_cast<int>(random_.between<std::int64_t>(1, most));
        return TypeMaker::contiguous(named(views_.etype), count);
    }

    void same(Named const& filetype) {
        for (int r = 0; r < ranks_; ++r) views_.of.push_back({displacement_, filetype});
    }

    static Named resized(Named const& base, std::int64_t extent) {
        return {model::resized(base.layout, extent), call_text("resized", 0, extent, base.text)};
    }

    /// Ranks take turns, one grain each; the displacement tells them apart.
    void stripes() {
        Named const mine = grain();
        auto const step = mine.layout.size() + unit_ * random_.between(0, 2);
        for (int r = 0; r < ranks_; ++r) {
            views_.of.push_back({displacement_ + r * step, resized(mine, ranks_ * step)});
        }
        views_.disjoint = true;
    }

    /// An array of two or three dimensions, divided along one of them.
    void columns() {
        Named const item = grain();
        std::vector<int> sizes, part;
        for (int d = random_.between(1, 3); d > 0; --d) sizes.push_back(random_.between(1, 5));
        part = sizes;
        auto const divided = random_.below(sizes.size());
        sizes[divided] *= ranks_;
        int const order = random_.chance(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
        auto const places = random_.order_of(ranks_);
        for (int const place : places) {
            std::vector<int> starts(sizes.size(), 0);
            starts[divided] = place * part[divided];
            views_.of.push_back(
                {displacement_,
                 {model::subarray(sizes, part, starts, item.layout, order),
                  call_text("subarray", list_text(sizes), list_text(part), list_text(starts),
                            order == MPI_ORDER_C ? "C" : "Fortran", item.text)}});
        }
        views_.disjoint = true;
    }

    /// A distributed array; some ranks may own nothing.
    void dealt() {
        Named const item = grain();
        bool const first = random_.chance(50);
        std::vector<model::Deal> const deals{
            {random_.between(1, 9), first ? ranks_ : 1, random_.between(0, 3)},
            {random_.between(1, 9), first ? 1 : ranks_, random_.between(0, 3)}};
        std::string text;
        for (auto const& deal : deals) {
            text += call_text("deal", deal.size, deal.processes, deal.chunk) + " ";
        }
        int const order = random_.chance(50) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
        for (int r = 0; r < ranks_; ++r) {
            views_.of.push_back({displacement_,
                                 {model::darray(deals, r, ranks_, item.layout, order),
                                  call_text("darray", r, text,
                                            order == MPI_ORDER_C ? "C" : "Fortran", item.text)}});
        }
        views_.disjoint = true;
    }

    /// Each rank has a segment of its own shape in every tile.
    void segments() {
        std::vector<Named> types;
        std::vector<MPI_Aint> places(static_cast<std::size_t>(ranks_));
        std::int64_t tile = 0;
        for (int r = 0; r < ranks_; ++r) types.push_back(type());
        for (int const r : random_.order_of(ranks_)) {
            auto const i = static_cast<std::size_t>(r);
            places[i] = static_cast<MPI_Aint>(tile - types[i].layout.lower);
            tile += types[i].layout.extent() + unit_ * random_.between(0, 3);
        }
        for (std::size_t i = 0; i < types.size(); ++i) {
            Named const placed{model::hindexed(types[i].layout, {1}, {places[i]}),
                               call_text("hindexed", 1, places[i], types[i].text)};
            views_.of.push_back({displacement_, resized(placed, tile)});
        }
        views_.disjoint = true;
    }

    Random& random_;
    int ranks_;
    Sizes sizes_;
    Views views_;
    std::int64_t unit_ = 1;
    std::int64_t displacement_ = 0;
};

/// What a file has before any view is set.
inline Views default_views(int ranks) {
    Views views;
    views.of.assign(static_cast<std::size_t>(ranks), {0, named(views.etype)});
    return views;
}

}  // namespace random_test
