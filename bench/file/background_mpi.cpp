// Nonblocking collective calls of MPI beside a computation. See background.hpp.
#include <algorithm>

#include "bench/file/background.hpp"
#include "bench/file/buffer.hpp"

namespace sluice::bench {
namespace {

class MpiBackground final : public Background {
public:
    MpiBackground(Run const& bench_run, Pattern const& its_pattern, Side side)
        : Background(side == Side::sluice ? "Sluice" : "peer"),
          run_(bench_run),
          pattern_(its_pattern),
          path_(run_.path[std::size_t(side)]),
          file_(run_, side),
          buffer_(run_, pattern_.access_words()) {
        set_view(file_.handle, 0, pattern_, Hints(run_, side).info);
    }

    void prepare(bool writes) override {
        check(MPI_File_seek(file_.handle, 0, MPI_SEEK_SET), "MPI_File_seek");
        if (writes)
            pattern_.fill_access(buffer_.host(), ++seed_);
        else
            std::ranges::fill(buffer_.host(), untouched);
        buffer_.bring_to_memory();
    }

    void start(bool writes) override {
        requests_ = start_access(file_.handle, pattern_, buffer_.memory(), writes);
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
        check(MPI_File_sync(file_.handle), "MPI_File_sync");
        return wrong_bytes_in_file(path_, pattern_.file_bytes(), seed_, run_.rank, run_.ranks);
    }

private:
    Run const& run_;
    Pattern const& pattern_;
    std::string path_;
    File file_;
    Buffer buffer_;
    std::vector<MPI_Request> requests_;
    std::uint64_t seed_ = 0;
};

}  // namespace

std::unique_ptr<Background> mpi_background(Run const& run, Pattern const& pattern, Side side) {
    return std::make_unique<MpiBackground>(run, pattern, side);
}

}  // namespace sluice::bench
