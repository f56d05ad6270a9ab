// A file of a random program with one handle, on this rank: carries out what happens to it, beside
// the model. Most accesses are nonblocking.
#pragma once
#include "random_any_file.hpp"
#include "random_model.hpp"

namespace random_test {

class OpenFile : public AnyFile {
public:
    OpenFile(Settings const& settings, Program const& program, int index, MPI_Comm comm,
             PendingRequests& pending, Counts& counts)
        : AnyFile(settings, program, index, pending, counts),
          comm_(comm),
          model_(size_of(comm), sizes_of(program.scale, settings.shrink), settings.plain(),
                 program.files[static_cast<std::size_t>(index)].prefilled) {
        MPI_Comm_rank(comm, &rank_);
        int first = check::rank();  // Halves have files of their own.
        MPI_Bcast(&first, 1, MPI_INT, 0, comm);
        path_ = path_of(first);
        if (rank_ == 0) check::posix_write(path_, model::prefill(0, model_.content.size()));
        MPI_Barrier(comm);
        open(-1);
    }

    void step(Step const& step) override {
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

    void finish(int step) override {
        close(step);
        await_closed(path_);
        MPI_Barrier(comm_);
        if (rank_ == 0) compare_and_remove(model_.content, path_);
    }

private:
    static int size_of(MPI_Comm comm) {
        int size = 1;
        MPI_Comm_size(comm, &size);
        return size;
    }
    std::int64_t& position() { return model_.positions[static_cast<std::size_t>(rank_)]; }

    void open(int step);
    void close(int step);
    void settle(int step, bool sync = false);
    void end_split();

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

    MPI_Comm comm_;
    int rank_ = 0;
    std::string path_;
    FileModel model_;
    MPI_File file_ = MPI_FILE_NULL;
    std::shared_ptr<Transfer> split_;               ///< Under way.
    std::vector<std::shared_ptr<Transfer>> freed_;  ///< Complete after a sync or a close.
};

}  // namespace random_test

#include "random_access.hpp"
#include "random_upkeep.hpp"
