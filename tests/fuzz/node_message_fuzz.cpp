// What a collective call sends between nodes: numbers of variable length, the claims of ranks, and
// the coverage of a window. Of a damaged message the receiver is told that it is damaged, and
// nothing is written behind a window.
#include "file/plan/claims.hpp"
#include "file/plan/coverage.hpp"
#include "fuzz.hpp"

namespace sluice::fuzz {
namespace {

void try_claims(std::span<std::byte const> bytes) {
    std::size_t at = 0;
    while (at < bytes.size()) {
        std::size_t const before = at;
        auto const claim = decode_claim(bytes, at);
        if (!claim) return;
        require(at > before && at <= bytes.size(), "a claim has bytes");
        require(claim->first() <= claim->end(), "rounds begin before they end");
        ByteBuffer again;
        encode(*claim, again);
        require(again.size() <= encoded_claim_bytes_max, "a claim is short");
        std::size_t read = 0;
        require(decode_claim(again, read) == claim && read == again.size(),
                "a claim that was written is read again");
    }
}

void try_coverage(std::span<std::byte const> bytes, Bytes window, Bytes granule) {
    std::vector<std::uint64_t> words(Coverage::words_for(window, granule)), others = words;
    Coverage coverage(words, granule, window), other(others, granule, window);
    auto const read = coverage.decode_and_mark(bytes);
    require(!read || *read <= bytes.size(), "what is read lies in the message");
    require(coverage.marked_bytes() <= coverage.window_bytes(), "marks lie in the window");
    ByteBuffer again;
    coverage.encode(again);
    require(again.size() <= Coverage::encoded_bytes_max(window, granule), "a coverage is short");
    require(other.decode_and_mark(again) == again.size(), "what was written is read again");
    require(other.marked_bytes() == coverage.marked_bytes(), "it is the same coverage");
}

}  // namespace
}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    sluice::fuzz::Input input(data, size);
    auto const granules = input.take<std::uint16_t>() % 1024 + 1;
    auto const granule = sluice::Bytes{1} << (granules % 13);
    auto const bytes = input.take_copy(size);
    sluice::fuzz::try_claims(bytes);
    sluice::fuzz::try_coverage(bytes, granules * granule, granule);
    return 0;
}
