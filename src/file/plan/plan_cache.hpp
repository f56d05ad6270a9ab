// The PlanCache keeps plans that were used before, with the claims of all ranks, so that an
// operation of the same pattern needs no exchange of claims. It also finds the same pattern at
// another offset, or in the next file of the operation queue, if its domains move along as a whole.
// What is kept and found depends on the merged summary alone, so it is equal on all ranks. Pure.
#pragma once
#include "file/plan/sources.hpp"

#include <vector>

namespace sluice {

/// What all that take part in an exchange claim, as far as this rank must know.
struct Claims {
    bool complete = false;   ///< Others' are known too.
    std::vector<Claim> own;  ///< By aggregator.
    std::vector<std::vector<Claim>>
        local;                    ///< [aggregator][rank of the node]; local aggregators only.
    std::vector<Source> sources;  ///< Aggregators only, in the order of delivery. 56 bytes each:
                                  ///< with one layer that many for each rank of other nodes.
};

/// A request without its place: two requests of one plan key differ by a shift in the file.
class PlanKey {
public:
    PlanKey() = default;
    explicit PlanKey(Request const& request);

    [[nodiscard]] Offset place() const noexcept { return place_; }
    /// Holds no layout alive: one that is gone is like nothing.
    [[nodiscard]] bool same_as(PlanKey const& other) const noexcept;

private:
    std::weak_ptr<Layout const> filetype_;
    Bytes position_ = 0;  ///< In the tile.
    Bytes bytes_ = 0;
    Offset place_ = 0;  ///< Of the tile that holds the position, in the file.
};

class PlanCache {
public:
    /// What this rank remembers of a request, for the exchange of summaries.
    [[nodiscard]] PlanLookup plan_lookup(Request const& request) const;

    /// The claims of a plan, where all ranks remember the same one at the same distance.
    /// Maybe not complete yet. What is found is kept longest.
    [[nodiscard]] std::shared_ptr<Claims> find(PlanLookup const& all, Plan const& plan);

    /// The weights with which the plan was decided that all ranks remember: bytes that all lie at
    /// the same distance have the same. Null where there are none.
    [[nodiscard]] std::shared_ptr<Weights const> weights(PlanLookup const& all) const;

    /// `operation` is the operation queue's number of it. All ranks store the same operations, in
    /// the order in which they plan them.
    void store(std::int64_t operation, Request const& request, Plan const& plan,
               std::shared_ptr<Claims> claims, std::shared_ptr<Weights const> weights = {});

private:
    struct Entry {
        std::int64_t operation;
        PlanKey plan_key;
        Plan plan;
        std::shared_ptr<Claims> claims;
        std::shared_ptr<Weights const> weights;
    };
    std::vector<Entry> entries_;  ///< Those used last come first.
};

/// The same plan `distance` bytes further on.
[[nodiscard]] Plan shifted(Plan plan, Offset distance);

}  // namespace sluice
