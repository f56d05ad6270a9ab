// Words of user memory that begin at a page, as a program has them that wants its transfers to go
// past the page cache without a copy.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>

namespace sluice::bench {

class PageMemory {
public:
    static constexpr std::uint64_t page = 4096;

    /// Zeros, so that all of it is memory already.
    explicit PageMemory(std::size_t words)
        : memory_(static_cast<double*>(std::aligned_alloc(page, whole_pages(words)))),
          words_(words) {
        if (!memory_) throw std::bad_alloc();
        for (double& word : this->words()) word = 0;
    }

    [[nodiscard]] std::span<double> words() noexcept { return {memory_.get(), words_}; }
    [[nodiscard]] std::span<double const> words() const noexcept { return {memory_.get(), words_}; }

private:
    struct Free {
        void operator()(double* memory) const noexcept { std::free(memory); }
    };
    static std::size_t whole_pages(std::size_t words) {
        return (words * sizeof(double) / page + 1) * page;
    }

    std::unique_ptr<double, Free> memory_;
    std::size_t words_;
};

}  // namespace sluice::bench
