// sluice-storage (`sluice bench storage`): the library's storage with 1, 2 and 8 threads, through
// the page cache and by direct I/O, on every device, in turn, so that what else the machine does
// meets all of them. Without MPI.
#include "study/storage/exercise.hpp"
#include "study/storage/setups.hpp"
#include "study/storage/target.hpp"
#include "tools/command_line.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <ctime>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace sluice;
using namespace sluice::tools;

struct Options {
    std::vector<std::string> devices{"hdd", "ssd", "nvm"};
    std::vector<std::string> folders{"/tmp", "/dev/shm"};
    int repeat = 7;
    double seconds = 0.05;
    Bytes file_bytes = Bytes{64} << 20;
    std::string json, command;
};

struct Quartiles {
    double median = 0, low = 0, high = 0;
};

Quartiles quartiles_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    auto const at = [&](double share) {
        auto const place = std::lround(share * static_cast<double>(values.size() - 1));
        return values[static_cast<std::size_t>(place)];
    };
    return {at(0.5), at(0.25), at(0.75)};
}

/// One setup's times of an exercise, a repetition each.
struct Times {
    std::vector<double> write, read;
    [[nodiscard]] std::vector<double> const& of(Direction way) const {
        return way == Direction::write ? write : read;
    }
};

class Bench {
public:
    explicit Bench(Options const& options) : options_(options), setups_(all_setups()) {
        if (!options.json.empty()) json_ = std::fopen(options.json.c_str(), "ae");
    }
    ~Bench() {
        if (json_) std::fclose(json_);
    }
    Bench(Bench const&) = delete;
    Bench& operator=(Bench const&) = delete;

    void measure(Target const& target) {
        if (!target.missing().empty()) {
            std::printf("\n%s: left out: %s\n", target.name().c_str(), target.missing().c_str());
            return;
        }
        path_ = target.path() + "/storage-bench-" + std::to_string(getpid());
        if (!prefill()) {
            std::printf("\n%s: left out: no room for a file\n", target.name().c_str());
            return;
        }
        for (Exercise const& exercise : exercises()) measure(target, exercise);
        unlink(path_.c_str());
    }

    [[nodiscard]] std::int64_t wrong() const noexcept { return wrong_; }

private:
    [[nodiscard]] bool prefill() const {
        std::vector<char> const zeros(std::size_t{1} << 20);
        int const fd = open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
        bool whole = fd >= 0;
        for (Bytes at = 0; whole && at < options_.file_bytes; at += 1 << 20)
            whole =
                pwrite(fd, zeros.data(), zeros.size(), at) == static_cast<ssize_t>(zeros.size());
        if (fd >= 0) close(fd);
        return whole;
    }

    /// Both directions over the same bytes; what was written is what must be read.
    void run(StorageSetup& setup, Exercise const& exercise, int transfers, Times& times) {
        Trial trial(exercise, options_.file_bytes, transfers, ++generation_);
        auto const file = setup.open(path_, trial.ringer());
        times.write.push_back(trial.run(*file, Direction::write, generation_));
        times.read.push_back(trial.run(*file, Direction::read, generation_));
        wrong_ += trial.wrong();
        file->release();
        bytes_ = trial.bytes();
    }

    /// So many that the baseline is busy for the time asked for.
    int transfers_for(Exercise const& exercise) {
        int transfers = 2 * exercise.under_way;
        for (;;) {
            Times times;
            run(*setups_.front(), exercise, transfers, times);
            double const seconds = std::min(times.write.back(), times.read.back());
            bool const whole_file = transfers * exercise.transfer_bytes >= options_.file_bytes;
            if (seconds >= options_.seconds || whole_file) return transfers;
            transfers *= 2;
        }
    }

    void measure(Target const& target, Exercise const& exercise) {
        progress(target, exercise, 0);
        int const transfers = transfers_for(exercise);
        std::vector<Times> times(setups_.size());
        for (int turn = 0; turn < options_.repeat; ++turn) {
            progress(target, exercise, turn);
            for (std::size_t i = 0; i < setups_.size(); ++i) {
                std::size_t const next = (i + static_cast<std::size_t>(turn)) % setups_.size();
                run(*setups_[next], exercise, transfers, times[next]);
            }
        }
        if (shows_progress()) std::fprintf(stderr, "\r%60s\r", "");
        for (Direction const way : {Direction::write, Direction::read})
            report(target, exercise, way, transfers, times);
    }

    [[nodiscard]] static bool shows_progress() { return isatty(STDERR_FILENO) == 1; }

    void progress(Target const& target, Exercise const& exercise, int turn) const {
        if (!shows_progress()) return;
        std::fprintf(stderr, "\r%s, %s: %d of %d   ", target.name().c_str(), exercise.name, turn,
                     options_.repeat);
    }

    void report(Target const& target, Exercise const& exercise, Direction way, int transfers,
                std::vector<Times> const& times) {
        char const* const direction = way == Direction::write ? "write" : "read";
        std::printf("\n%s, %s, %s: %d transfers\n  %-10s %-6s %11s %23s %7s  %s\n",
                    target.name().c_str(), exercise.name, direction, transfers, "storage", "cache",
                    "ms", "quartiles", "MB/s", "/ threads 2 (quartiles)");
        for (PageCache const cache : {PageCache::keep, PageCache::direct_io}) {
            std::size_t const base = find_baseline(cache), best = find_best(cache, way, times);
            for (std::size_t i = 0; i < setups_.size(); ++i) {
                if (setups_[i]->page_cache() != cache) continue;
                std::vector<double> ratios;
                auto const& own = times[i].of(way);
                for (std::size_t turn = 0; turn < own.size(); ++turn)
                    ratios.push_back(own[turn] / times[base].of(way)[turn]);
                Line const line{target.name(),     exercise.name,        direction, *setups_[i],
                                quartiles_of(own), quartiles_of(ratios), i == best};
                print(line);
                if (json_) record(line);
            }
        }
        std::fflush(stdout);
        if (json_) std::fflush(json_);
    }

    struct Line {
        std::string target, exercise, direction;
        StorageSetup const& setup;
        Quartiles seconds, ratio;
        bool best;
    };

    static char const* cache_name(StorageSetup const& setup) {
        return setup.page_cache() == PageCache::keep ? "keep" : "direct";
    }

    void print(Line const& line) const {
        double const rate = static_cast<double>(bytes_) / line.seconds.median / 1e6;
        std::printf("%c %-10s %-6s %11.3f %11.3f %11.3f %7.1f  %.3f (%.3f .. %.3f)\n",
                    line.best ? '*' : ' ', line.setup.name().c_str(), cache_name(line.setup),
                    1e3 * line.seconds.median, 1e3 * line.seconds.low, 1e3 * line.seconds.high,
                    rate, line.ratio.median, line.ratio.low, line.ratio.high);
    }

    void record(Line const& line) {
        char date[32];
        std::time_t const now = std::time(nullptr);
        std::tm utc{};
        gmtime_r(&now, &utc);
        std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc);
        std::fprintf(
            json_,
            R"({"mode": "storage", "target": "%s", "workload": "%s", "direction": "%s", )"
            R"("engine": "%s", "page_cache": "%s", "bytes": %lld, "unit": "s", )"
            R"("seconds": {"median": %.9g, "low": %.9g, "high": %.9g}, )"
            R"("over_threads": {"median": %.4f, "low": %.4f, "high": %.4f}, )"
            R"("best": %s, "repeat": %d, "host_cores": %u, "sluice_version": "%s", )"
            R"("command": "%s", "date": "%s"})"
            "\n",
            line.target.c_str(), line.exercise.c_str(), line.direction.c_str(),
            line.setup.name().c_str(), cache_name(line.setup), static_cast<long long>(bytes_),
            line.seconds.median, line.seconds.low, line.seconds.high, line.ratio.median,
            line.ratio.low, line.ratio.high, line.best ? "true" : "false", options_.repeat,
            std::thread::hardware_concurrency(), SLUICE_VERSION, options_.command.c_str(), date);
    }

    [[nodiscard]] std::size_t find_baseline(PageCache cache) const {
        auto const found = std::find_if(setups_.begin(), setups_.end(), [&](auto const& setup) {
            return setup->name() == baseline && setup->page_cache() == cache;
        });
        return static_cast<std::size_t>(found - setups_.begin());
    }
    [[nodiscard]] std::size_t find_best(PageCache cache, Direction way,
                                        std::vector<Times> const& times) const {
        std::size_t best = find_baseline(cache);
        for (std::size_t i = 0; i < setups_.size(); ++i) {
            bool const faster =
                quartiles_of(times[i].of(way)).median < quartiles_of(times[best].of(way)).median;
            if (setups_[i]->page_cache() == cache && faster) best = i;
        }
        return best;
    }

    Options const& options_;
    std::vector<std::unique_ptr<StorageSetup>> setups_;
    std::FILE* json_ = nullptr;
    std::string path_;
    std::uint64_t generation_ = 0;
    std::int64_t wrong_ = 0;
    Bytes bytes_ = 0;
};

int parse(int argc, char** argv, Options& o) {
    CLI::App app("Compares numbers of storage threads on devices.", "sluice bench storage");
    app.add_option("--device", o.devices, "emulated: hdd,ssd,nvm (the default), files, or none")
        ->delimiter(',');
    app.add_option("--dir", o.folders, "folders of real file systems (default: /tmp,/dev/shm)")
        ->delimiter(',');
    app.add_option("--repeat", o.repeat, "measurements of each (default: 7)")
        ->check(CLI::PositiveNumber);
    app.add_option("--seconds", o.seconds, "of each, at least (default: 0.05)")
        ->check(CLI::PositiveNumber);
    app.add_option("--bytes", o.file_bytes, "of the file (default: 64M)")
        ->transform(CLI::AsSizeValue(false));
    app.add_option("--json", o.json, "append one JSON line a result to this file");
    app.footer("Without mpiexec. Ends with 1 if bytes are wrong.");
    o.command = "sluice bench storage";
    for (int i = 1; i < argc; ++i) o.command += std::string(" ") + argv[i];
    auto const parsed = parse_line(app, argc, argv);
    parsed.tell();
    return parsed.exit_code.value_or(-1);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    if (int const code = parse(argc, argv, options); code >= 0) return code;
    Bench bench(options);
    for (std::string const& device : options.devices)
        if (device != "none") bench.measure(Target::device(device));
    for (std::string const& folder : options.folders) bench.measure(Target::folder(folder));
    if (bench.wrong() == 0) return 0;
    std::printf("\nwrong: %lld\n", static_cast<long long>(bench.wrong()));
    return 1;
}
