// Packing and unpacking in parts that an int can count. See image.hpp.
#include "api/image.hpp"

#include <algorithm>
#include <climits>
#include <dlfcn.h>

namespace sluice {
namespace {

constexpr char const* external = "external32";
constexpr Bytes bytes_at_once = Bytes{1} << 30;

/// cuPointerGetAttribute and its like in HIP: an int, zero for success.
using AskPointer = int (*)(void*, int, unsigned long long);
constexpr int memory_type_attribute = 2;
constexpr unsigned memory_type_device = 2;

bool device_says(AskPointer ask, void const* memory) noexcept {
    unsigned type = 0;
    auto const address = reinterpret_cast<unsigned long long>(memory);
    return ask && ask(&type, memory_type_attribute, address) == 0 && type == memory_type_device;
}

AskPointer find_runtime(char const* name) noexcept {
    return reinterpret_cast<AskPointer>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

bool is_device_memory(void const* memory) noexcept {
    if (memory == nullptr) return false;
    static AskPointer const cuda = find_runtime("cuPointerGetAttribute");
    static AskPointer const hip = find_runtime("hipPointerGetAttribute");
    return device_says(cuda, memory) || device_says(hip, memory);
}

Image::Image(ImageSource const& source)
    : source_(source),
      instance_bytes_(size_of(source.type, source.representation)),
      memory_bytes_(size_of(source.type)),
      bytes_(static_cast<std::size_t>(source.count * instance_bytes_)) {
    MPI_Count lower = 0;
    PMPI_Type_get_extent_x(source.type, &lower, &extent_);
    PMPI_Type_dup(source.type, &source_.type);  // The program may free its own before the end.
}

Image::~Image() { PMPI_Type_free(&source_.type); }

Bytes Image::in_memory(Bytes got) const noexcept {
    if (instance_bytes_ == 0) return 0;
    Bytes const whole = got / instance_bytes_, rest = got % instance_bytes_;
    return whole * memory_bytes_ + rest * memory_bytes_ / instance_bytes_;
}

Status Image::pack() { return convert(Way::pack, bytes_); }

Status Image::unpack(Bytes got) {
    if (got < bytes()) {  // What was not read must come out as it is in the memory now.
        std::vector<std::byte> before(bytes_.size());
        if (Status const status = convert(Way::pack, before); status != Status::ok) return status;
        std::copy(before.begin() + got, before.end(), bytes_.begin() + got);
    }
    return convert(Way::unpack, bytes_);
}

Status Image::convert(Way way, std::vector<std::byte>& image) const {
    if (image.empty()) return Status::ok;
    Bytes const largest = std::max(instance_bytes_, memory_bytes_);
    if (largest > INT_MAX) return Status::unsupported;
    MPI_Count const at_once = std::max<MPI_Count>(1, bytes_at_once / largest);
    for (MPI_Count done = 0; done < source_.count;) {
        MPI_Count const some = std::min(source_.count - done, at_once);
        int const code =
            convert_some(way, static_cast<std::byte*>(source_.buffer) + done * extent_,
                         static_cast<int>(some), image.data() + done * instance_bytes_);
        if (code != MPI_SUCCESS) return Status::unsupported;
        done += some;
    }
    return Status::ok;
}

int Image::convert_some(Way way, std::byte* memory, int count, std::byte* image) const {
    auto const room = count * instance_bytes_;
    if (source_.representation == Representation::external32) {
        MPI_Aint position = 0;
        return way == Way::pack ? PMPI_Pack_external(external, memory, count, source_.type, image,
                                                     room, &position)
                                : PMPI_Unpack_external(external, image, room, &position, memory,
                                                       count, source_.type);
    }
    int position = 0;
    auto const bytes = static_cast<int>(room);
    return way == Way::pack ? PMPI_Pack(memory, count, source_.type, image, bytes, &position,
                                        source_.communicator)
                            : PMPI_Unpack(image, bytes, &position, memory, count, source_.type,
                                          source_.communicator);
}

}  // namespace sluice
