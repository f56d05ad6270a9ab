// zlib and zstd. See codec.hpp.
#include "study/collective/codec.hpp"

#include <algorithm>
#ifdef SLUICE_HAVE_ZLIB
#include <zlib.h>
#endif
#ifdef SLUICE_HAVE_ZSTD
#include <zstd.h>
#endif

namespace sluice::collectives {
namespace {

#if defined(SLUICE_HAVE_ZLIB) || defined(SLUICE_HAVE_ZSTD)
/// Part `i` of so many.
Codec::Bytes part_of(Codec::Bytes chunk, int i, int parts) {
    auto const begin = chunk.size() * std::size_t(i) / std::size_t(parts);
    auto const end = chunk.size() * std::size_t(i + 1) / std::size_t(parts);
    return chunk.subspan(begin, end - begin);
}

bool is_same(std::vector<unsigned char> const& found, std::size_t length, Codec::Bytes chunk) {
    return length == chunk.size() && std::equal(chunk.begin(), chunk.end(), found.begin());
}
#endif

#ifdef SLUICE_HAVE_ZLIB
class Zlib final : public Codec {
public:
    explicit Zlib(int level) { deflateInit(&stream_, level); }
    Zlib(Zlib const&) = delete;
    Zlib& operator=(Zlib const&) = delete;
    ~Zlib() override { deflateEnd(&stream_); }

    [[nodiscard]] std::size_t most_of(std::size_t bytes) const override {
        return compressBound(bytes);
    }
    std::size_t compress(Bytes chunk, unsigned char* result, int parts,
                         std::function<void()> const& between) override {
        deflateReset(&stream_);
        stream_.next_out = result, stream_.avail_out = uInt(most_of(chunk.size()));
        for (int i = 0; i < parts; ++i) {
            auto const part = part_of(chunk, i, parts);
            stream_.next_in = const_cast<unsigned char*>(part.data());  // zlib only reads it
            stream_.avail_in = uInt(part.size());
            deflate(&stream_, i + 1 == parts ? Z_FINISH : Z_NO_FLUSH);
            between();
        }
        return stream_.total_out;
    }
    [[nodiscard]] bool restores(Bytes result, Bytes chunk) const override {
        std::vector<unsigned char> found(chunk.size() + 1);
        uLongf length = found.size();
        return uncompress(found.data(), &length, result.data(), uLong(result.size())) == Z_OK &&
               is_same(found, length, chunk);
    }

private:
    z_stream stream_{};
};
#endif

#ifdef SLUICE_HAVE_ZSTD
class Zstd final : public Codec {
public:
    explicit Zstd(int level) : context_(ZSTD_createCCtx()) {
        ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, level);
    }
    Zstd(Zstd const&) = delete;
    Zstd& operator=(Zstd const&) = delete;
    ~Zstd() override { ZSTD_freeCCtx(context_); }

    [[nodiscard]] std::size_t most_of(std::size_t bytes) const override {
        return ZSTD_compressBound(bytes);
    }
    std::size_t compress(Bytes chunk, unsigned char* result, int parts,
                         std::function<void()> const& between) override {
        ZSTD_CCtx_reset(context_, ZSTD_reset_session_only);
        ZSTD_CCtx_setPledgedSrcSize(context_, chunk.size());
        ZSTD_outBuffer out{result, most_of(chunk.size()), 0};
        for (int i = 0; i < parts; ++i) {
            auto const part = part_of(chunk, i, parts);
            ZSTD_inBuffer in{part.data(), part.size(), 0};
            ZSTD_compressStream2(context_, &out, &in,
                                 i + 1 == parts ? ZSTD_e_end : ZSTD_e_continue);
            between();
        }
        return out.pos;
    }
    [[nodiscard]] bool restores(Bytes result, Bytes chunk) const override {
        std::vector<unsigned char> found(chunk.size() + 1);
        auto const length =
            ZSTD_decompress(found.data(), found.size(), result.data(), result.size());
        return ZSTD_isError(length) == 0 && is_same(found, length, chunk);
    }

private:
    ZSTD_CCtx* context_;
};
#endif

/// Empty: there is such a level.
[[maybe_unused]] std::string wrong_level(std::string const& codec, int level, int least, int most) {
    if (level >= least && level <= most) return {};
    return codec + " has levels " + std::to_string(least) + " to " + std::to_string(most);
}

}  // namespace

std::vector<std::string> codec_names() { return {zlib_codec, zstd_codec}; }

std::string default_codec() {
#if !defined(SLUICE_HAVE_ZLIB) && defined(SLUICE_HAVE_ZSTD)
    return zstd_codec;
#else
    return zlib_codec;
#endif
}

std::unique_ptr<Codec> codec_named(std::string const& name, int level, std::string& why_not) {
    why_not =
        "it was built without " + name + (name == zlib_codec ? " (zlib1g-dev)" : " (libzstd-dev)");
#ifdef SLUICE_HAVE_ZLIB
    if (name == zlib_codec) {
        why_not = wrong_level(name, level == 0 ? 6 : level, 1, 9);
        if (why_not.empty()) return std::make_unique<Zlib>(level == 0 ? 6 : level);
    }
#endif
#ifdef SLUICE_HAVE_ZSTD
    if (name == zstd_codec) {
        why_not = wrong_level(name, level, ZSTD_minCLevel(), ZSTD_maxCLevel());
        if (why_not.empty()) return std::make_unique<Zstd>(level);
    }
#endif
    return nullptr;
}

}  // namespace sluice::collectives
