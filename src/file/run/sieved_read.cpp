// One window after the other goes through the same memory. See sieved_read.hpp.
#include "file/run/sieved_read.hpp"

namespace sluice {
namespace {

constexpr Bytes window_bytes_most = Bytes{512} << 10;  ///< It stays in a processor's cache.

}  // namespace

bool sieving_pays(Request const& request, Bytes gap_bytes) noexcept {
    Layout const& view = *request.view.filetype;
    if (request.atomic) return false;  // Its lock is of all its span, and a window is a part of it.
    if (gap_bytes <= 0 || request.bytes <= 0 || view.is_contiguous() || !view.is_ascending())
        return false;
    std::int64_t const pieces = piece_count(request);
    return pieces > 1 && span_of(request).bytes() / pieces <= gap_bytes;
}

void read_sieved(Request const& request, UserMemory user, Storage& storage,
                 UserTransfer& transfer) {
    Span const all = span_of(request);
    auto const size = static_cast<std::size_t>(std::min(window_bytes_most, all.bytes()));
    auto const memory = std::make_unique_for_overwrite<std::byte[]>(size);
    for (Offset at = all.begin; at < all.end && transfer.end_of_file == endless;) {
        Span const span = clip({at, at + window_bytes_most}, all);
        Window const window(span);
        WholeTransfer whole(Direction::read, memory.get(), window, span);
        storage.run(whole);
        transfer.fail(whole.error);
        if (whole.error) return;
        transfer.end_of_file = whole.end_of_file;
        std::atomic<std::int64_t> limit{whole.end_of_file};
        UserCopies copies(user, Direction::read);
        take(request, copies, window, {memory.get(), Coverage({}, 1, span.bytes()), &limit});
        transfer.fail(copies.finish());
        if (transfer.error) return;
        at = span.end;
    }
}

}  // namespace sluice
