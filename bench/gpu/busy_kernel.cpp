// A chain of dependent multiplications in each thread, of more threads than any GPU holds at once:
// as in a program's kernels, whatever else wants to run there waits until some of them are done.
#include "bench/gpu/busy_kernel.hpp"

#include <array>

namespace sluice::bench {
namespace {

char const* const busy_kernel_ptx = R"(
.version 5.0
.target sm_52
.address_size 64

.visible .entry sluice_bench_busy(.param .u64 rounds, .param .u64 nowhere)
{
    .reg .pred %p;
    .reg .u32 %a, %b, %c;
    .reg .u64 %rounds, %nowhere, %x, %t;

    ld.param.u64 %rounds, [rounds];
    ld.param.u64 %nowhere, [nowhere];
    cvta.to.global.u64 %nowhere, %nowhere;

    // Each thread begins with its own number, which no compiler knows.
    mov.u32 %a, %ctaid.x;
    mov.u32 %b, %ntid.x;
    mov.u32 %c, %tid.x;
    mad.lo.u32 %a, %a, %b, %c;
    cvt.u64.u32 %x, %a;

again:
    mul.lo.u64 %x, %x, 6364136223846793005;
    add.u64 %x, %x, 1442695040888963407;
    shr.u64 %t, %x, 29;
    xor.b64 %x, %x, %t;
    sub.u64 %rounds, %rounds, 1;
    setp.ne.u64 %p, %rounds, 0;
    @%p bra again;

    // It must seem to be for something.
    setp.eq.u64 %p, %x, 7;
    @%p st.global.u64 [%nowhere], %x;
    ret;
}
)";

constexpr unsigned blocks = 1U << 16, threads = 256;
/// A round of all threads lasts about as long as so many iterations of a processor.
constexpr std::uint64_t iterations_of_round = 1024;

}  // namespace

BusyKernel::BusyKernel(Gpu const& gpu)
    : gpu_(gpu),
      kernel_(gpu.kernel(busy_kernel_ptx, "sluice_bench_busy")),
      nowhere_(gpu.device_words(1)) {}

void BusyKernel::run(std::uint64_t iterations) const {
    std::uint64_t rounds = iterations / iterations_of_round + 1;
    auto nowhere = reinterpret_cast<std::uint64_t>(nowhere_.get());
    std::array<void*, 2> parameters{&rounds, &nowhere};
    gpu_.run(kernel_, blocks, threads, parameters.data());
}

}  // namespace sluice::bench
