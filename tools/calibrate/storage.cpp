// Requests to the storage: every point in turn, again and again, until the time is over. See
// calibrate.hpp.
#include "bench/measure/regression.hpp"
#include "system/page_bytes.hpp"
#include "tools/calibrate/clients.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <sys/mman.h>
#include <unistd.h>

namespace sluice::calibrate {
namespace {

constexpr Bytes file_bytes_least = Bytes{128} << 20;  ///< For random places far apart.

/// At most a quarter of what is free; whole requests.
Bytes room_for(Options const& options) {
    std::error_code unknown;
    auto const space = std::filesystem::space(options.directory, unknown);
    Bytes bytes = options.file_bytes;
    if (!unknown) bytes = std::min(bytes, static_cast<Bytes>(space.available / 4));
    bytes = bytes / point_bytes_most * point_bytes_most;
    if (bytes < 2 * point_bytes_most)
        give_up("there is no room for a file in " + options.directory);
    return bytes;
}

/// Whether most of the file's pages are in memory.
bool is_in_page_cache(int fd, Bytes bytes) {
    auto const length = static_cast<std::size_t>(bytes);
    void* const memory = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED) return false;
    auto const page = static_cast<std::size_t>(page_bytes());
    std::vector<unsigned char> pages((length + page - 1) / page);
    bool const known = mincore(memory, length, pages.data()) == 0;
    munmap(memory, length);
    auto const here = std::count_if(pages.begin(), pages.end(), [](auto p) { return p & 1; });
    return known && 2 * static_cast<std::size_t>(here) > pages.size();
}

class Measurement {
public:
    Measurement(Job const& job, Clients& clients, Bytes file_bytes, double end)
        : job_(job),
          clients_(clients),
          file_bytes_(file_bytes),
          end_(end),
          slow_(is_slow()),
          points_(points_of(file_bytes, slow_)) {}

    /// Returns how often points were timed, at most.
    int run() {
        job_.progress->expect(static_cast<int>(points_.size()) * turns_wanted);
        double const left = of_rank_0(end_ - bench::now());
        trial_seconds_ = left / static_cast<double>(points_.size()) / (turns_wanted + 1);
        int turn = 0;
        for (bool goes_on = true; goes_on; ++turn) {
            double const begin = bench::now();
            for (Point const& point : shuffled(points_, static_cast<std::uint64_t>(turn)))
                if (turn == 0 || !is_long(point, turn)) time(point);
            double const now = bench::now();
            bool const fits = of_rank_0(now + (now - begin) < end_ ? 1 : 0) > 0;
            goes_on = turn + 1 < turns_least || (fits && turn + 1 < turns_most);
        }
        job_.progress->wipe();
        return turn;
    }

    void tell(MachineProfile& profile) const {
        std::vector<std::pair<Point, double>> times;
        for (auto const& [point, seconds] : seconds_) times.emplace_back(point, low_of(seconds));
        for (Direction const way : {Direction::write, Direction::read}) {
            auto const at = index_of(way);
            profile.sequential[at] = costs_of(times, way, false);
            profile.random[at] = costs_of(times, way, true);
        }
    }

private:
    static constexpr int turns_least = 3, turns_wanted = 4, turns_most = 12;

    /// On a slow device even the fewest requests may take longer than a trial should: such points
    /// are not timed again, or once where the first time may have been disturbed.
    [[nodiscard]] bool is_long(Point const& point, int turn) {
        auto const& known = seconds_[point];
        double const each = *std::min_element(known.begin(), known.end());
        auto const requests = static_cast<double>(requests_for(point, each, trial_seconds_));
        return each * requests > (turn == 1 ? 4 : 2) * trial_seconds_;
    }

    /// Milliseconds a request leave no time for all sizes.
    bool is_slow() {
        constexpr double slow_seconds = 2e-3;
        constexpr int probes = 5;
        Point const probe{Direction::read, true, 4096, 1};
        std::vector<double> each;
        for (int i = 0; i < probes; ++i) each.push_back(clients_.time(probe, file_bytes_, 1));
        return median_of(std::move(each)) > slow_seconds;
    }

    void time(Point const& point) {
        job_.progress->step("storage: " + label(point));
        if (!estimates_.contains(point)) estimate(point);
        double const request_seconds = once(point, trial_seconds_);
        estimates_[point] = request_seconds;
        seconds_[point].push_back(request_seconds);
    }

    /// What a request takes is not known yet: first a short trial, then longer ones where it was
    /// too short to tell.
    void estimate(Point const& point) {
        constexpr double enough = 8;
        estimates_[point] = 0;
        for (int again = 0; again < 3; ++again) {
            estimates_[point] = once(point, trial_seconds_ / enough);
            if (estimates_[point] * enough > trial_seconds_) return;
        }
    }

    /// Seconds of one request.
    double once(Point const& point, double seconds) {
        std::int64_t const requests = requests_for(point, estimates_[point], seconds);
        return clients_.time(point, file_bytes_, requests) / static_cast<double>(requests);
    }

    static std::string label(Point const& point) {
        return std::string(describe(point.way)) + (point.random ? " random " : " sequential ") +
               std::to_string(point.bytes / 1024) + "K, clients " + std::to_string(point.clients);
    }

    Job const& job_;
    Clients& clients_;
    Bytes const file_bytes_;
    double const end_;  ///< When there is no time left.
    bool const slow_;
    std::vector<Point> const points_;
    double trial_seconds_ = 0;
    std::map<Point, double> estimates_;
    std::map<Point, std::vector<double>> seconds_;
};

}  // namespace

StorageFacts measure_storage(Job const& job, double seconds, MachineProfile& profile) {
    StorageFacts facts;
    double const begin = bench::now();
    auto const reach = job.one_node() ? Scratch::Reach::node : Scratch::Reach::world;
    Scratch scratch(job, job.options.directory, "storage", reach);
    bench::wait_for_all();
    Clients clients(job, scratch.path(), job.options.page_cache);
    auto const opened = open_file(scratch.path(), AccessMode::read);
    scratch.remove();
    job.progress->part("storage: writing a file");
    Bytes const room = static_cast<Bytes>(of_rank_0(static_cast<double>(room_for(job.options))));
    facts.file_bytes = clients.fill(room, std::min(room, file_bytes_least), seconds / 4);
    job.progress->part("storage: timing requests");
    Measurement measurement(job, clients, facts.file_bytes, begin + seconds);
    facts.turns = measurement.run();
    measurement.tell(profile);
    facts.in_page_cache = job.options.page_cache == PageCache::keep &&
                          is_in_page_cache(opened.descriptor.get(), facts.file_bytes);
    bench::wait_for_all();
    return facts;
}

}  // namespace sluice::calibrate
