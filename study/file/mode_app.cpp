// Mode app: programs that call for each transfer (bench/patterns/applications), by POSIX calls, by
// the MPI's individual and collective ones, and by Sluice with and without an exchange; in turn, a
// new file each time. What `sluice bench nvm` runs.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "base/round_up.hpp"
#include "bench/file/patterns.hpp"
#include "bench/patterns/applications.hpp"
#include "study/file/exchange.hpp"
#include "study/file/romio.hpp"

namespace sluice::bench {
namespace {

using patterns::Step;
using patterns::Transfer;

constexpr std::uint64_t stamped_bytes = 4096;  ///< A page.
constexpr auto const* by_direct_io = "direct";
constexpr int file_mode = MPI_MODE_CREATE | MPI_MODE_RDWR;

// ---- Ways -----------------------------------------------------------------------------------

/// How a program's transfers become calls.
class Way {
public:
    explicit Way(std::string called) : name(std::move(called)) {}
    Way(Way const&) = delete;
    Way& operator=(Way const&) = delete;
    virtual ~Way() = default;

    std::string name;

    // Collective, but for call() of those that are not.
    virtual void open(Run const& run, std::string const& path) = 0;
    virtual void close() = 0;
    /// Returns when the device has what was written.
    virtual void sync() = 0;
    /// `transfer` may be of no bytes where other ranks have more calls.
    virtual void call(Transfer const& transfer, void* memory) = 0;
    [[nodiscard]] virtual bool is_collective() const { return false; }
    [[nodiscard]] virtual MPI_File file() const { return MPI_FILE_NULL; }
};

class Posix : public Way {
public:
    using Way::Way;
    ~Posix() override { Posix::close(); }

    void open(Run const&, std::string const& path) override {
        file_ = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
        check(file_ >= 0 ? MPI_SUCCESS : MPI_ERR_IO, "opening a file");
    }
    void close() override {
        if (file_ >= 0) ::close(std::exchange(file_, -1));
    }
    void sync() override { check(::fsync(file_) == 0 ? MPI_SUCCESS : MPI_ERR_IO, "fsync"); }
    void call(Transfer const& transfer, void* memory) override {
        auto* const bytes = static_cast<char*>(memory);
        for (Bytes done = 0; done < transfer.bytes;) {
            auto const left = std::size_t(transfer.bytes - done);
            auto const moved = transfer.direction == Direction::write
                                   ? ::pwrite(file_, bytes + done, left, transfer.offset + done)
                                   : ::pread(file_, bytes + done, left, transfer.offset + done);
            check(moved > 0 ? MPI_SUCCESS : MPI_ERR_IO, "a transfer");
            done += moved;
        }
    }

private:
    int file_ = -1;
};

class Mpi : public Way {
public:
    Mpi(std::string called, bool collective, std::vector<std::string> hints)
        : Way(std::move(called)),
          collective_(collective),
          hints_(std::move(hints)) {}

    void open(Run const& run, std::string const& path) override {
        Hints const info(run.options.hints, hints_);
        file_ = open_file(path, file_mode, info.info);
    }
    void close() override { check(MPI_File_close(&file_), "MPI_File_close"); }
    void sync() override { check(MPI_File_sync(file_), "MPI_File_sync"); }
    [[nodiscard]] bool is_collective() const override { return collective_; }
    [[nodiscard]] MPI_File file() const override { return file_; }
    void call(Transfer const& t, void* memory) override {
        auto* const status = MPI_STATUS_IGNORE;
        int const count = int(t.bytes);
        if (t.direction == Direction::write)
            check(collective_
                      ? MPI_File_write_at_all(file_, t.offset, memory, count, MPI_BYTE, status)
                      : MPI_File_write_at(file_, t.offset, memory, count, MPI_BYTE, status),
                  "a write");
        else
            check(collective_
                      ? MPI_File_read_at_all(file_, t.offset, memory, count, MPI_BYTE, status)
                      : MPI_File_read_at(file_, t.offset, memory, count, MPI_BYTE, status),
                  "a read");
    }

private:
    bool collective_;
    std::vector<std::string> hints_;
    MPI_File file_ = MPI_FILE_NULL;
};

std::unique_ptr<Way> make_way(std::string const& name) {
    std::vector<std::string> hints;
    bool const own = name.rfind("mpi-", 0) == 0;
    if (name == "posix") return std::make_unique<Posix>(name);
    if (own) hints.push_back("sluice=disable");
    if (name == "individual" || name == by_direct_io)
        hints = {"romio_cb_write=disable", "romio_cb_read=disable"};
    if (name == by_direct_io) hints.push_back("sluice_page_cache=direct");
    if (name == "collective" || name == "mpi-collective") {
        hints.insert(hints.end(), {"romio_cb_write=enable", "romio_cb_read=enable"});
        auto const& more = study_options().collective_hints;
        hints.insert(hints.end(), more.begin(), more.end());
    }
    return std::make_unique<Mpi>(name, name != "mpi-individual", hints);
}

// ---- Contents -------------------------------------------------------------------------------

/// The first word of each page of the file tells its place: enough to see bytes that went astray,
/// and little enough to leave the times alone.
template <typename Visit> void for_each_stamp(Transfer const& transfer, char* memory, Visit visit) {
    auto const begin = std::uint64_t(transfer.offset);
    auto const end = begin + std::uint64_t(transfer.bytes);
    for (auto at = round_up(begin, stamped_bytes); at + word_bytes <= end; at += stamped_bytes)
        visit(*reinterpret_cast<double*>(memory + (at - begin)), at);
}

void stamp(Transfer const& transfer, char* memory, std::uint64_t seed) {
    bool const writes = transfer.direction == Direction::write;
    for_each_stamp(transfer, memory, [&](double& word, std::uint64_t at) {
        word = writes ? word_at(at, seed) : untouched;
    });
}

/// Bytes of pages that are not what was written there.
std::uint64_t wrong_after(Transfer const& transfer, char* memory, std::uint64_t seed) {
    std::uint64_t wrong = 0;
    if (transfer.direction == Direction::write) return 0;
    for_each_stamp(transfer, memory, [&](double const& word, std::uint64_t at) {
        if (!(word == word_at(at, seed))) wrong += stamped_bytes;
    });
    return wrong;
}

// ---- One program ----------------------------------------------------------------------------

struct StepResult {
    std::string application;
    Step const* step = nullptr;
    std::uint64_t bytes = 0;  ///< Of all ranks.
    std::vector<Trial> trials;
};

class Application {
public:
    Application(Run& run, std::string const& name)
        : run_(run),
          name_(name),
          steps_(patterns::steps_of(spec_of(run, name), run.rank, run.ranks)) {
        Bytes most = 0;
        for (auto const& step : steps_) {
            Bytes bytes = 0;
            for (auto const& transfer : step.transfers) {
                most = std::max(most, transfer.bytes);
                bytes += transfer.bytes;
            }
            results_.push_back({name, &step, sum_over_ranks(std::uint64_t(bytes)), {}});
        }
        memory_.assign(std::size_t(most + Bytes(stamped_bytes)) / word_bytes, 1);
        for (auto const& way : study_options().ways) {
            ways_.push_back(make_way(way));
            for (auto& result : results_) result.trials.push_back({{way, "-", {}}, {}, "", 0});
        }
    }

    /// Collective. The files have all their space from now on.
    void reserve() {
        Bytes const bytes = patterns::file_bytes(spec_of(run_, name_), run_.ranks);
        for (auto const& way : ways_) {
            if (run_.rank != 0) continue;
            int const file = ::open(path_of(*way).c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
            bool const done = file >= 0 && ::posix_fallocate(file, 0, bytes) == 0;
            if (file >= 0) ::close(file);
            check(done ? MPI_SUCCESS : MPI_ERR_NO_SPACE, "reserving space for a file");
        }
        wait_for_all();
    }

    /// Collective.
    void remove_reserved() {
        for (auto const& way : ways_) remove_file(run_, path_of(*way));
    }

    std::vector<StepResult> const& measure() {
        auto const& o = run_.options;
        for (int turn = -o.warmup; turn < o.repeat; ++turn)
            for (std::size_t i = 0; i < ways_.size(); ++i) {
                auto const at = turn % 2 == 0 ? i : ways_.size() - 1 - i;
                run_.progress->step(
                    text_of("%s: %d of %d, ", name_.c_str(), std::max(turn + 1, 1), o.repeat) +
                    ways_[at]->name);
                run_program(at, turn >= 0);
            }
        run_.progress->wipe();
        return results_;
    }

private:
    static patterns::ApplicationSpec spec_of(Run const& run, std::string const& name) {
        return {name, Bytes(run.bytes()), Bytes(study_options().transfer),
                std::int32_t(study_options().parts), run.options.pattern_seed};
    }

    /// All steps of the program, on a file of its own.
    void run_program(std::size_t number, bool counts) {
        auto& way = *ways_[number];
        auto const path = path_of(way);
        ++seed_;
        way.open(run_, path);
        for (auto& result : results_) {
            if (result.step->is_cold) empty_cache(path);
            auto& trial = result.trials[number];
            auto const sample = run_step(way, *result.step, trial);
            if (counts && !result.step->prepares) trial.samples.push_back(sample);
        }
        wait_for_all();
        bool const stays = run_.options.keep || study_options().reserve;
        // What the system has not written yet need not be.
        if (run_.rank == 0 && !stays && ::truncate(path.c_str(), 0) != 0)
            run_.report->note("cannot truncate " + path);
        way.close();
        if (!stays) remove_file(run_, path);
    }

    std::string path_of(Way const& way) const {
        return run_.path[0] + "-" + name_ + "-" + way.name;
    }

    Sample run_step(Way& way, Step const& step, Trial& trial) {
        Sample sample;
        auto const before = statistics_of(way.file());
        auto const wire = wire_counters();
        auto const romio = romio_times_so_far();
        auto calls = step.transfers.size();
        if (way.is_collective()) calls = std::size_t(max_over_ranks(double(calls)));
        std::uint64_t wrong = 0;
        sample.seconds = time_together([&] {
            for (std::size_t i = 0; i < calls; ++i) {
                auto const transfer =
                    i < step.transfers.size() ? step.transfers[i] : Transfer{last_of(step), 0, 0};
                auto* const memory = memory_begin();
                stamp(transfer, memory, seed_);
                way.call(transfer, memory);
                wrong += wrong_after(transfer, memory, seed_);
            }
            if (study_options().sync && writes(step)) way.sync();
        });
        sample.wire_bytes = max_over_ranks(most_moved(wire, wire_counters()));
        if (before.size != 0) observe(way.file(), sample, trial.plan, before);
        observe_romio(sample, romio);
        trial.wrong += sum_over_ranks(wrong);
        return sample;
    }

    /// At a page where direct I/O is measured: a program that wants this sees to it.
    char* memory_begin() {
        auto const& ways = study_options().ways;
        bool const at_page = std::count(ways.begin(), ways.end(), by_direct_io) != 0;
        void* memory = memory_.data();
        auto room = memory_.size() * word_bytes;
        if (at_page) std::align(stamped_bytes, room - stamped_bytes, memory, room);
        return static_cast<char*>(memory);
    }

    static bool writes(Step const& step) {
        return std::any_of(step.transfers.begin(), step.transfers.end(), [](auto const& transfer) {
            return transfer.direction == Direction::write;
        });
    }

    static Direction last_of(Step const& step) {
        return step.transfers.empty() ? Direction::write : step.transfers.back().direction;
    }

    /// Of the file's pages, on all nodes.
    static void empty_cache(std::string const& path) {
        wait_for_all();
        int const file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
        bool const done = file >= 0 && ::fsync(file) == 0 &&
                          ::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0;
        if (file >= 0) ::close(file);
        check(done ? MPI_SUCCESS : MPI_ERR_IO, "emptying the cache");
        wait_for_all();
    }

    Run& run_;
    std::string name_;
    std::vector<Step> steps_;
    std::vector<StepResult> results_;  ///< By step.
    std::vector<std::unique_ptr<Way>> ways_;
    std::vector<double> memory_;
    std::uint64_t seed_ = 0;
};

// ---- Report ---------------------------------------------------------------------------------

void record(Run const& run, StepResult const& result, Trial const& trial) {
    auto const& own = study_options();
    Json line;
    line.add("application", result.application).add("step", result.step->name);
    line.add("way", trial.variant.name).add_integer("bytes", result.bytes);
    line.add_integer("transfer_bytes", own.transfer);
    line.add_integer("calls_per_rank", result.step->transfers.size());
    if (!own.cache.empty()) line.add("cache", own.cache);
    if (own.sync) line.add("synced", "yes");
    line.add("unit", "s");
    add_samples(line, trial.samples);
    line.add("plan", trial.plan).add_integer("wrong_bytes", trial.wrong);
    run.report->record("app", line);
}

void report_step(Run& run, StepResult const& result) {
    run.report->table(text_of("%s %s: %s of all ranks, %s a call", result.application.c_str(),
                              result.step->name.c_str(), text_of_bytes(result.bytes).c_str(),
                              text_of_bytes(study_options().transfer).c_str()),
                      {"way           ", "     median (min .. max)", "  MB/s", "  copies",
                       "transfers", "messages", "MiB on the wire", "wrong bytes"});
    auto const told = [](Trial const& trial, double Sample::* quantity) {
        std::vector<double> values;
        for (auto const& sample : trial.samples) values.push_back(sample.*quantity);
        return summary_of(values);
    };
    auto const text = [&](Trial const& trial, double Sample::* quantity) {
        auto const median = told(trial, quantity).median;
        return median < 0 ? std::string("-") : text_of_seconds(median);
    };
    for (auto const& trial : result.trials) {
        auto const total = told(trial, &Sample::seconds);
        auto const wire = told(trial, &Sample::wire_bytes).median;
        run.report->row({trial.variant.name, text_of_summary(total),
                         text_of("%.1f", double(result.bytes) / total.median / 1e6),
                         text(trial, &Sample::copies), text(trial, &Sample::transfers),
                         text(trial, &Sample::messages),
                         wire > 0 ? text_of("%.1f", wire / 1048576) : "-",
                         std::to_string(trial.wrong)});
        run.wrong_bytes += trial.wrong;
        record(run, result, trial);
    }
}

/// Its own memory is there by now and stays charged to where it was.
void join_cgroup() {
    if (study_options().cgroup.empty()) return;
    std::ofstream members(study_options().cgroup + "/cgroup.procs");
    members << getpid() << std::endl;
    check(members ? MPI_SUCCESS : MPI_ERR_IO, "joining the cgroup");
}

}  // namespace

void mode_app(Run& run) {
    auto const& o = run.options;
    auto const& own = study_options();
    auto const turns = std::size_t(o.warmup) + std::size_t(o.repeat);
    run.progress->expect(int(own.applications.size() * own.ways.size() * turns));
    std::vector<std::unique_ptr<Application>> all;
    for (auto const& name : own.applications)
        all.push_back(std::make_unique<Application>(run, name));
    if (own.reserve)
        for (auto& application : all) application->reserve();
    join_cgroup();
    for (auto& application : all)
        for (auto const& result : application->measure())
            if (!result.step->prepares) report_step(run, result);
    if (own.reserve && !o.keep)
        for (auto& application : all) application->remove_reserved();
}

}  // namespace sluice::bench
