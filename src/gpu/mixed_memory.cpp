// How rows are divided among the host and devices. See mixed_memory.hpp.
#include "gpu/mixed_memory.hpp"

#include "gpu/finished_copy.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sluice {
namespace {

Offset user_address(Direction way, Rows const& row, std::int64_t piece) noexcept {
    Rows const one = row.piece(piece);
    return way == Direction::write ? one.source : one.target;
}

Rows pieces_of(Rows const& row, std::int64_t first, std::int64_t count) noexcept {
    Rows const begin = row.piece(first);
    if (count == 1) return begin;
    return {begin.target, begin.source, row.length, count, row.target_stride, row.source_stride};
}

bool holds(Span allocation, Offset begin, Bytes bytes) noexcept {
    return allocation.begin <= begin && begin + bytes <= allocation.end;
}

void copy_on_host(Rows const& row) noexcept {
    for (std::int64_t i = 0; i < row.count; ++i) {
        Rows const piece = row.piece(i);
        std::memcpy(reinterpret_cast<void*>(piece.target),
                    reinterpret_cast<void const*>(piece.source),
                    static_cast<std::size_t>(piece.length));
    }
}

/// Rows of one copy, by the place of the user's side of them.
class RowsByPlace {
public:
    struct Share {
        Device* device;  ///< Null: the host.
        std::vector<Rows> rows;
    };

    RowsByPlace(Direction way, std::function<DeviceAt(Offset)> const& where) noexcept
        : way_(way),
          where_(where) {}

    /// A row whose first and last pieces lie in one allocation lies there as a whole; where the
    /// driver names none, on one device, or on the host.
    void add(Rows const& row) {
        if (row.bytes() <= 0) return;
        if (row.count == 1) return add_piece(row);
        DeviceAt const first = ask(user_address(way_, row, 0));
        DeviceAt const last = ask(user_address(way_, row, row.count - 1));
        bool const names = !first.allocation.empty() || !last.allocation.empty();
        bool const whole = names ? is_inside(first, row, 0) && is_inside(first, row, row.count - 1)
                                 : first.device == last.device;
        if (whole) return give(first.device, row);
        add_each(row);
    }
    [[nodiscard]] std::vector<Share>& shares() noexcept { return shares_; }

private:
    [[nodiscard]] bool is_inside(DeviceAt const& at, Rows const& row, std::int64_t piece) const {
        return holds(at.allocation, user_address(way_, row, piece), row.length);
    }
    /// Many rows lie in the allocation of the one before.
    DeviceAt ask(Offset address) {
        if (!holds(last_.allocation, address, 1)) last_ = where_(address);
        return last_;
    }
    /// Pieces of one allocation that follow each other stay rows.
    void add_each(Rows const& row) {
        std::int64_t next = 0;
        for (std::int64_t i = 0; i < row.count; i = next) {
            DeviceAt const at = ask(user_address(way_, row, i));
            next = i;
            while (next < row.count && is_inside(at, row, next)) ++next;
            if (next > i) {
                give(at.device, pieces_of(row, i, next - i));
            } else {
                add_piece(pieces_of(row, i, 1));
                ++next;
            }
        }
    }
    /// A piece may go on in another allocation: they are often neighbours.
    void add_piece(Rows piece) {
        while (piece.length > 0) {
            Offset const begin = user_address(way_, piece, 0);
            DeviceAt const at = ask(begin);
            bool const goes_on = !at.allocation.empty() && at.allocation.end > begin;
            Bytes const bytes =
                goes_on ? std::min(piece.length, at.allocation.end - begin) : piece.length;
            give(at.device, {piece.target, piece.source, bytes});
            piece.target += bytes;
            piece.source += bytes;
            piece.length -= bytes;
        }
    }
    void give(Device* device, Rows const& row) {
        auto share = std::find_if(shares_.begin(), shares_.end(),
                                  [&](Share const& one) { return one.device == device; });
        if (share == shares_.end()) share = shares_.insert(share, Share{device, {}});
        share->rows.push_back(row);
    }

    Direction const way_;
    std::function<DeviceAt(Offset)> const& where_;
    DeviceAt last_;
    std::vector<Share> shares_;
};

/// The copies of several devices as one.
class CombinedCopy final : public DeviceWork {
public:
    explicit CombinedCopy(std::vector<std::unique_ptr<DeviceWork>> copies) noexcept
        : copies_(std::move(copies)) {}
    [[nodiscard]] bool finished() override {
        return std::all_of(copies_.begin(), copies_.end(),
                           [](auto const& copy) { return copy->finished(); });
    }
    void wait() override {
        for (auto const& copy : copies_) copy->wait();
    }
    [[nodiscard]] Error error() const override {
        Error first;
        for (auto const& copy : copies_) first = first_of(first, copy->error());
        return first;
    }

private:
    std::vector<std::unique_ptr<DeviceWork>> const copies_;
};

}  // namespace

MixedMemory::MixedMemory(std::function<DeviceAt(Offset)> where, std::function<void()> ring)
    : where_(std::move(where)),
      ring_(std::move(ring)) {}

std::unique_ptr<DeviceWork> MixedMemory::start(Direction way, std::vector<Rows> rows) {
    RowsByPlace places(way, where_);
    for (Rows const& row : rows) places.add(row);
    std::vector<std::unique_ptr<DeviceWork>> copies;
    copies.reserve(places.shares().size());
    for (auto& share : places.shares()) {
        if (!share.device) continue;
        note(*share.device);
        copies.push_back(share.device->start(way, std::move(share.rows)));
    }
    for (auto const& share : places.shares()) {  // While the devices copy.
        if (share.device) continue;
        for (Rows const& row : share.rows) copy_on_host(row);
    }
    if (!copies.empty()) return std::make_unique<CombinedCopy>(std::move(copies));
    auto copy = std::make_unique<FinishedCopy>();
    ring_();
    return copy;
}

void MixedMemory::note(Device& device) {
    std::lock_guard const lock(mutex_);
    if (std::find(met_.begin(), met_.end(), &device) == met_.end()) met_.push_back(&device);
}

std::vector<Device*> MixedMemory::met() {
    std::lock_guard const lock(mutex_);
    return met_;
}

void MixedMemory::hold(std::span<std::byte> memory) {
    for (Device* const device : met()) device->hold(memory);
}

std::shared_ptr<std::byte> MixedMemory::take_window() {
    auto const devices = met();
    return devices.empty() ? nullptr : devices.front()->take_window();
}

}  // namespace sluice
