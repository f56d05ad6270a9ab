// What users write where collective calls disappoint them: MPI_Alltoallv, and one contiguous POSIX
// transfer of each rank (pmodels/mpich#7935). Each rank has an even part of the file. Who sends
// what is worked out beforehand, as such programs do it, and is not timed.
#include "bench/file/contender.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace sluice::bench {
namespace {

/// Words that follow each other in the file.
struct Stretch {
    std::uint64_t first, words;
};

/// What MPI_Alltoallv is told of one side, in items.
struct Counts {
    explicit Counts(std::vector<int> each) : counts(std::move(each)), begins(counts.size()) {
        for (std::size_t i = 1; i < counts.size(); ++i) begins[i] = begins[i - 1] + counts[i - 1];
    }
    [[nodiscard]] std::size_t all() const {
        return std::size_t(begins.back()) + std::size_t(counts.back());
    }

    std::vector<int> counts, begins;
};

void exchange(void const* from, Counts const& sent, void* to, Counts const& received,
              MPI_Datatype type) {
    check(MPI_Alltoallv(from, sent.counts.data(), sent.begins.data(), type, to,
                        received.counts.data(), received.begins.data(), type, MPI_COMM_WORLD),
          "MPI_Alltoallv");
}

/// Calls `visit(place in memory, words)` for all that a rank has, in the order of the file.
template <class Visit> void for_each_copy(Pattern const& pattern, Visit&& visit) {
    for (int row = 0; row < pattern.rows(); ++row) {
        auto const begin = std::size_t(row) * pattern.memory_words();
        pattern.for_each_copy(
            [&](std::uint64_t place, std::uint64_t words) { visit(begin + place, words); });
    }
}

class ByHand : public Contender {
public:
    ByHand(std::string called, std::string file_path) {
        name = std::move(called), path = std::move(file_path);
    }
    ~ByHand() override { ByHand::close(); }

    void prepare(Pattern const& pattern) override {
        auto const [own, pieces, words] = pieces_by_part(pattern);
        Counts const sent_pieces(pieces), received_pieces(of_others(pieces));
        sent_ = Counts(words), received_ = Counts(of_others(words));
        MPI_Datatype stretch = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(2, MPI_UINT64_T, &stretch);
        MPI_Type_commit(&stretch);
        stretches_.resize(received_pieces.all());
        exchange(own.data(), sent_pieces, stretches_.data(), received_pieces, stretch);
        MPI_Type_free(&stretch);
        part_.resize(begin_of(rank_ + 1) - begin_of(rank_));
        arrived_.resize(received_.all());
        has_gaps_ = pattern.memory != MPI_DOUBLE;
        packed_.resize(has_gaps_ ? sent_.all() : 0);
    }
    void open(Run const&, Pattern const&) override {
        file_ = ::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
        check(file_ >= 0 ? MPI_SUCCESS : MPI_ERR_IO, "opening the file of the exchange by hand");
    }
    void rewind() override {}
    void access(Pattern const& pattern, std::span<double> memory, bool writes) override {
        writes ? write(pattern, memory) : read(pattern, memory);
    }
    void close() override {
        if (file_ >= 0) ::close(std::exchange(file_, -1));
    }
    std::uint64_t wrong_in_file(Run const& run, Pattern const& pattern,
                                std::uint64_t seed) override {
        return pattern.wrong_in_file(run, path, seed);
    }
    void provide_file(Run const& run, Pattern const& pattern, std::span<double>,
                      std::uint64_t seed) override {
        write_file(run, pattern, path, seed);
        prepare(pattern);
    }

private:
    struct Pieces {
        std::vector<Stretch> all;
        std::vector<int> pieces, words;  ///< For each part.
    };

    /// The first word of a rank's part.
    [[nodiscard]] std::uint64_t begin_of(int rank) const {
        return share_begin(file_words_, rank, ranks_);
    }

    Pieces pieces_by_part(Pattern const& pattern) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_), MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
        file_words_ = pattern.file_bytes() / word_bytes;
        Pieces found{
            {}, std::vector<int>(std::size_t(ranks_)), std::vector<int>(std::size_t(ranks_))};
        int part = 0;
        pattern.for_each_piece([&](std::uint64_t offset, std::uint64_t bytes) {
            auto first = offset / word_bytes, left = bytes / word_bytes;
            while (left > 0) {
                while (begin_of(part + 1) <= first) ++part;
                auto const words = std::min(left, begin_of(part + 1) - first);
                found.all.push_back({first, words});
                found.pieces[std::size_t(part)] += 1, found.words[std::size_t(part)] += int(words);
                first += words, left -= words;
            }
        });
        return found;
    }

    [[nodiscard]] std::vector<int> of_others(std::vector<int> const& own) const {
        std::vector<int> theirs(own.size());
        check(MPI_Alltoall(own.data(), 1, MPI_INT, theirs.data(), 1, MPI_INT, MPI_COMM_WORLD),
              "MPI_Alltoall");
        return theirs;
    }

    void write(Pattern const& pattern, std::span<double> memory) {
        if (has_gaps_) {
            auto* to = packed_.data();
            for_each_copy(pattern, [&](std::uint64_t place, std::uint64_t words) {
                to = std::copy_n(memory.data() + place, words, to);
            });
        }
        exchange(has_gaps_ ? packed_.data() : memory.data(), sent_, arrived_.data(), received_,
                 MPI_DOUBLE);
        auto const* from = arrived_.data();
        for (auto const& one : stretches_) {
            std::copy_n(from, one.words, part_.data() + (one.first - begin_of(rank_)));
            from += one.words;
        }
        transfer(true);
    }

    void read(Pattern const& pattern, std::span<double> memory) {
        transfer(false);
        auto* to = arrived_.data();
        for (auto const& one : stretches_)
            to = std::copy_n(part_.data() + (one.first - begin_of(rank_)), one.words, to);
        exchange(arrived_.data(), received_, has_gaps_ ? packed_.data() : memory.data(), sent_,
                 MPI_DOUBLE);
        if (!has_gaps_) return;
        auto const* from = packed_.data();
        for_each_copy(pattern, [&](std::uint64_t place, std::uint64_t words) {
            std::copy_n(from, words, memory.data() + place);
            from += words;
        });
    }

    /// Of this rank's part, by as many calls as the system takes for it.
    void transfer(bool writes) {
        auto* at = reinterpret_cast<char*>(part_.data());
        auto offset = off_t(begin_of(rank_) * word_bytes);
        auto left = part_.size() * word_bytes;
        while (left > 0) {
            auto const moved =
                writes ? ::pwrite(file_, at, left, offset) : ::pread(file_, at, left, offset);
            check(moved > 0 ? MPI_SUCCESS : MPI_ERR_IO, "a transfer of the exchange by hand");
            at += moved, offset += moved, left -= std::size_t(moved);
        }
    }

    int file_ = -1, rank_ = 0, ranks_ = 1;
    std::uint64_t file_words_ = 0;
    bool has_gaps_ = false;                        ///< In memory.
    Counts sent_{{0}}, received_{{0}};             ///< Words, when the file is written.
    std::vector<Stretch> stretches_;               ///< Of all ranks, in this rank's part.
    std::vector<double> part_, arrived_, packed_;  ///< In the order of the file, of ranks, of ours.
};

}  // namespace

std::unique_ptr<Contender> by_hand_contender(std::string name, std::string path) {
    return std::make_unique<ByHand>(std::move(name), std::move(path));
}

}  // namespace sluice::bench
