// The bells of ranks that share memory as they were forked, or are threads.
#pragma once
#include "transport/bell.hpp"

namespace sluice {

/// As many words as there are ranks.
class CommonBells final : public Bells {
public:
    explicit CommonBells(BellWord* words) noexcept : words_(words) {}
    void ring(Rank local) override { sluice::ring(words_[local]); }

private:
    BellWord* words_;
};

}  // namespace sluice
