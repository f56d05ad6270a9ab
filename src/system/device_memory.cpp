// CUDA's runtime opens the driver for itself alone, and often late. So the driver is looked for
// among all libraries of the process, and again whenever these have become more. See
// device_memory.hpp.
#include "system/device_memory.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

namespace sluice {
namespace {

/// cuPointerGetAttribute and its like in HIP: an int, zero for success.
using AskPointer = int (*)(void*, int, unsigned long long);
constexpr int memory_type_attribute = 2, is_managed_attribute = 8;

class Driver {
public:
    Driver(char const* library, char const* function) noexcept
        : library_(library),
          function_(function) {}

    [[nodiscard]] char const* library() const noexcept { return library_; }
    [[nodiscard]] bool is_found() const noexcept { return ask_.load() != nullptr; }
    /// In the library of that name, which stays loaded; null: in any that all can see.
    void look_in(char const* path) noexcept {
        void* const in = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : RTLD_DEFAULT;
        if (path && !in) return;
        if (auto* const version =
                reinterpret_cast<int (*)(int*)>(dlsym(in, "hipRuntimeGetVersion")))
            device_type_ = type_of_device(version);
        ask_ = reinterpret_cast<AskPointer>(dlsym(in, function_));
    }
    [[nodiscard]] bool says_device(void const* memory) const noexcept {
        AskPointer const ask = ask_;
        return ask && answer(ask, memory_type_attribute, memory) == device_type_ &&
               answer(ask, is_managed_attribute, memory) != 1;
    }

private:
    /// HIP numbered kinds of memory in a way of its own before version 6.
    static unsigned type_of_device(int (*version)(int*)) noexcept {
        constexpr int six = 60'000'000;
        int found = six;
        return version(&found) == 0 && found < six ? 1 : 2;
    }
    static unsigned answer(AskPointer ask, int attribute, void const* memory) noexcept {
        unsigned value = 0;
        auto const address = reinterpret_cast<unsigned long long>(memory);
        return ask(&value, attribute, address) == 0 ? value : 0;
    }

    char const *library_, *function_;
    std::atomic<AskPointer> ask_{nullptr};
    std::atomic<unsigned> device_type_{2};
};

Driver drivers[] = {{"libcuda.so", "cuPointerGetAttribute"},
                    {"libamdhip64.so", "hipPointerGetAttribute"}};

void look_in(char const* path) noexcept {
    char const* const slash = path ? std::strrchr(path, '/') : nullptr;
    char const* const name = slash ? slash + 1 : path;
    for (Driver& driver : drivers) {
        bool const may_have =
            !name || std::strncmp(name, driver.library(), std::strlen(driver.library())) == 0;
        if (may_have && !driver.is_found()) driver.look_in(path);
    }
}

/// How many libraries the process has ever loaded.
std::uint64_t count_loaded() noexcept {
    std::uint64_t count = 0;
    auto const take = [](dl_phdr_info* one, std::size_t, void* to) {
        *static_cast<std::uint64_t*>(to) = one->dlpi_adds;
        return 1;
    };
    dl_iterate_phdr(take, &count);
    return count;
}

/// A library may be loaded meanwhile: then it is looked for again the next time.
void look_for_drivers() noexcept {
    static std::atomic<std::uint64_t> seen{0};
    std::uint64_t const count = count_loaded();
    if (count == seen) return;
    look_in(nullptr);
    dl_iterate_phdr(
        [](dl_phdr_info* one, std::size_t, void*) {
            if (one->dlpi_name && one->dlpi_name[0] != '\0') look_in(one->dlpi_name);
            return 0;
        },
        nullptr);
    seen = count;
}

/// Memory that malloc() took from here on is the host's, and short calls need not look further.
auto const heap_begin = reinterpret_cast<std::uintptr_t>(sbrk(0));

bool is_in_heap(void const* memory) noexcept {
    auto const address = reinterpret_cast<std::uintptr_t>(memory);
    return address >= heap_begin && address < reinterpret_cast<std::uintptr_t>(sbrk(0));
}

}  // namespace

bool is_device_memory(void const* memory) noexcept {
    if (memory == nullptr || is_in_heap(memory)) return false;
    look_for_drivers();
    return drivers[0].says_device(memory) || drivers[1].says_device(memory);
}

}  // namespace sluice
