// The doorbells of ranks that share memory as they were forked, or are threads.
#pragma once
#include "transport/doorbell.hpp"

namespace sluice {

/// As many words as there are ranks.
class CommonDoorbells final : public Doorbells {
public:
    explicit CommonDoorbells(DoorbellWord* words) noexcept : words_(words) {}
    void ring(Rank local) override { sluice::ring(words_[local]); }

private:
    DoorbellWord* words_;
};

}  // namespace sluice
