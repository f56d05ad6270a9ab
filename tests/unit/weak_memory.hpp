// A memory for tests in which a store may take effect after later loads of its thread, as is the
// case with processors and compilers unless both are sequentially consistent, and a walk through
// the orders in which threads access it. The threads of a run go on one at a time: before each
// access the run decides which one. A weakened store waits in the buffer of its thread, where only
// this thread sees it, until the run writes it to memory.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <pthread.h>
#include <sched.h>
#include <semaphore>
#include <thread>
#include <vector>

namespace sluice::weak_memory {

/// One run, in the order that `choices` says: each is an index into what could be done next. What
/// comes first there, and where the choices are over, is to go on with the same thread.
class Run {
public:
    struct Step {
        int chosen, options;
        bool is_detour;  ///< Whether another choice than the first one would be.
    };

    explicit Run(std::vector<int> choices, int weakened)
        : choices_(std::move(choices)),
          weakened_(weakened) {
        current_ = this;
    }

    /// Returns when each thread has ended. When all that are left sleep, and nobody will wake them,
    /// the run is over: they wake, and must end without any effect that counts.
    void run(std::vector<std::function<void()>> const& bodies,
             std::function<void()> const& at_end = {}) {
        for (auto const& body : bodies)
            start(*threads_.emplace_back(std::make_unique<Thread>()), body);
        for (auto next = options(); !next.empty(); next = options()) {
            Option const option = next[static_cast<std::size_t>(choose(next))];
            if (option.is_write)
                write_oldest(*option.thread);
            else
                resume(*option.thread);
        }
        is_over_ = true;
        if (at_end) at_end();
        for (auto& thread : threads_) {
            if (!thread->ended) resume(*thread);
            thread->system_thread.join();
        }
    }
    [[nodiscard]] std::vector<Step> const& steps() const { return steps_; }
    [[nodiscard]] bool is_over() const { return is_over_; }

    // ---- For what the threads share ----

    static Run& current() { return *current_; }
    int next_variable() { return variables_++; }
    [[nodiscard]] int variables() const { return variables_; }

    /// Other threads may go on before the caller does.
    void access() {
        sleep_until([] { return true; });
    }
    /// The caller goes on when `ready`, which looks at memory, says so.
    void sleep_until(std::function<bool()> ready) {
        if (!caller_) return;  // What is shared is being made.
        if (is_over_) return;
        caller_->ready = std::move(ready);
        back_.release();
        caller_->turn.acquire();
    }
    void write(int variable, std::uint64_t& memory, std::uint64_t value) {
        if (variable == weakened_ && caller_) return caller_->buffer.push_back({&memory, value});
        while (caller_ && !caller_->buffer.empty()) write_oldest(*caller_);
        memory = value;
    }
    [[nodiscard]] static std::uint64_t read(std::uint64_t const& memory) {
        std::uint64_t value = memory;
        if (!caller_) return value;
        for (auto const& store : caller_->buffer) {
            if (store.memory == &memory) value = store.value;
        }
        return value;
    }

private:
    struct Store {
        std::uint64_t* memory;
        std::uint64_t value;
    };
    struct Thread {
        std::thread system_thread;
        std::binary_semaphore turn{0};
        std::function<bool()> ready = [] { return true; };
        std::deque<Store> buffer;
        bool ended = false;
    };
    struct Option {
        Thread* thread;
        bool is_write;  ///< Of the oldest store in its buffer; else the thread goes on.
    };

    void start(Thread& thread, std::function<void()> const& body) {
        thread.system_thread = std::thread([this, &thread, body] {
            thread.turn.acquire();
            caller_ = &thread;
            if (!is_over_) body();
            thread.ended = true;
            back_.release();
        });
    }
    void resume(Thread& thread) {
        last_ = &thread;
        thread.turn.release();
        back_.acquire();
    }
    static void write_oldest(Thread& thread) {
        *thread.buffer.front().memory = thread.buffer.front().value;
        thread.buffer.pop_front();
    }
    [[nodiscard]] static bool can_go_on(Thread const& thread) {
        return !thread.ended && thread.ready();
    }
    /// A buffered store is written last of all, which is the worst case for others.
    [[nodiscard]] std::vector<Option> options() const {
        std::vector<Option> options;
        if (last_ && can_go_on(*last_)) options.push_back({last_, false});
        for (auto const& thread : threads_) {
            if (thread.get() != last_ && can_go_on(*thread))
                options.push_back({thread.get(), false});
        }
        for (auto const& thread : threads_) {
            if (!thread->buffer.empty()) options.push_back({thread.get(), true});
        }
        return options;
    }
    [[nodiscard]] int choose(std::vector<Option> const& options) {
        int const chosen = steps_.size() < choices_.size() ? choices_[steps_.size()] : 0;
        bool const goes_on = options.front().thread == last_ && !options.front().is_write;
        steps_.push_back({chosen, static_cast<int>(options.size()), goes_on});
        return chosen;
    }

    static inline Run* current_ = nullptr;
    static inline thread_local Thread* caller_ = nullptr;
    std::vector<int> choices_;
    int weakened_, variables_ = 0;
    bool is_over_ = false;
    std::vector<Step> steps_;
    std::vector<std::unique_ptr<Thread>> threads_;
    Thread* last_ = nullptr;
    std::binary_semaphore back_{0};
};

/// While it lives, the calling thread and those that it starts run on the core where it is: threads
/// that go on one at a time hand over fastest there.
class OnOneCore {
public:
    OnOneCore() {
        pthread_getaffinity_np(pthread_self(), sizeof before_, &before_);
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(sched_getcpu(), &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    }
    OnOneCore(OnOneCore const&) = delete;
    OnOneCore& operator=(OnOneCore const&) = delete;
    ~OnOneCore() { pthread_setaffinity_np(pthread_self(), sizeof before_, &before_); }

private:
    cpu_set_t before_{};
};

/// Walks through all orders that leave a thread which could go on at most `detours` times. `run`
/// takes the choices of one run and returns its steps; none end the walk. Returns the number of
/// runs.
template <class OneRun> int walk(int detours, OneRun const& run) {
    OnOneCore const on_one_core;
    std::vector<int> choices;
    for (int runs = 1;; ++runs) {
        std::vector<Run::Step> steps = run(choices);
        auto const left = [&](std::size_t at) {
            int count = detours;
            for (std::size_t i = 0; i < at; ++i) count -= steps[i].is_detour && steps[i].chosen > 0;
            return count;
        };
        while (!steps.empty()) {
            Run::Step const last = steps.back();
            bool const more = last.chosen + 1 < last.options;
            if (more && (!last.is_detour || left(steps.size() - 1) > 0)) break;
            steps.pop_back();
        }
        if (steps.empty()) return runs;
        ++steps.back().chosen;
        choices.clear();
        for (Run::Step const& step : steps) choices.push_back(step.chosen);
    }
}

/// As std::mutex, for the threads of a run.
class Mutex {
public:
    void lock() {
        Run::current().sleep_until([this] { return !is_held_; });
        is_held_ = true;
    }
    void unlock() { is_held_ = false; }

private:
    bool is_held_ = false;
};

/// As std::atomic, for the threads of a run.
template <class T> class Atomic {
public:
    Atomic(T value = {}) : memory_(bits(value)), variable_(Run::current().next_variable()) {}
    Atomic(Atomic const&) = delete;
    Atomic& operator=(Atomic const&) = delete;

    T load(std::memory_order = std::memory_order_seq_cst) const {
        Run::current().access();
        return seen();
    }
    operator T() const { return load(); }
    T operator=(T value) {
        Run::current().access();
        return set(value);
    }
    T operator++() {
        Run::current().access();
        return set(seen() + 1);
    }
    T operator--() {
        Run::current().access();
        return set(seen() - 1);
    }
    /// What every thread sees.
    [[nodiscard]] T in_memory() const { return static_cast<T>(memory_); }

private:
    static std::uint64_t bits(T value) { return static_cast<std::uint64_t>(value); }
    [[nodiscard]] T seen() const { return static_cast<T>(Run::read(memory_)); }
    T set(T value) {
        Run::current().write(variable_, memory_, bits(value));
        return value;
    }

    std::uint64_t memory_;
    int variable_;
};

}  // namespace sluice::weak_memory
