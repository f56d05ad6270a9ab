// The doorbells of ranks that share memory as they were forked, or are threads.
#pragma once
#include "transport/doorbell.hpp"

namespace sluice {

/// As many words as there are ranks.
class CommonDoorbells final : public Doorbells {
public:
    explicit CommonDoorbells(EventCount* words) noexcept : words_(words) {}
    void ring(Rank local) override { notify(words_[local]); }

private:
    EventCount* words_;
};

}  // namespace sluice
