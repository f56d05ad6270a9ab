// A ConversionBuffer holds the bytes of a call where the program's memory does not hold them as the
// file does: in external32, or in the memory of a device that only the MPI can reach. The MPI packs
// and unpacks.
#pragma once
#include "base/request.hpp"
#include "base/status.hpp"
#include "mpi/datatype/datatype.hpp"

namespace sluice {

/// What the program's memory is, and how the file is to hold it.
struct ConversionSource {
    void* buffer;
    MPI_Count count;
    MPI_Datatype type;
    Representation representation;
    MPI_Comm communicator;  ///< Any; MPI_Pack wants one.
};

class ConversionBuffer {
public:
    explicit ConversionBuffer(ConversionSource const& source);
    ~ConversionBuffer();
    ConversionBuffer(ConversionBuffer const&) = delete;
    ConversionBuffer& operator=(ConversionBuffer const&) = delete;

    /// For a write: the program's bytes as they are now.
    Status pack();
    /// After a read of `got` bytes: into the program's memory, which behind them stays as it was.
    Status unpack(Bytes got);

    [[nodiscard]] std::byte* data() noexcept { return bytes_.data(); }
    [[nodiscard]] Bytes bytes() const noexcept { return static_cast<Bytes>(bytes_.size()); }
    /// What `got` bytes of the image are in the program's memory: whole elements.
    [[nodiscard]] Bytes in_memory(Bytes got) const;

private:
    /// Packed bytes of `count` instances from the one with number `first`.
    Status pack(MPI_Count first, MPI_Count count, std::byte* packed) const;
    Status unpack(MPI_Count first, MPI_Count count, std::byte* packed) const;
    /// A part of instance number `instance`: the first bytes of `packed`.
    Status unpack_part(MPI_Count instance, std::byte const* packed, Bytes bytes) const;

    [[nodiscard]] std::byte* at(MPI_Count instance) const noexcept;

    ConversionSource source_;
    std::shared_ptr<External32 const> external32_;  ///< Null: as in memory, but packed.
    Bytes packed_bytes_;                            ///< Of one instance.
    MPI_Count extent_ = 0;
    std::vector<std::byte> bytes_;
};

/// Whether the MPI says that its MPI_Pack reads memory of devices. Local.
[[nodiscard]] bool mpi_copies_device_memory() noexcept;

}  // namespace sluice
