// Contenders beside calls on memory of a GPU: copies by hand, and what the GPU's link can do.
#include <algorithm>
#include <optional>
#include <utility>

#include "bench/file/contender.hpp"
#include "bench/file/page_memory.hpp"
#include "bench/gpu/gpu.hpp"
#include "system/shared_memory.hpp"

namespace sluice::bench {
namespace {

/// All but its accesses is another contender's.
class Staged final : public Contender {
public:
    Staged(std::unique_ptr<Contender> inner, Gpu const& gpu, bool is_pinned)
        : inner_(std::move(inner)),
          gpu_(gpu),
          is_pinned_(is_pinned) {
        name = inner_->name, path = inner_->path, hints = inner_->hints;
    }

    void prepare(Pattern const& pattern) override {
        auto const words = pattern.access_words();
        if (is_pinned_) {
            pinned_ = gpu_.pinned_words(words);
            staging_ = {pinned_.get(), words};
        } else {
            staging_ = pageable_.emplace(words).words();
        }
        std::ranges::fill(staging_, untouched);  // Reads leave gaps as they are.
    }
    void open(Run const& run, Pattern const& pattern) override { inner_->open(run, pattern); }
    void rewind() override { inner_->rewind(); }
    void access(Pattern const& pattern, std::span<double> memory, bool writes) override {
        if (writes) gpu_.to_host(staging_, memory.data());
        inner_->access(pattern, staging_, writes);
        if (!writes) gpu_.to_device(memory.data(), staging_);
    }
    void settle() override { inner_->settle(); }
    void close() override { inner_->close(); }
    std::uint64_t wrong_in_file(Run const& run, Pattern const& pattern,
                                std::uint64_t seed) override {
        return inner_->wrong_in_file(run, pattern, seed);
    }
    void provide_file(Run const& run, Pattern const& pattern, std::span<double> host,
                      std::uint64_t seed) override {
        inner_->provide_file(run, pattern, host, seed);
    }

private:
    std::unique_ptr<Contender> inner_;
    Gpu const& gpu_;
    bool is_pinned_;
    Gpu::Words pinned_;
    std::optional<PageMemory> pageable_;
    std::span<double> staging_;
};

/// Shared memory of the host that is registered with the driver.
class RegisteredMemory {
public:
    RegisteredMemory(Gpu const& gpu, std::size_t words) {
        auto const bytes = words * word_bytes;
        auto made = SharedMemory::create(bytes);
        bool const is_there = made && made->reserve({0, Offset(bytes)});
        check(is_there ? MPI_SUCCESS : MPI_ERR_NO_MEM, "shared memory for the limit");
        memory_ = std::move(*made);
        words_ = {reinterpret_cast<double*>(memory_.data()), words};
        registration_ = gpu.registered(words_);
    }
    [[nodiscard]] std::span<double> words() const noexcept { return words_; }

private:
    SharedMemory memory_;
    std::span<double> words_;
    Gpu::Words registration_;
};

/// It has no file: what is written or read is the memory.
class DeviceLimit final : public Contender {
public:
    DeviceLimit(std::string called, Gpu const& gpu) : gpu_(gpu) { name = std::move(called); }

    void prepare(Pattern const& pattern) override {
        auto const words = pattern.access_words();
        if (!shared_ || shared_->words().size() != words) shared_.emplace(gpu_, words);
    }
    void open(Run const&, Pattern const&) override {}
    void rewind() override {}
    void access(Pattern const&, std::span<double> memory, bool writes) override {
        if (writes)
            gpu_.to_pinned(shared_->words(), memory.data());
        else
            gpu_.from_pinned(memory.data(), shared_->words());
    }
    void close() override {}
    std::uint64_t wrong_in_file(Run const&, Pattern const& pattern, std::uint64_t seed) override {
        return sum_over_ranks(pattern.wrong_in_access(shared_->words(), seed));
    }
    void provide_file(Run const&, Pattern const& pattern, std::span<double>,
                      std::uint64_t seed) override {
        prepare(pattern);
        pattern.fill_access(shared_->words(), seed);
    }

private:
    Gpu const& gpu_;
    std::optional<RegisteredMemory> shared_;
};

}  // namespace

std::unique_ptr<Contender> staged_contender(std::unique_ptr<Contender> inner, Gpu const& gpu,
                                            bool is_pinned) {
    return std::make_unique<Staged>(std::move(inner), gpu, is_pinned);
}

std::unique_ptr<Contender> device_limit_contender(std::string name, Gpu const& gpu) {
    return std::make_unique<DeviceLimit>(std::move(name), gpu);
}

}  // namespace sluice::bench
