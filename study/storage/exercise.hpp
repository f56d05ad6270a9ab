// What is asked of the storage: transfers like the library's own, so many under way at once.
#pragma once
#include "storage/stored_file.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sluice::tools {

struct Exercise {
    char const* name;
    Bytes transfer_bytes;  ///< Of the file, from a transfer's first byte to its last.
    Bytes piece_bytes;     ///< Every second piece is left out where it is shorter.
    bool random;           ///< Else one transfer behind the other.
    int under_way;
};

[[nodiscard]] std::vector<Exercise> const& exercises();

/// Transfers of one exercise in a file, and the memory that they move.
class Trial {
public:
    /// The same seed asks for the same bytes.
    Trial(Exercise const& exercise, Bytes file_bytes, int transfers, std::uint64_t seed);

    /// Seconds until all are done. `generation` tells what is written, and what must be read;
    /// what is wrong is counted.
    double run(StoredFile& file, Direction direction, std::uint64_t generation);

    /// Rung by the file, perhaps a little after the last transfer is done.
    [[nodiscard]] std::function<void()> ringer() const;
    [[nodiscard]] std::int64_t wrong() const noexcept { return wrong_; }
    [[nodiscard]] Bytes bytes() const noexcept { return static_cast<Bytes>(memory_.size()) * 8; }

private:
    struct Doorbell;
    class Move;
    void fill(std::uint64_t generation);
    void verify(std::uint64_t generation);

    Exercise exercise_;
    std::vector<Offset> offsets_;  ///< Of pieces, a transfer's one behind the other.
    std::vector<std::uint64_t> memory_;
    std::size_t pieces_each_;
    std::int64_t wrong_ = 0;
    std::shared_ptr<Doorbell> doorbell_;
};

}  // namespace sluice::tools
