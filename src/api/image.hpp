// The bytes of a call in memory of our own, where the program's memory does not hold them as the
// file does: in external32, or in a device that only the MPI can reach. The MPI converts.
#pragma once
#include "api/datatype.hpp"
#include "core/request.hpp"
#include "core/status.hpp"

namespace sluice {

/// What the program's memory is, and how the file is to hold it.
struct ImageSource {
    void* buffer;
    MPI_Count count;
    MPI_Datatype type;
    Representation representation;
    MPI_Comm communicator;  ///< Any; MPI_Pack wants one.
};

class Image {
public:
    explicit Image(ImageSource const& source);
    ~Image();
    Image(Image const&) = delete;
    Image& operator=(Image const&) = delete;

    /// For a write: the program's bytes as they are now.
    Status pack();
    /// After a read of `got` bytes: into the program's memory, which behind them stays as it was.
    Status unpack(Bytes got);

    [[nodiscard]] std::byte* data() noexcept { return bytes_.data(); }
    [[nodiscard]] Bytes bytes() const noexcept { return static_cast<Bytes>(bytes_.size()); }
    /// `got` bytes of the image in bytes of the program's memory.
    [[nodiscard]] Bytes in_memory(Bytes got) const noexcept;

private:
    enum class Way : std::uint8_t { pack, unpack };
    Status convert(Way way, std::vector<std::byte>& image) const;
    int convert_some(Way way, std::byte* memory, int count, std::byte* image) const;

    ImageSource source_;
    Bytes instance_bytes_, memory_bytes_;  ///< Of one instance of the type: here, and in memory.
    MPI_Count extent_ = 0;
    std::vector<std::byte> bytes_;
};

/// Whether the memory is a device's. Asks the device's runtime, if the program has loaded one.
[[nodiscard]] bool is_device_memory(void const* memory) noexcept;

}  // namespace sluice
