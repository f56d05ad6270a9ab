// Nonblocking collective calls of MPI beside a computation. See background.hpp.
#include <algorithm>
#include <thread>

#include "bench/file/background.hpp"
#include "bench/file/buffer.hpp"

namespace sluice::bench {
namespace {

class MpiBackground : public Background {
public:
    MpiBackground(std::string its_name, Run const& bench_run, Pattern const& its_pattern, Side side,
                  std::string const& suffix = "")
        : Background(std::move(its_name)),
          run_(bench_run),
          pattern_(its_pattern),
          path_(run_.path[std::size_t(side)] + suffix),
          buffer_(run_, pattern_.access_words()) {
        Hints const hints(run_, side);
        file_ = open_file(path_, MPI_MODE_CREATE | MPI_MODE_RDWR, hints.info);
        set_view(file_, 0, pattern_, hints.info);
    }
    ~MpiBackground() override { MPI_File_close(&file_); }

    void prepare(bool writes) override {
        check(MPI_File_seek(file_, 0, MPI_SEEK_SET), "MPI_File_seek");
        if (writes)
            pattern_.fill_access(buffer_.host(), ++seed_);
        else
            std::ranges::fill(buffer_.host(), untouched);
        buffer_.bring_to_memory();
    }

    void start(bool writes) override {
        requests_ = start_access(file_, pattern_, buffer_.memory(), writes);
    }

    void test() override {
        int done = 0;
        check(MPI_Testall(int(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
              "MPI_Testall");
    }

    void wait() override { wait_for(requests_); }

    std::uint64_t wrong_bytes(bool writes) override {
        if (!writes) {
            buffer_.bring_to_host();
            return sum_over_ranks(pattern_.wrong_in_access(buffer_.host(), seed_));
        }
        check(MPI_File_sync(file_), "MPI_File_sync");
        return pattern_.wrong_in_file(run_, path_, seed_);
    }

protected:
    void access(bool writes) { run_access(file_, pattern_, buffer_.memory(), writes); }
    void remove() { remove_file(run_, path_); }

private:
    Run const& run_;
    Pattern const& pattern_;
    std::string path_;
    MPI_File file_ = MPI_FILE_NULL;
    Buffer buffer_;
    std::vector<MPI_Request> requests_;
    std::uint64_t seed_ = 0;
};

class ThreadBackground final : public MpiBackground {
public:
    ThreadBackground(Run const& run, Pattern const& pattern)
        : MpiBackground("thread", run, pattern, Side::peer, ".thread") {}
    ~ThreadBackground() override { remove(); }

    void start(bool writes) override {
        worker_ = std::thread([this, writes] { access(writes); });
    }
    void test() override {}
    void wait() override { worker_.join(); }

private:
    std::thread worker_;
};

}  // namespace

std::unique_ptr<Background> mpi_background(Run const& run, Pattern const& pattern, Side side) {
    return std::make_unique<MpiBackground>(side == Side::sluice ? "Sluice" : "peer", run, pattern,
                                           side);
}

std::unique_ptr<Background> thread_background(Run const& run, Pattern const& pattern) {
    return std::make_unique<ThreadBackground>(run, pattern);
}

}  // namespace sluice::bench
