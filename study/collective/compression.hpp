// Parallel compression: every rank compresses its share of a file chunk by chunk, and rank 0
// gathers results whose sizes only their makers know.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "study/collective/applications.hpp"
#include "study/collective/codec.hpp"
#include "study/collective/computing.hpp"

namespace sluice::collectives {

class Compression {
public:
    /// Collective, as all of it.
    explicit Compression(Job const& job);
    Compression(Compression const&) = delete;
    Compression& operator=(Compression const&) = delete;
    ~Compression();

    /// Why there is nothing to compress; empty: there is.
    [[nodiscard]] std::string const& missing() const { return missing_; }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
    [[nodiscard]] int chunks() const { return chunks_; }

    double run(Mover const& mover);
    /// Compresses a few times with nobody who moves data. From then on it sleeps as long instead,
    /// and sends what it had.
    void fall_asleep(Mover const& alone);
    /// On rank 0: uncompresses what it gathered, and compares.
    [[nodiscard]] std::uint64_t wrong_bytes() const;
    /// Of all results that rank 0 gathered, in the last run.
    [[nodiscard]] std::uint64_t compressed_bytes() const;

private:
    /// One chunk of every rank, from compression to the end of its gather.
    struct Piece {
        std::vector<unsigned char> result{};  ///< Of this rank, unless it sleeps.
        unsigned char const* begin = nullptr;
        int size = 0;
        Request sizes_request{}, request{};
        bool has_sizes = false;
    };
    /// What rank 0 has of one chunk: all ranks' results, one after the other.
    struct Gathered {
        std::vector<unsigned char> bytes{};
        std::vector<int> sizes{}, places{};
        std::vector<MPI_Count> counts{};
    };

    [[nodiscard]] std::uint64_t begin_of(int rank, int chunk) const;
    [[nodiscard]] std::uint64_t length_of(int rank, int chunk) const;
    [[nodiscard]] std::vector<unsigned char> original(int rank, int chunk) const;
    [[nodiscard]] bool prepare_file();
    void make_room();
    void compress(Mover const& mover, int chunk);
    void breathe(Mover const& mover);
    void begin_gather(Mover const& mover, int chunk);
    void gather_data(Mover const& mover, int chunk);
    void end_gather(Mover const& mover, int chunk);
    Piece& piece(int chunk) { return pieces_[std::size_t(chunk) % pieces_.size()]; }

    Options const& options_;
    int rank_, ranks_, chunks_ = 0;
    int file_ = -1;
    std::uint64_t bytes_ = 0;
    std::string missing_;
    std::unique_ptr<Codec> codec_;
    Computing computing_;
    std::vector<std::vector<unsigned char>> share_;    ///< Of this rank, by chunk.
    std::vector<std::vector<unsigned char>> results_;  ///< Asleep: what would come out of each.
    std::vector<Piece> pieces_;
    std::vector<Gathered> gathered_;  ///< By chunk.
    int first_ = 0, next_ = 0;        ///< Chunks that are under way.
};

}  // namespace sluice::collectives
