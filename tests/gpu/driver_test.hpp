// What the tests of the pretended driver share. See driver_test.cpp.
#pragma once
#include "cuda_buffers.h"

#include <cstdio>
#include <cstdlib>
#include <span>
#include <unistd.h>
#include <vector>

/// Each has a process of its own, because orders are read when the driver is first used.
struct Test {
    char const *name, *orders;
    void (*run)();
    int signal = 0;
};

std::span<Test const> memory_tests();
std::span<Test const> stream_tests();

inline CUdeviceptr at(void const* memory) { return reinterpret_cast<CUdeviceptr>(memory); }

inline void expect(bool holds, char const* what, int line) {
    if (holds) return;
    std::fprintf(stderr, "  line %d: %s\n", line, what);
    std::fflush(nullptr);
    _exit(1);
}
#define EXPECT(condition) expect(condition, #condition, __LINE__)
#define OK(call) EXPECT((call) == CUDA_SUCCESS)

inline constexpr std::size_t some = 100'000;

inline std::vector<unsigned char> pattern(std::size_t bytes, unsigned seed) {
    std::vector<unsigned char> data(bytes);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = test_byte(seed, i);
    return data;
}

inline std::vector<unsigned char> content(void const* device, std::size_t bytes) {
    std::vector<unsigned char> data(bytes);
    cuda_get(data.data(), device, bytes);
    return data;
}

inline CUstream stream_of(unsigned flags) {
    CUstream stream = nullptr;
    OK(cuda.cuStreamCreate(&stream, flags));
    return stream;
}

/// Begins with a current context of the device.
inline void begin(int device = 0) {
    EXPECT(cuda_open() > device);
    cuda_enter(cuda_context(device));
}

template <class Value> Value asked(CUpointer_attribute attribute, void const* memory) {
    Value value{};
    OK(cuda.cuPointerGetAttribute(&value, attribute, at(memory)));
    return value;
}
