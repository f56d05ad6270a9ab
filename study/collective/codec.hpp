// What compresses chunks: zlib or zstd, each where the build found it.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sluice::collectives {

class Codec {
public:
    using Bytes = std::span<unsigned char const>;

    Codec() = default;
    Codec(Codec const&) = delete;
    Codec& operator=(Codec const&) = delete;
    virtual ~Codec() = default;

    /// No chunk of so many bytes has a longer result.
    [[nodiscard]] virtual std::size_t most_of(std::size_t bytes) const = 0;
    /// Length of the result, for which there is room. The chunk is handed over in so many parts,
    /// with a call of `between` after each.
    virtual std::size_t compress(Bytes chunk, unsigned char* result, int parts,
                                 std::function<void()> const& between) = 0;
    /// Whether the result is that of the chunk.
    [[nodiscard]] virtual bool restores(Bytes result, Bytes chunk) const = 0;
};

inline constexpr char const* zlib_codec = "zlib";
inline constexpr char const* zstd_codec = "zstd";

/// All that this program knows, built or not.
std::vector<std::string> codec_names();
/// Of those that were built.
std::string default_codec();
/// A word about what is missing or wrong, and no codec, where the build has none of this name or
/// the codec no such level; `level` 0: a usual one.
std::unique_ptr<Codec> codec_named(std::string const& name, int level, std::string& why_not);

}  // namespace sluice::collectives
