// What a test orders the pretended driver to do: from the environment variable PRETENDED_GPU, and
// failures from pretended_order() as well. Words are separated by commas:
//   delay=USEC      each stream operation waits so long before it is carried out
//   devices=N       so many devices; 1 without it
//   registers=0     memory of the host cannot be registered
//   pageable=async  copies from and to memory that is not registered return before they are done,
//                   as on machines whose devices reach all memory
//   kernels=0       no text of kernels is taken but that of test programs
//   mapped=apart    registered memory has another address for devices than for the processor
//   freed=known     the attributes of freed memory are still those of a device's, as of pools
//   fail=FUNCTION:N:CODE  the Nth call of the function fails, "N+" also all later ones. FUNCTION
//                   `any` is each call but questions about pointers; `copy` is each that copies
//                   or launches a kernel; `late` is each stream operation, when it is carried
//                   out: its context is lost then
//   log=FILE        a line for each call: process, function, code
#pragma once
#include "cuda_api.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace pretended {

struct Failure {
    std::string function;
    long at = 1;
    bool and_later = false;
    int code = CUDA_ERROR_UNKNOWN;
    long calls = 0;

    /// Notes a call; the code with which it is to fail, or 0.
    int note() {
        ++calls;
        return calls == at || (and_later && calls > at) ? code : 0;
    }
};

class Orders {
public:
    Orders() {
        char const* const words = std::getenv("PRETENDED_GPU");
        read(words ? words : "");
    }

    /// Orders that come while the program runs; only failures and `freed` are theirs.
    void replace(char const* words) {
        std::lock_guard const lock(mutex_);
        failures_.clear();
        freed_known_ = false;
        calls = operations = 0;
        read(words ? words : "");
    }
    /// Notes a call or, as `late`, an operation; the code with which it is to fail.
    CUresult failure_of(std::string_view function, bool counts) {
        std::lock_guard const lock(mutex_);
        if (function == "late")
            ++operations;
        else if (counts)
            ++calls;
        int found = 0;
        for (Failure& failure : failures_)
            if (is_meant(failure.function, function, counts))
                if (int const code = failure.note(); found == 0) found = code;
        return static_cast<CUresult>(found);
    }
    void log(char const* function, CUresult code) const {
        if (log_ >= 0)
            dprintf(log_, "%d %s %d\n", static_cast<int>(getpid()), function,
                    static_cast<int>(code));
    }

    [[nodiscard]] bool freed_known() const { return freed_known_; }

    long delay = 0;
    int devices = 1;
    bool registers = true, kernels = true, pageable_async = false, mapped_apart = false;
    std::atomic<long> calls{0}, operations{0};

private:
    /// The version of a function at the end of its name need not be said.
    static bool is_meant(std::string_view ordered, std::string_view function, bool counts) {
        if (ordered == "any") return counts && function != "late";
        if (ordered == "copy")
            return function.starts_with("cuMemcpy") || function == "cuLaunchKernel";
        return ordered == function ||
               (function.starts_with(ordered) && function.substr(ordered.size()) == "_v2");
    }
    void read(std::string_view words) {
        while (!words.empty()) {
            std::size_t const end = std::min(words.find(','), words.size());
            take(std::string(words.substr(0, end)));
            words.remove_prefix(std::min(end + 1, words.size()));
        }
    }
    void take(std::string const& word) {
        if (word.empty()) return;
        std::size_t const equals = std::min(word.find('='), word.size() - 1);
        std::string const name = word.substr(0, equals), value = word.substr(equals + 1);
        if (name == "delay")
            delay = std::atol(value.c_str());
        else if (name == "devices")
            devices = std::atoi(value.c_str());
        else if (name == "registers")
            registers = value != "0";
        else if (name == "kernels")
            kernels = value != "0";
        else if (name == "pageable")
            pageable_async = value == "async";
        else if (name == "mapped")
            mapped_apart = value == "apart";
        else if (name == "freed")
            freed_known_ = value == "known";
        else if (name == "fail")
            take_failure(value);
        else if (name == "log")
            log_ = open(value.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        else
            refuse(word);
    }
    void take_failure(std::string const& value) {
        std::size_t const first = value.find(':'), second = value.rfind(':');
        if (first == std::string::npos || first == second) refuse("fail=" + value);
        std::string const at = value.substr(first + 1, second - first - 1);
        failures_.push_back({value.substr(0, first), std::atol(at.c_str()), at.back() == '+',
                             std::atoi(value.c_str() + second + 1)});
    }
    /// A misspelt order would make a test that tests nothing.
    [[noreturn]] static void refuse(std::string const& word) {
        std::fprintf(stderr, "pretended driver: no such order: %s\n", word.c_str());
        std::abort();
    }

    std::mutex mutex_;
    std::vector<Failure> failures_;
    std::atomic<bool> freed_known_{false};
    int log_ = -1;
};

}  // namespace pretended
