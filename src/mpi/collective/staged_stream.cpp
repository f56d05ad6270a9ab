// How streams on devices are found and copied. See staged_stream.hpp.
#include "mpi/collective/staged_stream.hpp"

#include "gpu/gpus.hpp"
#include "system/log.hpp"

#include <mpi.h>
#include <utility>

namespace sluice {

bool may_lie_on_device(void const* buffer, Blocks const& blocks) {
    if (blocks.bytes() == 0) return false;
    return buffer == MPI_BOTTOM ? has_gpu_driver() : device_of(blocks.contiguous(0, 1)) != nullptr;
}

void StagedStream::replace(Blocks& blocks) {
    warn("collectives between memories on a GPU pass memory of the host: an MPI that reaches the "
         "GPU may be faster with them");
    replaced_ = std::exchange(blocks, {});
    Bytes const bytes = replaced_.bytes();
    memory_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
    blocks.add(memory_.get(), bytes);
}

Error StagedStream::copy(Direction way) {
    if (replaced_.bytes() == 0) return {};
    auto const copy = mixed_memory().start(way, replaced_.rows(way, memory_.get()));
    copy->wait();
    return copy->error();
}

}  // namespace sluice
