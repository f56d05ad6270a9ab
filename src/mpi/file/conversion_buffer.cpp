// Elements are first brought together, then converted, and the other way round. See
// conversion_buffer.hpp.
#include "mpi/file/conversion_buffer.hpp"

#include "file/run/user_copies.hpp"

namespace sluice {

ConversionBuffer::ConversionBuffer(ConversionSource const& source)
    : memory_(source.memory),
      count_(source.count),
      layout_(flatten(source.type)),
      external32_(source.in_file == Representation::external32 ? external32_of(source.type)
                                                               : nullptr),
      packed_bytes_(source.count * size_of(source.type)),
      bytes_(static_cast<std::size_t>(external32_ ? source.count * external32_->bytes()
                                                  : packed_bytes_)) {}

Error ConversionBuffer::pack() {
    if (!external32_)
        return copy_user(memory_, Direction::write, *layout_, bytes_.data(), packed_bytes_);
    std::vector<std::byte> packed(static_cast<std::size_t>(packed_bytes_));
    Error const error =
        copy_user(memory_, Direction::write, *layout_, packed.data(), packed_bytes_);
    if (error) return error;
    bool const fit = external32_->from_memory(packed.data(), count_, bytes_.data());
    return {.status = fit ? Status::ok : Status::conversion};
}

Error ConversionBuffer::unpack(Bytes got) {
    if (!external32_) return copy_user(memory_, Direction::read, *layout_, bytes_.data(), got);
    Bytes const bytes = in_memory(got);
    std::vector<std::byte> packed(static_cast<std::size_t>(bytes));
    external32_->to_memory(bytes_.data(), got, packed.data());
    return copy_user(memory_, Direction::read, *layout_, packed.data(), bytes);
}

}  // namespace sluice
