// One file of a random program, on this rank: carries out what happens to it, beside the model.
#pragma once
#include "random_complete.hpp"
#include "random_program.hpp"

namespace random_test {

struct Settings {
    std::uint64_t seed = 1;
    int programs = 1;
    int shrink = 0;    ///< Sizes are divided by 2 to this.
    int seconds = 30;  ///< A program may take.
    bool trace = false;
    std::set<std::string> without;     ///< Kinds of steps, and forms of accesses.
    std::set<std::string> only_steps;  ///< All, if empty.

    bool has(std::string const& what) const { return !without.contains(what); }
    bool plain() const { return check::state().options.plain; }
};

class OpenFile {
public:
    OpenFile(Settings const& settings, std::uint64_t seed, Scale scale, FilePlan const& plan,
             int index, MPI_Comm comm, PendingRequests& pending, Counts& counts)
        : settings_(settings),
          seed_(seed),
          index_(index),
          comm_(comm),
          pending_(pending),
          counts_(counts),
          model_(size_of(comm), sizes_of(scale, settings.shrink), plan.prefilled) {
        MPI_Comm_rank(comm, &rank_);
        int first = check::rank();  // Halves have files of their own.
        MPI_Bcast(&first, 1, MPI_INT, 0, comm);
        // Open MPI hangs now and then when a name comes back at once.
        path_ = check::path("random_" + std::to_string(seed) + "_" + std::to_string(index) + "_" +
                            std::to_string(first));
        if (rank_ == 0) check::posix_write(path_, model::prefill(0, plan.prefilled));
        MPI_Barrier(comm);
        open(-1);
    }

    void step(Step const& step) {
        int const n = step.number;
        switch (step.kind) {
        case Kind::set_view:
            return set_view(n);
        case Kind::transfer:
            return collective(n);
        case Kind::independent:
            return independent(n);
        case Kind::end_split:
            return end_split();
        case Kind::seek:
            return seek(n);
        case Kind::position:
            end_split();
            return check_position();
        case Kind::sync:
            return settle(n, true);
        case Kind::set_size:
            return set_size(n);
        case Kind::preallocate:
            return preallocate(n);
        case Kind::get_size:
            return get_size(n);
        case Kind::atomic:
            return set_atomic(n);
        case Kind::set_info:
            return set_info(n);
        case Kind::reopen:
            close(n);
            return open(n);
        case Kind::free_requests:
            return free_requests(n);
        default:
            check::fail("not a step of a file", check::Where::current());
        }
    }

    /// Completes everything and compares every byte of the file.
    void finish(int step) {
        close(step);
        if (rank_ == 0) {
            auto const found = check::posix_read(path_);
            if (settings_.plain()) model_.content.forgive_holes(found);
            check::same_bytes(model_.content.bytes(), found, "file " + std::to_string(index_));
            ::unlink(path_.c_str());
        }
    }

private:
    static int size_of(MPI_Comm comm) {
        int size = 1;
        MPI_Comm_size(comm, &size);
        return size;
    }
    void say(int step, std::string const& text) const {
        if (settings_.trace) trace(true, step, "file " + std::to_string(index_) + ": " + text);
    }
    Random shared(int step, int purpose) const { return {seed_, {step, 3, purpose, index_}}; }
    Random own(int step, int purpose) const { return {seed_, {step, 4, purpose, check::rank()}}; }
    std::int64_t& position() { return model_.positions[static_cast<std::size_t>(rank_)]; }
    Pending entry(int step, std::shared_ptr<Transfer> transfer) const;

    void open(int step);
    void close(int step);
    void complete_all(int step);
    void complete_independent(int step);
    void settle(int step, bool sync = false);
    void end_split();
    MPI_Info hints(int step) const;

    void set_view(int step);
    void collective(int step);
    void independent(int step);
    void start(Demand const& demand, Form form, std::vector<Part>& parts, int step);
    void seek(int step);
    void check_position();
    void set_size(int step);
    void preallocate(int step);
    void get_size(int step);
    void set_atomic(int step);
    void set_info(int step);
    void free_requests(int step);
    void note(Form form, std::vector<Part> const& parts);

    Settings const& settings_;
    std::uint64_t seed_;
    int index_;
    MPI_Comm comm_;
    int rank_ = 0;
    std::string path_;
    PendingRequests& pending_;
    Counts& counts_;
    FileModel model_;
    MPI_File file_ = MPI_FILE_NULL;
    std::shared_ptr<Transfer> split_;               ///< Under way.
    std::vector<std::shared_ptr<Transfer>> freed_;  ///< Complete after a sync or a close.
};

}  // namespace random_test

#include "random_access.hpp"
#include "random_upkeep.hpp"
