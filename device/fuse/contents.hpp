// The bytes of one file in memory. Thread-safe. Used by memory_store.cpp only.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "device/fuse/store.hpp"

namespace sluice::device {

/// Bytes in chunks that exist once written, wherever they lie; the rest reads as zero.
class Contents {
public:
    static constexpr Count chunk_bytes = Count{1} << 18;

    /// `left` limits the memory of all files together, so that a runaway test gets ENOSPC, not the
    /// OOM killer.
    explicit Contents(std::atomic<Count>& left) : left_(left) {}
    Contents(Contents const&) = delete;
    Contents& operator=(Contents const&) = delete;
    ~Contents() { resize(0); }
    [[nodiscard]] Count size() const {
        std::shared_lock const lock(mutex_);
        return size_;
    }
    [[nodiscard]] Count bytes_used() const {
        std::shared_lock const lock(mutex_);
        return chunks_.size() * chunk_bytes;
    }

    /// False: no memory left. Writers of different places copy side by side.
    bool write(char const* source, Count bytes, Count offset) {
        if (!reserve(offset, bytes)) return false;
        std::shared_lock const lock(mutex_);
        each_chunk(offset, bytes, [&](char* chunk, Count length) {
            if (chunk != nullptr) std::memcpy(chunk, source, length);  // null: truncated meanwhile
            source += length;
        });
        return true;
    }

    /// Into `data`, whose size becomes that of what there is to read.
    void read(Count bytes, Count offset, std::vector<char>& data) {
        std::shared_lock const lock(mutex_);
        data.resize(offset < size_ ? std::min(bytes, size_ - offset) : 0);
        char* target = data.data();
        each_chunk(offset, data.size(), [&](char const* chunk, Count length) {
            if (chunk != nullptr)
                std::memcpy(target, chunk, length);
            else
                std::memset(target, 0, length);
            target += length;
        });
    }

    void resize(Count bytes) {
        std::unique_lock const lock(mutex_);
        auto const whole = bytes / chunk_bytes, rest = bytes % chunk_bytes;
        auto gone = chunks_.lower_bound(whole);
        // Bytes cut off must read as zero if the file grows again.
        if (rest != 0 && gone != chunks_.end() && gone->first == whole) {
            std::memset(gone->second.get() + rest, 0, chunk_bytes - rest);
            ++gone;
        }
        left_ += static_cast<Count>(std::distance(gone, chunks_.end())) * chunk_bytes;
        chunks_.erase(gone, chunks_.end());
        size_ = bytes;
    }

private:
    template <class Function> void each_chunk(Count offset, Count bytes, Function function) {
        while (bytes > 0) {
            auto const within = offset % chunk_bytes;
            auto const length = std::min(bytes, chunk_bytes - within);
            auto const chunk = chunks_.find(offset / chunk_bytes);
            function(chunk != chunks_.end() ? chunk->second.get() + within : nullptr, length);
            offset += length, bytes -= length;
        }
    }

    bool take_chunk() {
        Count before = left_;
        while (before >= chunk_bytes) {
            if (left_.compare_exchange_weak(before, before - chunk_bytes)) return true;
        }
        return false;
    }

    bool reserve(Count offset, Count bytes) {
        std::unique_lock const lock(mutex_);
        auto const end = (offset + bytes + chunk_bytes - 1) / chunk_bytes;
        for (auto i = offset / chunk_bytes; i < end; ++i) {
            if (chunks_.contains(i)) continue;
            if (!take_chunk()) return false;
            Chunk chunk(static_cast<char*>(std::calloc(chunk_bytes, 1)));
            if (!chunk) return left_ += chunk_bytes, false;
            chunks_.emplace(i, std::move(chunk));
        }
        size_ = std::max(size_, offset + bytes);
        return true;
    }

    struct Free {
        void operator()(char* chunk) const { std::free(chunk); }
    };
    using Chunk = std::unique_ptr<char[], Free>;
    std::atomic<Count>& left_;
    mutable std::shared_mutex mutex_;
    std::map<Count, Chunk> chunks_;  // by place: a far end costs nothing
    Count size_ = 0;
};

}  // namespace sluice::device
