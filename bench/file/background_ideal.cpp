// A plain thread beside a computation. See background.hpp.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/round_up.hpp"
#include "bench/file/background.hpp"
#include "bench/file/page_memory.hpp"
#include "bench/file/partner.hpp"

namespace sluice::bench {
namespace {

constexpr std::uint64_t chunk_bytes = std::uint64_t{1} << 20;  // one request of an emulated device

class Ideal final : public Background {
public:
    Ideal(Run const& bench_run, Pattern const& pattern)
        : Background("ideal"),
          run_(bench_run),
          path_(run_.path[0] + "-ideal"),
          file_bytes_(pattern.file_bytes()),
          share_(round_up((file_bytes_ + std::uint64_t(run_.ranks) - 1) / std::uint64_t(run_.ranks),
                          PageMemory::page)),
          begin_(std::min(file_bytes_, share_ * std::uint64_t(run_.rank))),
          end_(std::min(file_bytes_, begin_ + share_)),
          memory_((end_ - begin_) / word_bytes) {
        file_ = Descriptor(::open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644));
        check(file_.get() >= 0 ? MPI_SUCCESS : MPI_ERR_IO, "opening the file of the ideal");
        auto const& hints = run_.options.hints;
        if (std::find(hints.begin(), hints.end(), "sluice_page_cache=direct") != hints.end())
            past_cache_ = open_past_cache(file_.get(), AccessMode::both);
        count_foreign(pattern);
    }
    ~Ideal() override {
        if (run_.rank == 0 && !run_.options.keep) ::unlink(path_.c_str());
    }

    void prepare(bool writes) override {
        if (writes) ++seed_;
        auto offset = begin_;
        for (double& word : memory_.words()) {
            word = writes ? word_at(offset, seed_) : untouched;
            offset += word_bytes;
        }
    }

    void start(bool writes) override {
        transfers_ = std::thread([this, writes] { transfer(writes); });
        if (node_count() > 1)
            messages_ = std::thread(
                [this, writes] { writes ? partner_.send(foreign_) : partner_.receive(foreign_); });
    }

    void test() override {}

    void wait() override {
        transfers_.join();
        if (messages_.joinable()) messages_.join();
        check(failed_ ? MPI_ERR_IO : MPI_SUCCESS, "a transfer of the ideal");
    }

    std::uint64_t wrong_bytes(bool writes) override {
        if (writes) return wrong_bytes_in_file(run_, path_, file_bytes_, seed_);
        std::uint64_t wrong = 0;
        auto offset = begin_;
        for (double const word : memory_.words()) {
            if (word != word_at(offset, seed_)) wrong += word_bytes;
            offset += word_bytes;
        }
        return sum_over_ranks(wrong);
    }

private:
    /// How many bytes of this rank's pieces, and of the partner's, lie in the share of a rank of
    /// another node.
    void count_foreign(Pattern const& pattern) {
        auto const& nodes = nodes_of_ranks();
        pattern.for_each_piece([&](std::uint64_t offset, std::uint64_t bytes) {
            while (bytes > 0) {
                auto const owner = offset / share_;
                auto const part = std::min(bytes, (owner + 1) * share_ - offset);
                if (nodes[owner] != nodes[std::size_t(run_.rank)]) foreign_ += part;
                offset += part, bytes -= part;
            }
        });
        // What this rank's chunks wait for, or cause, is the like of a rank on another node.
        std::vector<std::uint64_t> all(std::size_t(run_.ranks));
        MPI_Allgather(&foreign_, 1, MPI_UINT64_T, all.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
        received_ = all[std::size_t(partner_.sender())];
        sent_ = all[std::size_t(partner_.receiver())];
    }

    /// Chunk by chunk: what a chunk is made of has arrived before it is written, and what was read
    /// is sent. The last one, which may be empty, takes all that is left of the exchange.
    void transfer(bool writes) {
        auto const bytes = end_ - begin_, all = writes ? received_ : sent_;
        std::uint64_t done = 0, passed = 0;
        do {
            auto const part = std::min(chunk_bytes, bytes - done);
            auto const due = done + part == bytes ? all : all * (done + part) / bytes;
            if (writes) partner_.receive(due - passed);
            if (part > 0 && !move(done, part, writes)) failed_ = true;
            if (!writes) partner_.send(due - passed);
            done += part, passed = due;
        } while (done < bytes);
    }

    [[nodiscard]] bool move(std::uint64_t done, std::uint64_t bytes, bool writes) {
        bool const direct = past_cache_.get() >= 0 && bytes % PageMemory::page == 0;
        int const file = direct ? past_cache_.get() : file_.get();
        char* const memory = reinterpret_cast<char*>(memory_.words().data()) + done;
        auto const offset = off_t(begin_ + done);
        auto const moved =
            writes ? ::pwrite(file, memory, bytes, offset) : ::pread(file, memory, bytes, offset);
        if (moved <= 0) return false;
        return std::uint64_t(moved) == bytes ||
               move(done + std::uint64_t(moved), bytes - std::uint64_t(moved), writes);
    }

    Run const& run_;
    std::string path_;
    Descriptor file_, past_cache_;
    std::uint64_t file_bytes_, share_, begin_, end_;
    PageMemory memory_;
    Partner partner_;
    std::uint64_t foreign_ = 0, received_ = 0, sent_ = 0;
    std::uint64_t seed_ = 0;
    std::thread transfers_, messages_;
    bool failed_ = false;
};

}  // namespace

std::unique_ptr<Background> ideal_background(Run const& run, Pattern const& pattern) {
    return std::make_unique<Ideal>(run, pattern);
}

}  // namespace sluice::bench
