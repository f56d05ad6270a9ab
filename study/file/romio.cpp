// Aggregators' times inside of ROMIO. See romio.hpp.
#include "study/file/romio.hpp"

#include <dlfcn.h>

namespace sluice::bench {

RomioTimes romio_times_so_far() {
    using Tell = RomioTimes const* (*)();
    auto const tell = reinterpret_cast<Tell>(dlsym(RTLD_DEFAULT, "romio_times"));
    return tell == nullptr ? RomioTimes{} : *tell();
}

void observe_romio(Sample& sample, RomioTimes const& before) {
    auto const now = romio_times_so_far();
    bool const aggregates = now.transfers > before.transfers;
    auto const aggregators = double(sum_over_ranks(aggregates ? 1 : 0));
    if (aggregators == 0) return;
    auto const mean = [&](auto part) {
        return total_over_ranks(aggregates ? double(now.*part - before.*part) : 0) / aggregators;
    };
    sample.transfers = mean(&RomioTimes::transfer);
    sample.messages = mean(&RomioTimes::shuffle);
    sample.meeting = mean(&RomioTimes::meeting);
    sample.iterations = mean(&RomioTimes::iterations);
    sample.copies = mean(&RomioTimes::call) - sample.transfers - sample.messages;
}

}  // namespace sluice::bench
