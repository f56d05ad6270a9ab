// Chunks, and the pipeline of their gathers. See compression.hpp.
#include "study/collective/compression.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "bench/measure/timing.hpp"

namespace sluice::collectives {
namespace {

/// Made-up text: words of a small vocabulary, by chance but the same for the same place.
std::vector<unsigned char> made_up_text(std::uint64_t place, std::uint64_t bytes) {
    std::uint64_t x = place * 2654435761U + 12345;
    auto const next = [&] {
        x = x * 6364136223846793005U + 1442695040888963407U;
        return x >> 40;
    };
    std::vector<unsigned char> text;
    while (text.size() < bytes) {
        auto const word = next() % 2000;
        auto const length = 2 + word % 9;
        for (std::uint64_t i = 0; i < length; ++i)
            text.push_back(static_cast<unsigned char>('a' + (word * 31 + i * i * 7 + i) % 26));
        text.push_back(next() % 12 == 0 ? '\n' : ' ');
    }
    text.resize(bytes);
    return text;
}

}  // namespace

Compression::Compression(Job const& job)
    : options_(job.options),
      rank_(job.run.rank),
      ranks_(job.run.ranks),
      bytes_(job.options.text_bytes),
      codec_(codec_named(options_.codec, options_.level, missing_)) {
    if (!codec_ || !prepare_file()) return;
    auto const share = bytes_ / std::uint64_t(ranks_) + 1;
    chunks_ = int((share + options_.chunk_bytes - 1) / options_.chunk_bytes);
    for (int chunk = 0; chunk < chunks_; ++chunk) share_.push_back(original(rank_, chunk));
    make_room();
}

Compression::~Compression() {
    if (file_ >= 0) close(file_);
}

/// Whether all ranks can read it.
bool Compression::prepare_file() {
    if (!options_.file.empty()) {
        file_ = open(options_.file.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat state{};
        if (file_ < 0 || fstat(file_, &state) != 0)
            missing_ = options_.file + ": " + std::strerror(errno);
        bytes_ = std::uint64_t(state.st_size);
    }
    if (bench::sum_over_ranks(missing_.empty() ? 0 : 1) > 0 && missing_.empty())
        missing_ = options_.file + ": another rank cannot read it";
    return missing_.empty();
}

void Compression::make_room() {
    auto const largest = codec_->most_of(options_.chunk_bytes);
    pieces_.resize(std::size_t(options_.outstanding) + 1);
    for (auto& piece : pieces_) piece.result.resize(largest);
    gathered_.resize(rank_ == 0 ? std::size_t(chunks_) : 0);
    for (auto& gathered : gathered_) {
        gathered.bytes.resize(largest * std::size_t(ranks_));
        gathered.sizes.resize(std::size_t(ranks_));
        gathered.places.resize(std::size_t(ranks_));
        gathered.counts.resize(std::size_t(ranks_));
    }
}

std::uint64_t Compression::begin_of(int rank, int chunk) const {
    auto const share = bytes_ * std::uint64_t(rank) / std::uint64_t(ranks_);
    auto const end = bytes_ * std::uint64_t(rank + 1) / std::uint64_t(ranks_);
    return std::min(share + std::uint64_t(chunk) * options_.chunk_bytes, end);
}

std::uint64_t Compression::length_of(int rank, int chunk) const {
    return begin_of(rank, chunk + 1) - begin_of(rank, chunk);
}

std::vector<unsigned char> Compression::original(int rank, int chunk) const {
    auto const begin = begin_of(rank, chunk), length = length_of(rank, chunk);
    if (file_ < 0) return made_up_text(begin, length);
    std::vector<unsigned char> bytes(length);
    auto const got = pread(file_, bytes.data(), length, off_t(begin));
    bench::check(got == ssize_t(length) ? MPI_SUCCESS : MPI_ERR_IO, "reading the file");
    return bytes;
}

void Compression::breathe(Mover const& mover) {
    if (!mover.tests) return;
    for (int chunk = first_; chunk < next_; ++chunk) {
        auto& one = piece(chunk);
        mover.service->test(one.has_sizes ? one.request : one.sizes_request);
    }
}

/// With tests in between the codec gets the chunk in parts.
void Compression::compress(Mover const& mover, int chunk) {
    constexpr int parts_when_testing = 8;
    auto& one = piece(chunk);
    int const parts = mover.tests ? parts_when_testing : 1;
    auto const breathe_now = [&] { breathe(mover); };
    if (computing_.asleep()) {
        auto const& result = results_[std::size_t(chunk)];
        one.begin = result.data(), one.size = int(result.size());
        return computing_.run({0, chunk}, parts, [](int) {}, breathe_now);
    }
    one.begin = one.result.data();
    computing_.run(
        {0, chunk}, 1,
        [&](int) {
            one.size = int(codec_->compress(share_[std::size_t(chunk)], one.result.data(), parts,
                                            breathe_now));
        },
        [] {});
}

void Compression::fall_asleep(Mover const& alone) {
    constexpr int looks = 3;
    run(alone);
    computing_.take_notes();
    for (int i = 0; i < looks; ++i) run(alone);
    for (auto const& chunk : share_) {
        auto& result = results_.emplace_back(codec_->most_of(chunk.size()));
        result.resize(codec_->compress(chunk, result.data(), 1, [] {}));
    }
    computing_.fall_asleep();
}

void Compression::begin_gather(Mover const& mover, int chunk) {
    auto& one = piece(chunk);
    auto* const to = rank_ == 0 ? &gathered_[std::size_t(chunk)] : nullptr;
    one.has_sizes = mover.one_operation;
    ++next_;
    if (mover.one_operation) {
        one.request = mover.service->gather_results(
            one.begin, one.size, to ? to->bytes.data() : nullptr,
            to ? MPI_Count(to->bytes.size()) : 0, to ? to->counts.data() : nullptr, MPI_COMM_WORLD);
        return;
    }
    one.sizes_request =
        mover.service->gather_sizes(&one.size, to ? to->sizes.data() : nullptr, MPI_COMM_WORLD);
    if (!mover.hides_sizes) gather_data(mover, chunk);
}

/// Waits for the sizes.
void Compression::gather_data(Mover const& mover, int chunk) {
    auto& one = piece(chunk);
    if (one.has_sizes) return;
    mover.service->wait(one.sizes_request);
    one.has_sizes = true;
    auto* const to = rank_ == 0 ? &gathered_[std::size_t(chunk)] : nullptr;
    for (int rank = 0, place = 0; to && rank < ranks_; ++rank) {
        to->places[std::size_t(rank)] = place;
        place += to->sizes[std::size_t(rank)];
    }
    one.request = mover.service->gather(one.begin, one.size, to ? to->bytes.data() : nullptr,
                                        to ? to->sizes.data() : nullptr,
                                        to ? to->places.data() : nullptr, MPI_COMM_WORLD);
}

void Compression::end_gather(Mover const& mover, int chunk) {
    gather_data(mover, chunk);
    mover.service->wait(piece(chunk).request);
    ++first_;
    if (rank_ != 0 || !mover.one_operation) return;
    auto& gathered = gathered_[std::size_t(chunk)];
    for (std::size_t rank = 0; rank < gathered.sizes.size(); ++rank)
        gathered.sizes[rank] = int(gathered.counts[rank]);
}

double Compression::run(Mover const& mover) {
    for (auto& gathered : gathered_) {
        std::fill(gathered.bytes.begin(), gathered.bytes.end(), 0);
        std::fill(gathered.sizes.begin(), gathered.sizes.end(), 0);
    }
    first_ = next_ = 0;
    return bench::time_together([&] {
        for (int chunk = 0; chunk < chunks_; ++chunk) {
            compress(mover, chunk);
            // All ranks begin the second gather of a chunk at the same place in their order.
            if (mover.hides_sizes && chunk > 0) gather_data(mover, chunk - 1);
            if (next_ - first_ == options_.outstanding) end_gather(mover, first_);
            begin_gather(mover, chunk);
        }
        while (first_ < next_) end_gather(mover, first_);
    });
}

std::uint64_t Compression::wrong_bytes() const {
    std::uint64_t wrong = 0;
    for (int chunk = 0; rank_ == 0 && chunk < chunks_; ++chunk) {
        auto const& gathered = gathered_[std::size_t(chunk)];
        std::size_t place = 0;
        for (int rank = 0; rank < ranks_; ++rank) {
            auto const expected = original(rank, chunk);
            auto const size = std::size_t(gathered.sizes[std::size_t(rank)]);
            bool const right = size <= gathered.bytes.size() - place &&
                               codec_->restores({gathered.bytes.data() + place, size}, expected);
            if (!right) wrong += std::max<std::size_t>(expected.size(), 1);
            place += std::min(size, gathered.bytes.size() - place);
        }
    }
    return bench::sum_over_ranks(wrong);
}

std::uint64_t Compression::compressed_bytes() const {
    std::uint64_t bytes = 0;
    for (auto const& gathered : gathered_)
        for (int const size : gathered.sizes) bytes += std::uint64_t(size);
    return bench::sum_over_ranks(bytes);
}

}  // namespace sluice::collectives
