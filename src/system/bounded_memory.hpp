// BoundedMemory is memory of this process of which no more than a fixed amount is ever used. Who
// finds no room waits until something was given back, which any thread may do.
#pragma once
#include "base/free_ranges.hpp"
#include "system/mapping.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <span>

namespace sluice {

class BoundedMemory : public std::enable_shared_from_this<BoundedMemory> {
public:
    /// Memory in use, given back with the last copy of `hold`.
    struct Part {
        std::byte* data = nullptr;
        std::shared_ptr<void> hold;
    };

    /// Null where the system has no addresses for it. Pages are made as they are touched.
    static std::shared_ptr<BoundedMemory> create(Bytes bytes);
    /// The part of a file, which others may map as well.
    static std::shared_ptr<BoundedMemory> create(int fd, Span part);

    /// Nothing where there is no room now.
    [[nodiscard]] std::optional<Part> take(Bytes bytes);
    /// No more than so much can ever be taken at once.
    [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }
    /// Where all parts lie.
    [[nodiscard]] std::span<std::byte> all() const noexcept {
        return {mapping_.data(), static_cast<std::size_t>(bytes_)};
    }

private:
    BoundedMemory(Mapping mapping, Bytes bytes);
    void give(Offset begin, Bytes bytes) noexcept;
    void back(Offset end) noexcept;

    Mapping mapping_;
    Bytes bytes_;
    std::mutex mutex_;
    FreeRanges free_;
    Offset backed_ = 0;  ///< Pages before it were made.
};

}  // namespace sluice
