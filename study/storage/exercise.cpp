// Running them. See exercise.hpp.
#include "study/storage/exercise.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <numeric>
#include <random>

namespace sluice::tools {
namespace {

constexpr Bytes window = Bytes{1} << 20, page = 4096;

/// What stands at a place of the file after a write.
std::uint64_t word_at(Offset offset, std::uint64_t generation) noexcept {
    return (static_cast<std::uint64_t>(offset) + 1) * 0x9E3779B97F4A7C15U + generation;
}

}  // namespace

std::vector<Exercise> const& exercises() {
    static std::vector<Exercise> const all{
        {"windows of 1 MiB", window, window, false, 4},
        {"windows, every 2nd page", window, page, false, 4},
        {"random 64 KiB", 16 * page, 16 * page, true, 8},
        {"random 4 KiB", page, page, true, 8},
        {"4 KiB, one by one", page, page, true, 1},
    };
    return all;
}

struct Trial::Doorbell {
    std::mutex mutex;
    std::condition_variable rung;
    std::int64_t rings = 0;
};

/// One transfer of a trial.
class Trial::Move final : public Transfer {
public:
    Move(Trial& trial, Direction way, std::size_t number)
        : Transfer(way),
          trial_(trial),
          next_(number * trial.pieces_each_),
          end_(next_ + trial.pieces_each_) {}
    std::optional<Segment> next() override {
        if (next_ == end_) return std::nullopt;
        auto const piece = next_++;
        auto const words = static_cast<std::size_t>(trial_.exercise_.piece_bytes / 8);
        auto* const memory = reinterpret_cast<std::byte*>(&trial_.memory_[piece * words]);
        return Segment{trial_.offsets_[piece], memory, trial_.exercise_.piece_bytes};
    }

private:
    Trial& trial_;
    std::size_t next_, end_;
};

Trial::Trial(Exercise const& exercise, Bytes file_bytes, int transfers, std::uint64_t seed)
    : exercise_(exercise),
      pieces_each_(1),
      doorbell_(std::make_shared<Doorbell>()) {
    bool const whole = exercise.piece_bytes == exercise.transfer_bytes;
    if (!whole) pieces_each_ = static_cast<std::size_t>(window / exercise.piece_bytes / 2);
    std::vector<Offset> places(static_cast<std::size_t>(file_bytes / exercise.transfer_bytes));
    std::iota(places.begin(), places.end(), 0);
    std::mt19937_64 random(seed);
    if (exercise.random) std::shuffle(places.begin(), places.end(), random);
    places.resize(std::min(places.size(), static_cast<std::size_t>(transfers)));
    for (Offset const place : places) {
        for (std::size_t piece = 0; piece < pieces_each_; ++piece) {
            offsets_.push_back(place * exercise.transfer_bytes +
                               2 * static_cast<Offset>(piece) * exercise.piece_bytes);
        }
    }
    memory_.resize(offsets_.size() * static_cast<std::size_t>(exercise.piece_bytes / 8));
}

std::function<void()> Trial::ringer() const {
    return [doorbell = doorbell_] {
        std::lock_guard const lock(doorbell->mutex);
        ++doorbell->rings;
        doorbell->rung.notify_one();
    };
}

double Trial::run(StoredFile& file, Direction direction, std::uint64_t generation) {
    if (direction == Direction::write)
        fill(generation);
    else
        std::fill(memory_.begin(), memory_.end(), 0);
    std::size_t const count = offsets_.size() / pieces_each_;
    std::deque<Move> moves;
    doorbell_->rings = 0;
    auto const begin = std::chrono::steady_clock::now();
    auto const wait_until = [&](std::size_t done) {
        std::unique_lock lock(doorbell_->mutex);
        doorbell_->rung.wait(lock,
                             [&] { return doorbell_->rings >= static_cast<std::int64_t>(done); });
    };
    for (std::size_t i = 0; i < count; ++i) {
        auto const most = static_cast<std::size_t>(exercise_.under_way);
        if (i >= most) wait_until(i - most + 1);
        file.start(moves.emplace_back(*this, direction, i));
    }
    wait_until(count);
    std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - begin;
    Bytes const each = exercise_.piece_bytes * static_cast<Bytes>(pieces_each_);
    for (Move const& move : moves) {
        if (move.status() != Status::ok || move.bytes != each) ++wrong_;
    }
    if (direction == Direction::read) verify(generation);
    return seconds.count();
}

void Trial::fill(std::uint64_t generation) {
    std::size_t at = 0;
    for (Offset const offset : offsets_) {
        for (Bytes b = 0; b < exercise_.piece_bytes; b += 8)
            memory_[at++] = word_at(offset + b, generation);
    }
}

void Trial::verify(std::uint64_t generation) {
    std::size_t at = 0;
    for (Offset const offset : offsets_) {
        for (Bytes b = 0; b < exercise_.piece_bytes; b += 8)
            if (memory_[at++] != word_at(offset + b, generation)) ++wrong_;
    }
}

}  // namespace sluice::tools
