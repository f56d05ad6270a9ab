// Where the counters lie, and how they take turns. See shared_file_pointer.hpp.
#include "transport/shared_file_pointer.hpp"

namespace sluice {

std::size_t SharedFilePointer::bytes_needed(Rank ranks) noexcept {
    return sizeof(Counters) + NodeReduction::bytes_needed(ranks);
}

SharedFilePointer::SharedFilePointer(std::byte* memory, Rank self, Rank ranks,
                                     Doorbells& doorbells) noexcept
    : meeting(memory + sizeof(Counters), self, ranks, doorbells),
      counters_(*reinterpret_cast<Counters*>(memory)) {}

std::int64_t SharedFilePointer::position() const noexcept { return counter().load(); }

void SharedFilePointer::restart() noexcept {
    counter().store(0);
    turn_ = 1 - turn_;
}

}  // namespace sluice
