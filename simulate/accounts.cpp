// How time is sorted into parts. See accounts.hpp.
#include "simulate/accounts.hpp"

#include <algorithm>
#include <utility>

namespace sluice::simulated {
namespace {

constexpr double Parts::* fields[] = {&Parts::total,  &Parts::metadata, &Parts::computation,
                                      &Parts::data,   &Parts::storage,  &Parts::both,
                                      &Parts::waiting};

}  // namespace

void Parts::add(Parts const& other) noexcept {
    for (auto const field : fields) this->*field += other.*field;
}

void Parts::raise_to(Parts const& other) noexcept {
    for (auto const field : fields) this->*field = std::max(this->*field, other.*field);
}

void Account::pass(double now) noexcept {
    double const since = std::exchange(last_, now);
    if (stage_ == Stage::complete || stage_ == Stage::waiting || now <= since) return;
    double const computing = std::clamp(busy_until_ - since, 0.0, now - since);
    double const rest = now - since - computing;
    parts_.total += now - since;
    parts_.computation += computing;
    bool const data = messages_ > 0, storage = transfers_ > 0;
    double Parts::* const where = stage_ < Stage::exchange     ? &Parts::metadata
                                  : stage_ == Stage::agreement ? &Parts::waiting
                                  : data && storage            ? &Parts::both
                                  : data                       ? &Parts::data
                                  : storage                    ? &Parts::storage
                                                               : &Parts::waiting;
    parts_.*where += rest;
}

}  // namespace sluice::simulated
