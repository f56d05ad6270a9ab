// A ConversionBuffer holds the bytes of a call as the file does, where the program's memory holds
// them in another form: numbers are not those of external32, or the MPI moves the bytes and does
// not reach the memory.
#pragma once
#include "base/error.hpp"
#include "mpi/datatype/datatype.hpp"
#include "schedule/port.hpp"

namespace sluice {

/// What the program's memory is: `count` instances of `type` from `memory` on.
struct ConversionSource {
    UserMemory memory;
    MPI_Count count;
    MPI_Datatype type;
    Representation in_file = Representation::external32;
};

class ConversionBuffer {
public:
    /// The datatype must have a form in the file's representation; the program may free it at once.
    explicit ConversionBuffer(ConversionSource const& source);

    /// For a write: the program's bytes as they are now. Blocks on a device whose memory it is.
    Error pack();
    /// After a read of `got` bytes: into the program's memory, which behind them stays as it was.
    /// Blocks likewise.
    Error unpack(Bytes got);

    [[nodiscard]] std::byte* data() noexcept { return bytes_.data(); }
    [[nodiscard]] Bytes bytes() const noexcept { return static_cast<Bytes>(bytes_.size()); }
    /// What `got` bytes of the image are in the program's memory: whole elements.
    [[nodiscard]] Bytes in_memory(Bytes got) const {
        return external32_ ? external32_->packed_bytes(got) : got;
    }

private:
    UserMemory memory_;
    MPI_Count count_;
    std::shared_ptr<Layout const> layout_;          ///< Of the program's memory.
    std::shared_ptr<External32 const> external32_;  ///< Null: the file is native.
    Bytes packed_bytes_;  ///< Of all instances, in the form of memory, without gaps.
    std::vector<std::byte> bytes_;
};

}  // namespace sluice
