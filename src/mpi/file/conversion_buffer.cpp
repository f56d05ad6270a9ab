// Data is packed and unpacked in parts whose length an int can count. See conversion_buffer.hpp.
#include "mpi/file/conversion_buffer.hpp"

#include <algorithm>
#include <climits>
#include <dlfcn.h>

namespace sluice {
namespace {

constexpr Bytes bytes_converted_at_once = Bytes{1} << 30;

/// A function that only some MPIs have.
template <class Function> Function* find_extension(char const* name) noexcept {
    return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

/// Calls `convert(done, some, bytes)` for parts of `count` instances that an int can count.
template <class Convert> Status in_parts(MPI_Count count, Bytes instance_bytes, Convert&& convert) {
    if (count == 0 || instance_bytes == 0) return Status::ok;
    if (instance_bytes > INT_MAX) return Status::unsupported;
    MPI_Count const at_once = std::max<MPI_Count>(1, bytes_converted_at_once / instance_bytes);
    for (MPI_Count done = 0; done < count;) {
        MPI_Count const some = std::min(count - done, at_once);
        int const code =
            convert(done, static_cast<int>(some), static_cast<int>(some * instance_bytes));
        if (code != MPI_SUCCESS) return Status::unsupported;
        done += some;
    }
    return Status::ok;
}

}  // namespace

bool mpi_copies_device_memory() noexcept {
    constexpr int kinds = 3;  // MPIX_GPU_SUPPORT_CUDA, _ZE and _HIP.
    auto* const of_mpich = find_extension<int(int, int*)>("MPIX_GPU_query_support");
    for (int kind = 0; of_mpich && kind < kinds; ++kind) {
        int is_supported = 0;
        if (of_mpich(kind, &is_supported) == MPI_SUCCESS && is_supported) return true;
    }
    auto* const cuda = find_extension<int()>("MPIX_Query_cuda_support");
    auto* const rocm = find_extension<int()>("MPIX_Query_rocm_support");
    return (cuda && cuda() == 1) || (rocm && rocm() == 1);
}

ConversionBuffer::ConversionBuffer(ConversionSource const& source)
    : source_(source),
      external32_(source.representation == Representation::external32 ? external32_of(source.type)
                                                                      : nullptr),
      packed_bytes_(size_of(source.type)) {
    Bytes const bytes = external32_ ? external32_->bytes() : packed_bytes_;
    bytes_.resize(static_cast<std::size_t>(source.count * bytes));
    MPI_Count lower = 0;
    PMPI_Type_get_extent_x(source.type, &lower, &extent_);
    PMPI_Type_dup(source.type, &source_.type);  // The program may free its own before the end.
}

ConversionBuffer::~ConversionBuffer() { PMPI_Type_free(&source_.type); }

Bytes ConversionBuffer::in_memory(Bytes got) const {
    return external32_ ? external32_->packed_bytes(got) : got;
}

Status ConversionBuffer::pack() {
    if (!external32_) return pack(0, source_.count, bytes_.data());
    std::vector<std::byte> packed(static_cast<std::size_t>(source_.count * packed_bytes_));
    Status const status = pack(0, source_.count, packed.data());
    if (status != Status::ok) return status;
    bool const fit = external32_->from_memory(packed.data(), source_.count, bytes_.data());
    return fit ? Status::ok : Status::conversion;
}

Status ConversionBuffer::unpack(Bytes got) {
    Bytes const bytes = in_memory(got);
    std::vector<std::byte> converted;
    if (external32_) {
        converted.resize(static_cast<std::size_t>(bytes));
        external32_->to_memory(bytes_.data(), got, converted.data());
    }
    if (packed_bytes_ == 0) return Status::ok;
    std::byte* const packed = external32_ ? converted.data() : bytes_.data();
    MPI_Count const whole = bytes / packed_bytes_;
    Bytes const rest = bytes % packed_bytes_;
    Status const status = unpack(0, whole, packed);
    if (status != Status::ok || rest == 0) return status;
    return unpack_part(whole, packed + whole * packed_bytes_, rest);
}

Status ConversionBuffer::unpack_part(MPI_Count instance, std::byte const* packed,
                                     Bytes bytes) const {
    std::vector<std::byte> all(static_cast<std::size_t>(packed_bytes_));
    Status const status = pack(instance, 1, all.data());
    if (status != Status::ok) return status;
    std::copy(packed, packed + bytes, all.begin());
    return unpack(instance, 1, all.data());
}

Status ConversionBuffer::pack(MPI_Count first, MPI_Count count, std::byte* packed) const {
    return in_parts(count, packed_bytes_, [&](MPI_Count done, int some, int room) {
        int position = 0;
        return PMPI_Pack(at(first + done), some, source_.type, packed + done * packed_bytes_, room,
                         &position, source_.communicator);
    });
}

Status ConversionBuffer::unpack(MPI_Count first, MPI_Count count, std::byte* packed) const {
    return in_parts(count, packed_bytes_, [&](MPI_Count done, int some, int room) {
        int position = 0;
        return PMPI_Unpack(packed + done * packed_bytes_, room, &position, at(first + done), some,
                           source_.type, source_.communicator);
    });
}

std::byte* ConversionBuffer::at(MPI_Count instance) const noexcept {
    return static_cast<std::byte*>(source_.buffer) + instance * extent_;
}

}  // namespace sluice
