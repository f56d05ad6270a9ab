// The transform's tiles and lines. See transform.hpp.
#include "tools/collectives/transform.hpp"

#include <fftw3.h>

#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <tuple>

#include "tools/bench/timing.hpp"
#include "tools/collectives/pipeline.hpp"

namespace sluice::collectives {
namespace {

using Number = std::complex<double>;
using Numbers3 = std::vector<Number>;

fftw_complex* fftw(Number* numbers) { return reinterpret_cast<fftw_complex*>(numbers); }

/// Transforms of `count` lines at once, the begins of which lie side by side or `distance` apart.
class Lines {
public:
    Lines(int points, int count, int stride, int distance, Number* sample)
        : plan_(fftw_plan_many_dft(1, &points, count, fftw(sample), nullptr, stride, distance,
                                   fftw(sample), nullptr, stride, distance, FFTW_FORWARD,
                                   FFTW_MEASURE | FFTW_UNALIGNED)) {}
    Lines(Lines const&) = delete;
    Lines& operator=(Lines const&) = delete;
    ~Lines() { fftw_destroy_plan(plan_); }
    void transform(Number* at) const { fftw_execute_dft(plan_, fftw(at), fftw(at)); }

private:
    fftw_plan plan_;
};

/// A few waves and nothing else: what comes out is known at any size.
struct Wave {
    int x, y, z;
    Number amplitude;
};

std::vector<Wave> waves_of(int points) {
    return {{1, 2, 3, {1, 0}},
            {points / 2, 0, 5, {0, 0.5}},
            {points - 1, points / 3, points / 4, {-0.25, 0.25}},
            {0, points - 2, points / 2 + 1, {0.125, -1}}};
}

/// A number at each place, as if by chance: compared with a serial transform where that is small.
Number noise(std::uint64_t place) {
    std::uint64_t x = place * 6364136223846793005U + 1442695040888963407U;
    x ^= x >> 31, x *= 0x9e3779b97f4a7c15U, x ^= x >> 29;
    auto const part = [](std::uint64_t bits) { return double(bits & 0xffff) / 32768 - 1; };
    return {part(x), part(x >> 16)};
}

constexpr int most_points_in_series = 128;

}  // namespace

/// Sizes: `x`, `y`, `z` are the points of one rank in each direction of `a_`, the input; `z2` those
/// in z once y is whole, `y2` those in y once x is.
class Transform::Parts {
public:
    explicit Parts(Grid const& grid);
    ~Parts();
    Parts(Parts const&) = delete;
    Parts& operator=(Parts const&) = delete;

    double run(Service& service, bool tests);
    [[nodiscard]] std::uint64_t wrong_bytes() const;
    [[nodiscard]] std::uint64_t bytes() const { return input_.size() * sizeof(Number); }

private:
    [[nodiscard]] bool slabs() const { return grid_.columns == 1; }
    /// Tile t of `points` begins here.
    [[nodiscard]] int begin_of(int tile, int points) const {
        return int(std::int64_t(tile) * points / tiles(points));
    }
    [[nodiscard]] int tiles(int points) const { return std::min(grid_.tiles, points); }
    [[nodiscard]] int length_of(int tile, int points) const {
        return begin_of(tile + 1, points) - begin_of(tile, points);
    }
    /// Plans are made before anything is timed, and kept.
    Lines const& lines(int count, int stride, int distance);
    void make_plans();
    Number* slot(std::vector<Numbers3>& slots, int tile) {
        return slots[std::size_t(tile) % slots.size()].data();
    }

    void fill();
    void expect_in_series();
    void columns_stage(Pipeline& pipeline, Service& service);
    void unpack_columns(Number const* from, int x0, int count);
    void rows_stage(Pipeline& pipeline, Service& service);
    void pack_rows(Number* to, int z0, int count) const;
    [[nodiscard]] Number expected(int x, int y, int z) const;

    Grid grid_;
    int n_, x_, y_, z2_, y2_, row_, column_;
    MPI_Comm same_row_ = MPI_COMM_NULL, same_column_ = MPI_COMM_NULL;
    Numbers3 input_, a_, b_;  ///< As given; before and after y is whole.
    std::vector<Numbers3> sent_, received_, result_;
    std::map<std::tuple<int, int, int>, std::unique_ptr<Lines>> lines_;
    std::vector<Wave> waves_;
    Numbers3 series_;  ///< The whole result of a serial transform; empty: of waves.
};

Transform::Parts::Parts(Grid const& grid)
    : grid_(grid),
      n_(grid.points),
      x_(n_ / grid.rows),
      y_(n_ / grid.columns),
      z2_(n_ / grid.columns),
      y2_(n_ / grid.rows),
      waves_(waves_of(n_)) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    row_ = rank / grid.columns, column_ = rank % grid.columns;
    MPI_Comm_split(MPI_COMM_WORLD, row_, column_, &same_row_);
    MPI_Comm_split(MPI_COMM_WORLD, column_, row_, &same_column_);
    auto const part = std::size_t(x_) * std::size_t(y_) * std::size_t(n_);
    input_.resize(part), a_.resize(part);
    b_.resize(slabs() ? 0 : part);
    // A tile may be a little longer than its share.
    auto const largest = [&](int points, std::size_t others) {
        return std::size_t(points / tiles(points) + 1) * others;
    };
    auto const slots = std::size_t(grid.outstanding) + 1;
    auto const by_columns = slabs() ? 0 : largest(x_, std::size_t(y_) * std::size_t(n_));
    auto const by_rows = largest(z2_, std::size_t(x_) * std::size_t(n_));
    sent_.assign(slots, Numbers3(std::max(by_columns, by_rows)));
    received_.assign(slots, Numbers3(by_columns));
    result_.assign(std::size_t(tiles(z2_)), Numbers3(by_rows));
    make_plans();
    fill();
    if (n_ <= most_points_in_series) expect_in_series();
}

Transform::Parts::~Parts() {
    MPI_Comm_free(&same_row_);
    MPI_Comm_free(&same_column_);
}

Lines const& Transform::Parts::lines(int count, int stride, int distance) {
    auto& made = lines_[{count, stride, distance}];
    if (!made) made = std::make_unique<Lines>(n_, count, stride, distance, a_.data());
    return *made;
}

/// All that a run asks for. Plans are tried out on `a_`, which a run fills again.
void Transform::Parts::make_plans() {
    lines(y_, 1, n_);
    if (!slabs()) lines(z2_, z2_, 1);
    for (int tile = 0; tile < tiles(z2_); ++tile) {
        int const count = length_of(tile, z2_);
        if (slabs()) lines(count, n_, 1);
        lines(count, y2_ * count, 1);
    }
}

void Transform::Parts::fill() {
    std::vector<Number> turns;
    for (int i = 0; i < n_; ++i) turns.push_back(std::polar(1.0, 2 * std::numbers::pi * i / n_));
    auto const turn = [&](std::int64_t product) { return turns[std::size_t(product % n_)]; };
    std::size_t place = 0;
    for (std::int64_t x = row_ * x_; x < (row_ + 1) * x_; ++x)
        for (std::int64_t y = column_ * y_; y < (column_ + 1) * y_; ++y)
            for (std::int64_t z = 0; z < n_; ++z, ++place) {
                if (n_ <= most_points_in_series) {
                    input_[place] = noise(std::uint64_t((x * n_ + y) * n_ + z));
                    continue;
                }
                Number sum = 0;
                for (auto const& w : waves_)
                    sum += w.amplitude * turn(x * w.x) * turn(y * w.y) * turn(z * w.z);
                input_[place] = sum;
            }
}

void Transform::Parts::expect_in_series() {
    auto const points = std::size_t(n_);
    series_.resize(points * points * points);
    auto* const plan = fftw_plan_dft_3d(n_, n_, n_, fftw(series_.data()), fftw(series_.data()),
                                        FFTW_FORWARD, FFTW_ESTIMATE);
    for (std::size_t place = 0; place < series_.size(); ++place) series_[place] = noise(place);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
}

Number Transform::Parts::expected(int x, int y, int z) const {
    auto const points = std::size_t(n_);
    if (!series_.empty())
        return series_[(std::size_t(x) * points + std::size_t(y)) * points + std::size_t(z)];
    Number sum = 0;
    for (auto const& w : waves_)
        if (w.x == x && w.y == y && w.z == z) sum += w.amplitude;
    return sum * double(points * points * points);
}

double Transform::Parts::run(Service& service, bool tests) {
    std::memcpy(static_cast<void*>(a_.data()), input_.data(), bytes());
    for (auto& tile : result_) std::fill(tile.begin(), tile.end(), Number{});
    return bench::time_together([&] {
        Pipeline pipeline(service, grid_.outstanding, tests);
        if (slabs())
            for (int x = 0; x < x_; ++x)
                lines(y_, 1, n_).transform(a_.data() + std::size_t(x) * std::size_t(y_ * n_));
        else
            columns_stage(pipeline, service);
        rows_stage(pipeline, service);
    });
}

/// Pencils: z is transformed, y made whole and transformed, by tiles of x.
void Transform::Parts::columns_stage(Pipeline& pipeline, Service& service) {
    auto const plane = std::size_t(y_) * std::size_t(n_);
    Steps steps;
    steps.tiles = tiles(x_);
    steps.before = [&](int tile) {
        int const x0 = begin_of(tile, x_), count = length_of(tile, x_);
        Number* to = slot(sent_, tile);
        for (int x = x0; x < x0 + count; ++x) {
            lines(y_, 1, n_).transform(a_.data() + std::size_t(x) * plane);
            pipeline.breathe();
        }
        for (int c = 0; c < grid_.columns; ++c)
            for (int x = x0; x < x0 + count; ++x)
                for (int y = 0; y < y_; ++y, to += z2_)
                    std::copy_n(a_.data() + std::size_t(x) * plane + y * n_ + c * z2_, z2_, to);
    };
    steps.start = [&](int tile) {
        int const count = 2 * length_of(tile, x_) * y_ * z2_;
        return service.alltoall(reinterpret_cast<double*>(slot(sent_, tile)),
                                reinterpret_cast<double*>(slot(received_, tile)), count, same_row_);
    };
    steps.after = [&](int tile) {
        int const x0 = begin_of(tile, x_), count = length_of(tile, x_);
        unpack_columns(slot(received_, tile), x0, count);
        for (int x = x0; x < x0 + count; ++x) {
            lines(z2_, z2_, 1).transform(b_.data() + std::size_t(x) * plane);
            pipeline.breathe();
        }
    };
    pipeline.run(steps);
}

void Transform::Parts::unpack_columns(Number const* from, int x0, int count) {
    auto const plane = std::size_t(n_) * std::size_t(z2_);
    for (int c = 0; c < grid_.columns; ++c)
        for (int x = x0; x < x0 + count; ++x)
            for (int y = c * y_; y < (c + 1) * y_; ++y, from += z2_)
                std::copy_n(from, z2_, b_.data() + std::size_t(x) * plane + y * z2_);
}

/// y is transformed (slabs), x made whole and transformed, by tiles of z.
void Transform::Parts::rows_stage(Pipeline& pipeline, Service& service) {
    auto& whole_y = slabs() ? a_ : b_;
    auto const plane = std::size_t(n_) * std::size_t(z2_);
    Steps steps;
    steps.tiles = tiles(z2_);
    steps.before = [&](int tile) {
        int const z0 = begin_of(tile, z2_), count = length_of(tile, z2_);
        for (int x = 0; slabs() && x < x_; ++x) {
            lines(count, n_, 1).transform(whole_y.data() + std::size_t(x) * plane + z0);
            pipeline.breathe();
        }
        pack_rows(slot(sent_, tile), z0, count);
    };
    steps.start = [&](int tile) {
        int const count = 2 * x_ * y2_ * length_of(tile, z2_);
        return service.alltoall(reinterpret_cast<double*>(slot(sent_, tile)),
                                reinterpret_cast<double*>(result_[std::size_t(tile)].data()), count,
                                same_column_);
    };
    steps.after = [&](int tile) {
        int const count = length_of(tile, z2_);
        auto const& x_lines = lines(count, y2_ * count, 1);
        for (int y = 0; y < y2_; ++y) {
            x_lines.transform(result_[std::size_t(tile)].data() + y * count);
            pipeline.breathe();
        }
    };
    pipeline.run(steps);
}

void Transform::Parts::pack_rows(Number* to, int z0, int count) const {
    auto const& whole_y = slabs() ? a_ : b_;
    auto const plane = std::size_t(n_) * std::size_t(z2_);
    for (int r = 0; r < grid_.rows; ++r)
        for (int x = 0; x < x_; ++x)
            for (int y = r * y2_; y < (r + 1) * y2_; ++y, to += count)
                std::copy_n(whole_y.data() + std::size_t(x) * plane + y * z2_ + z0, count, to);
}

std::uint64_t Transform::Parts::wrong_bytes() const {
    double const all = std::pow(double(n_), 3);
    double const tolerance = series_.empty() ? 1e-10 * all : 1e-9 * std::sqrt(all);
    std::uint64_t wrong = 0;
    for (int tile = 0; tile < tiles(z2_); ++tile) {
        int const z0 = column_ * z2_ + begin_of(tile, z2_), count = length_of(tile, z2_);
        Number const* at = result_[std::size_t(tile)].data();
        for (int x = 0; x < n_; ++x)
            for (int y = row_ * y2_; y < (row_ + 1) * y2_; ++y)
                for (int z = z0; z < z0 + count; ++z, ++at)
                    wrong += std::abs(*at - expected(x, y, z)) <= tolerance ? 0 : sizeof(Number);
    }
    return wrong;
}

Transform::Transform(Grid const& grid) : parts_(std::make_unique<Parts>(grid)) {}
Transform::~Transform() = default;
double Transform::run(Service& service, bool tests) { return parts_->run(service, tests); }
std::uint64_t Transform::wrong_bytes() const { return parts_->wrong_bytes(); }
std::uint64_t Transform::bytes() const { return parts_->bytes(); }

}  // namespace sluice::collectives
