// The transform's tiles and lines. See transform.hpp.
#include "study/collective/transform.hpp"

#include <fftw3.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "study/collective/computing.hpp"
#include "study/collective/pipeline.hpp"
#include "study/collective/spectrum.hpp"

namespace sluice::collectives {
namespace {

using Numbers3 = std::vector<Number>;

fftw_complex* fftw(Number* numbers) { return reinterpret_cast<fftw_complex*>(numbers); }
double* doubles(Numbers3& numbers) { return reinterpret_cast<double*>(numbers.data()); }

/// What pieces of computation are.
enum Piece { z_ahead, z_lines, pack_y, unpack_y, y_lines, pack_x, x_lines };

}  // namespace

/// Sizes: `x`, `y`, `z` are the points of one rank in each direction of `a_`, the input; `z2` those
/// in z once y is whole, `y2` those in y once x is.
class Transform::Parts {
    /// Transforms of `count` lines at once, the begins of which lie side by side or `distance`
    /// apart.
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

    /// One all-to-all: among the columns of a row of ranks, which makes y whole, or among the rows
    /// of a column, which makes x whole.
    struct Task {
        bool among_columns;
        int field, tile;
        int needs;  ///< The last task whose results this one sends; -1: none.
    };

public:
    explicit Parts(Grid const& grid);
    ~Parts();
    Parts(Parts const&) = delete;
    Parts& operator=(Parts const&) = delete;

    double run(Service& service, bool tests);
    void fall_asleep();
    [[nodiscard]] std::uint64_t wrong_bytes() const;
    [[nodiscard]] std::uint64_t bytes() const {
        return std::uint64_t(grid_.fields) * input_.size() * sizeof(Number);
    }

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
    void make_slots();
    void plan_tasks();
    void fill();

    [[nodiscard]] Task const& task(int number) const { return tasks_[std::size_t(number)]; }
    [[nodiscard]] std::size_t slot(int number) const { return std::size_t(number) % sent_.size(); }
    [[nodiscard]] std::size_t place_of(int field, int tile) const {
        return std::size_t(field) * std::size_t(tiles(z2_)) + std::size_t(tile);
    }
    [[nodiscard]] Numbers3& result(Task const& task) {
        return result_[place_of(task.field, task.tile)];
    }
    [[nodiscard]] Numbers3& whole_y(Task const& task) {
        return (slabs() ? a_ : b_)[std::size_t(task.field)];
    }
    /// Doubles that go to each rank.
    [[nodiscard]] int block_of(Task const& task) const {
        return task.among_columns ? 2 * length_of(task.tile, x_) * y_ * z2_
                                  : 2 * x_ * y2_ * length_of(task.tile, z2_);
    }
    template <typename Part>
    void compute(Pipeline& pipeline, Piece piece, int tile, int parts, Part const& part) {
        computing_.run({piece, tile}, parts, part, [&] { pipeline.breathe(); });
    }

    void transform_z_of_slab(Pipeline& pipeline, Piece piece, int field, int tile);
    void before(Pipeline& pipeline, int number);
    void after(Pipeline& pipeline, int number);
    void before_columns(Pipeline& pipeline, Task const& task, Number* to);
    void after_columns(Pipeline& pipeline, Task const& task, Number const* from);
    void before_rows(Pipeline& pipeline, Task const& task, Number* to);
    [[nodiscard]] std::uint64_t wrong_in_tile(int field, int tile) const;
    [[nodiscard]] std::uint64_t wrong_in_messages() const;
    [[nodiscard]] std::uint64_t wrong_received(int number, Numbers3 const& received) const;

    Grid grid_;
    int n_, x_, y_, z2_, y2_, row_, column_;
    MPI_Comm same_row_ = MPI_COMM_NULL, same_column_ = MPI_COMM_NULL;
    Numbers3 input_;                ///< As given, to the first field.
    std::vector<Numbers3> a_, b_;   ///< Of each field, before and after y is whole.
    std::vector<Numbers3> result_;  ///< Of each field's tiles.
    std::vector<Task> tasks_;
    std::vector<Numbers3> sent_, received_;  ///< Of tasks, in slots.
    std::map<std::tuple<int, int, int>, std::unique_ptr<Lines>> lines_;
    Spectrum spectrum_;
    Computing computing_;
};

Transform::Parts::Parts(Grid const& grid)
    : grid_(grid),
      n_(grid.points),
      x_(n_ / grid.rows),
      y_(n_ / grid.columns),
      z2_(n_ / grid.columns),
      y2_(n_ / grid.rows),
      spectrum_(grid.points) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    row_ = rank / grid.columns, column_ = rank % grid.columns;
    MPI_Comm_split(MPI_COMM_WORLD, row_, column_, &same_row_);
    MPI_Comm_split(MPI_COMM_WORLD, column_, row_, &same_column_);
    auto const part = std::size_t(x_) * std::size_t(y_) * std::size_t(n_);
    input_.resize(part);
    a_.assign(std::size_t(grid.fields), Numbers3(part));
    b_.assign(std::size_t(grid.fields), Numbers3(slabs() ? 0 : part));
    make_slots();
    make_plans();
    plan_tasks();
    fill();
}

Transform::Parts::~Parts() {
    MPI_Comm_free(&same_row_);
    MPI_Comm_free(&same_column_);
}

void Transform::Parts::make_slots() {
    // A tile may be a little longer than its share.
    auto const largest = [&](int points, std::size_t others) {
        return std::size_t(points / tiles(points) + 1) * others;
    };
    auto const slots = std::size_t(grid_.outstanding) + 1;
    auto const by_columns = slabs() ? 0 : largest(x_, std::size_t(y_) * std::size_t(n_));
    auto const by_rows = largest(z2_, std::size_t(x_) * std::size_t(n_));
    sent_.assign(slots, Numbers3(std::max(by_columns, by_rows)));
    received_.assign(slots, Numbers3(by_columns));
    result_.assign(place_of(grid_.fields, 0), Numbers3(by_rows));
}

Transform::Parts::Lines const& Transform::Parts::lines(int count, int stride, int distance) {
    auto& made = lines_[{count, stride, distance}];
    if (!made) made = std::make_unique<Lines>(n_, count, stride, distance, a_.front().data());
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

/// Pencils: the tasks of a field among rows take turns with those of the next one among columns,
/// once those of its own are complete: that is, as many tasks later as may be outstanding.
void Transform::Parts::plan_tasks() {
    int const first = slabs() ? 0 : tiles(x_), second = tiles(z2_);
    std::vector<int> last(std::size_t(grid_.fields), -1);  // of each field among columns
    int next = 0;                                          // among rows
    auto const add_among_rows = [&] {
        int const field = next / second;
        tasks_.push_back({false, field, next % second, last[std::size_t(field)]});
        ++next;
    };
    for (int i = 0; i < grid_.fields * first; ++i) {
        last[std::size_t(i / first)] = int(tasks_.size());
        tasks_.push_back({true, i / first, i % first, -1});
        bool const is_in = i + 1 >= (next / second + 1) * first + grid_.outstanding;
        if (is_in && next < grid_.fields * second) add_among_rows();
    }
    while (next < grid_.fields * second) add_among_rows();
}

void Transform::Parts::fill() {
    std::size_t place = 0;
    for (int x = row_ * x_; x < (row_ + 1) * x_; ++x)
        for (int y = column_ * y_; y < (column_ + 1) * y_; ++y)
            for (int z = 0; z < n_; ++z, ++place) input_[place] = spectrum_.input(x, y, z);
}

double Transform::Parts::run(Service& service, bool tests) {
    for (std::size_t field = 0; field < a_.size() && !computing_.asleep(); ++field)
        std::transform(input_.begin(), input_.end(), a_[field].begin(),
                       [&](Number number) { return number * double(field + 1); });
    for (auto& tile : result_) std::fill(tile.begin(), tile.end(), Number{});
    for (auto& slot : received_) std::fill(slot.begin(), slot.end(), Number{});
    return bench::time_together([&] {
        Pipeline pipeline(service, grid_.outstanding, tests);
        for (int tile = 0; slabs() && tile < tiles(z2_); ++tile)
            transform_z_of_slab(pipeline, z_ahead, 0, tile);
        Steps steps;
        steps.operations = int(tasks_.size());
        steps.needs = [&](int number) { return task(number).needs; };
        steps.before = [&](int number) { before(pipeline, number); };
        steps.after = [&](int number) { after(pipeline, number); };
        steps.start = [&](int number) {
            auto const& one = task(number);
            auto& to = one.among_columns ? received_[slot(number)] : result(one);
            return service.alltoall(doubles(sent_[slot(number)]), doubles(to), block_of(one),
                                    one.among_columns ? same_row_ : same_column_);
        };
        pipeline.run(steps);
    });
}

/// A tile's share of the planes.
void Transform::Parts::transform_z_of_slab(Pipeline& pipeline, Piece piece, int field, int tile) {
    int const all = tiles(z2_), begin = tile * x_ / all, end = (tile + 1) * x_ / all;
    compute(pipeline, piece, tile, end - begin, [&](int i) {
        auto const place = std::size_t(begin + i) * std::size_t(y_ * n_);
        lines(y_, 1, n_).transform(a_[std::size_t(field)].data() + place);
    });
}

void Transform::Parts::before(Pipeline& pipeline, int number) {
    auto const& one = task(number);
    Number* const to = sent_[slot(number)].data();
    if (one.among_columns) return before_columns(pipeline, one, to);
    if (slabs() && one.field + 1 < grid_.fields)
        transform_z_of_slab(pipeline, z_lines, one.field + 1, one.tile);
    before_rows(pipeline, one, to);
}

void Transform::Parts::after(Pipeline& pipeline, int number) {
    auto const& one = task(number);
    if (one.among_columns) return after_columns(pipeline, one, received_[slot(number)].data());
    int const count = length_of(one.tile, z2_);
    auto const& of_x = lines(count, y2_ * count, 1);
    Number* const at = result(one).data();
    compute(pipeline, x_lines, one.tile, y2_, [&](int y) { of_x.transform(at + y * count); });
}

/// By tiles of x: z is transformed, y is to be made whole.
void Transform::Parts::before_columns(Pipeline& pipeline, Task const& task, Number* to) {
    auto const plane = std::size_t(y_) * std::size_t(n_);
    int const x0 = begin_of(task.tile, x_), count = length_of(task.tile, x_);
    auto& a = a_[std::size_t(task.field)];
    compute(pipeline, z_lines, task.tile, count,
            [&](int i) { lines(y_, 1, n_).transform(a.data() + std::size_t(x0 + i) * plane); });
    compute(pipeline, pack_y, task.tile, grid_.columns, [&](int c) {
        for (int x = x0; x < x0 + count; ++x)
            for (int y = 0; y < y_; ++y, to += z2_)
                std::copy_n(a.data() + std::size_t(x) * plane + y * n_ + c * z2_, z2_, to);
    });
}

/// y is whole, and transformed.
void Transform::Parts::after_columns(Pipeline& pipeline, Task const& task, Number const* from) {
    auto const plane = std::size_t(n_) * std::size_t(z2_);
    int const x0 = begin_of(task.tile, x_), count = length_of(task.tile, x_);
    auto& b = b_[std::size_t(task.field)];
    compute(pipeline, unpack_y, task.tile, grid_.columns, [&](int c) {
        for (int x = x0; x < x0 + count; ++x)
            for (int y = c * y_; y < (c + 1) * y_; ++y, from += z2_)
                std::copy_n(from, z2_, b.data() + std::size_t(x) * plane + y * z2_);
    });
    compute(pipeline, y_lines, task.tile, count,
            [&](int i) { lines(z2_, z2_, 1).transform(b.data() + std::size_t(x0 + i) * plane); });
}

/// By tiles of z: y is transformed (slabs), x is to be made whole.
void Transform::Parts::before_rows(Pipeline& pipeline, Task const& task, Number* to) {
    auto& from = whole_y(task);
    auto const plane = std::size_t(n_) * std::size_t(z2_);
    int const z0 = begin_of(task.tile, z2_), count = length_of(task.tile, z2_);
    if (slabs())
        compute(pipeline, y_lines, task.tile, x_, [&](int x) {
            lines(count, n_, 1).transform(from.data() + std::size_t(x) * plane + z0);
        });
    compute(pipeline, pack_x, task.tile, grid_.rows, [&](int r) {
        for (int x = 0; x < x_; ++x)
            for (int y = r * y2_; y < (r + 1) * y2_; ++y, to += count)
                std::copy_n(from.data() + std::size_t(x) * plane + y * z2_ + z0, count, to);
    });
}

/// What is sent asleep tells who sends it, from which slot.
void Transform::Parts::fall_asleep() {
    constexpr int looks = 3;
    auto const service = service_named(nobody);
    run(*service, false);
    computing_.take_notes();
    for (int i = 0; i < looks; ++i) run(*service, false);
    computing_.fall_asleep();
    auto const rank = std::uint64_t(row_) * std::uint64_t(grid_.columns) + std::uint64_t(column_);
    for (std::size_t i = 0; i < sent_.size(); ++i)
        for (std::size_t at = 0; at < sent_[i].size(); ++at)
            sent_[i][at] = noise((rank << 40) + (std::uint64_t(i) << 32) + at);
}

std::uint64_t Transform::Parts::wrong_received(int number, Numbers3 const& received) const {
    auto const& one = task(number);
    auto const block = std::size_t(block_of(one)) / 2;
    int const peers = one.among_columns ? grid_.columns : grid_.rows;
    int const own = one.among_columns ? column_ : row_;
    std::uint64_t wrong = 0;
    for (int peer = 0; peer < peers; ++peer) {
        int const rank =
            one.among_columns ? row_ * grid_.columns + peer : peer * grid_.columns + column_;
        auto const first = (std::uint64_t(rank) << 40) + (std::uint64_t(slot(number)) << 32) +
                           std::uint64_t(own) * block;
        for (std::size_t i = 0; i < block; ++i)
            wrong +=
                received[std::size_t(peer) * block + i] == noise(first + i) ? 0 : sizeof(Number);
    }
    return wrong;
}

/// Of received slots, what came last is there.
std::uint64_t Transform::Parts::wrong_in_messages() const {
    std::uint64_t wrong = 0;
    std::vector<bool> seen(sent_.size());
    for (int number = int(tasks_.size()) - 1; number >= 0; --number) {
        auto const& one = task(number);
        if (!one.among_columns)
            wrong += wrong_received(number, result_[place_of(one.field, one.tile)]);
        else if (!seen[slot(number)])
            wrong += wrong_received(number, received_[slot(number)]);
        if (one.among_columns) seen[slot(number)] = true;
    }
    return wrong;
}

std::uint64_t Transform::Parts::wrong_in_tile(int field, int tile) const {
    double const factor = field + 1, tolerance = factor * spectrum_.tolerance();
    int const z0 = column_ * z2_ + begin_of(tile, z2_), count = length_of(tile, z2_);
    Number const* at = result_[place_of(field, tile)].data();
    std::uint64_t wrong = 0;
    for (int x = 0; x < n_; ++x)
        for (int y = row_ * y2_; y < (row_ + 1) * y2_; ++y)
            for (int z = z0; z < z0 + count; ++z, ++at) {
                auto const expected = factor * spectrum_.output(x, y, z);
                wrong += std::abs(*at - expected) <= tolerance ? 0 : sizeof(Number);
            }
    return wrong;
}

std::uint64_t Transform::Parts::wrong_bytes() const {
    if (computing_.asleep()) return wrong_in_messages();
    std::uint64_t wrong = 0;
    for (int field = 0; field < grid_.fields; ++field)
        for (int tile = 0; tile < tiles(z2_); ++tile) wrong += wrong_in_tile(field, tile);
    return wrong;
}

Transform::Transform(Grid const& grid) : parts_(std::make_unique<Parts>(grid)) {}
Transform::~Transform() = default;
double Transform::run(Service& service, bool tests) { return parts_->run(service, tests); }
void Transform::fall_asleep() { parts_->fall_asleep(); }
std::uint64_t Transform::wrong_bytes() const { return parts_->wrong_bytes(); }
std::uint64_t Transform::bytes() const { return parts_->bytes(); }

}  // namespace sluice::collectives
