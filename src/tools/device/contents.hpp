// The bytes of one file in memory. Thread-safe. Used by memory_store.cpp only.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "tools/device/store.hpp"

namespace sluice::device {

/// Bytes in chunks that exist once written; the rest reads as zero.
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
        return used_ * chunk_bytes;
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
        auto const kept = (bytes + chunk_bytes - 1) / chunk_bytes;
        for (auto i = kept; i < chunks_.size(); ++i) {
            if (chunks_[i]) left_ += chunk_bytes, --used_;
        }
        if (kept < chunks_.size()) chunks_.resize(kept);
        // Bytes cut off must read as zero if the file grows again.
        if (auto const rest = bytes % chunk_bytes;
            rest != 0 && kept == chunks_.size() && chunks_.back())
            std::memset(chunks_.back().get() + rest, 0, chunk_bytes - rest);
        size_ = bytes;
    }

private:
    template <class Function> void each_chunk(Count offset, Count bytes, Function function) {
        while (bytes > 0) {
            auto const within = offset % chunk_bytes, index = offset / chunk_bytes;
            auto const length = std::min(bytes, chunk_bytes - within);
            bool const present = index < chunks_.size() && chunks_[index];
            function(present ? chunks_[index].get() + within : nullptr, length);
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
        if (chunks_.size() < end) chunks_.resize(end);
        for (auto i = offset / chunk_bytes; i < end; ++i) {
            if (chunks_[i]) continue;
            if (!take_chunk()) return false;
            chunks_[i].reset(static_cast<char*>(std::calloc(chunk_bytes, 1)));
            if (!chunks_[i]) return left_ += chunk_bytes, false;
            ++used_;
        }
        size_ = std::max(size_, offset + bytes);
        return true;
    }

    struct Free {
        void operator()(char* chunk) const { std::free(chunk); }
    };
    std::atomic<Count>& left_;
    mutable std::shared_mutex mutex_;
    std::vector<std::unique_ptr<char[], Free>> chunks_;
    Count used_ = 0;  // chunks that exist
    Count size_ = 0;
};

}  // namespace sluice::device
