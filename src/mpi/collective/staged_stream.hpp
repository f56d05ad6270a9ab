// A StagedStream is memory of the host in place of a collective's stream of bytes that lies on
// devices. Each rank stages by itself, so that some of them may have their memory on devices, and
// others not.
#pragma once
#include "base/error.hpp"
#include "base/request.hpp"
#include "collective/blocks.hpp"

#include <memory>

namespace sluice {

/// Whether blocks of `buffer`, an argument of the call, may lie on devices. A buffer is one
/// allocation; of MPI_BOTTOM the datatypes have addresses, which may lie in several memories.
[[nodiscard]] bool may_lie_on_device(void const* buffer, Blocks const& blocks);

class StagedStream {
public:
    /// Puts memory of the host, without content, in place of the blocks.
    void replace(Blocks& blocks);
    /// Brings the bytes of the replaced blocks to the host, or back; nothing where none were
    /// replaced. Block on the device.
    Error fetch() { return copy(Direction::write); }
    Error bring_back() { return copy(Direction::read); }

private:
    Error copy(Direction way);

    Blocks replaced_;
    std::unique_ptr<std::byte[]> memory_;
};

}  // namespace sluice
