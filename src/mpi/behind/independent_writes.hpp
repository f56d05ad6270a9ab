// The independent writes of a handle whose calls have returned. One whose bytes an earlier one
// touches begins when that has ended, so that a program may write the same bytes again and again,
// as HDF5 does with its metadata, and waits for none of them.
#pragma once
#include "base/span_index.hpp"
#include "file/run/call.hpp"
#include "file/run/transfers.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace sluice {

/// An independent write whose call has returned.
struct IndependentWrite {
    explicit IndependentWrite(Call its_call)
        : call(std::move(its_call)),
          transfer(call.request, call.user) {}
    Call call;
    UserTransfer transfer;
    std::atomic<bool> done{false};
    // Guarded by the mutex of IndependentWrites.
    std::size_t awaited = 0;  ///< Earlier ones that touch its bytes, and have not ended.
    std::vector<std::shared_ptr<IndependentWrite>> followers;  ///< That await this one.
    std::shared_ptr<IndependentWrite> next;  ///< Of those that a storage thread runs next.
};
using IndependentWritePtr = std::shared_ptr<IndependentWrite>;

class IndependentWrites {
public:
    /// `run` writes the bytes, on a storage thread.
    explicit IndependentWrites(std::function<void(IndependentWrite&)> run) : run_(std::move(run)) {}

    /// Begins a write, behind those of its bytes that are under way.
    void start(IndependentWritePtr const& write);
    /// Until none that touches `reach` is under way.
    void wait_for(Span reach) const;
    /// Until so few are that another can come behind them.
    void wait_for_few(Span reach) const;
    [[nodiscard]] bool any_is_under_way() const;
    /// How far those under way reach.
    [[nodiscard]] Offset end() const;
    /// Those that ended, each once.
    [[nodiscard]] std::vector<IndependentWritePtr> take_ended();

private:
    [[nodiscard]] std::vector<IndependentWritePtr> touching(Span reach) const;
    [[nodiscard]] bool add(IndependentWritePtr const& write);
    void run_all(IndependentWritePtr first);
    [[nodiscard]] IndependentWritePtr share(IndependentWritePtr const& first);
    [[nodiscard]] IndependentWritePtr note_end(IndependentWritePtr const& write);

    std::function<void(IndependentWrite&)> const run_;
    mutable std::mutex mutex_;  ///< Guards the fields below.
    SpanIndex<IndependentWritePtr> under_way_;
    std::vector<IndependentWritePtr> ended_;
};

}  // namespace sluice
