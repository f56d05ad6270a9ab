// A stream of the program: what it gives to a GPU there is done one after the other.
#pragma once
#include <cstdint>

namespace sluice {

struct ProgramStream {
    enum class Type : std::uint8_t { none, cuda, hip };
    Type type = Type::none;
    /// A cudaStream_t or CUstream, or a hipStream_t. Zero is a stream, too.
    std::uintptr_t handle = 0;
    bool operator==(ProgramStream const&) const = default;
};

}  // namespace sluice
