// What messages between two ranks of a node cost (transport/node_network.hpp), without an MPI:
// prints lines of PATTERN BYTES MEDIAN LEAST, in seconds. tests/overhead/node.py asks the MPIs as
// well.
//
//   there_and_back   half of the way out and back
//   both_ways        a message each, at the same time
//   unattended       one way, to a receiver that looks from a sender that does not
#include "../unit/common_doorbells.hpp"
#include "transport/node_network.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace sluice;

struct Common {
    EventCount doorbells[2];
    NodeNetwork::Address addresses[2];
    std::atomic<int> arrived, taken;
};

double seconds() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

class Pair {
public:
    Pair(std::byte* memory, Common& common, Rank self)
        : common_(common),
          self_(self),
          doorbells_(common.doorbells),
          network_(memory, self, 2, doorbells_) {
        cpu_set_t core;  // Each has a core of its own.
        CPU_ZERO(&core);
        CPU_SET(static_cast<std::size_t>(self), &core);
        sched_setaffinity(0, sizeof core, &core);
        common.addresses[self] = network_.address();
        common.arrived.fetch_add(1);
        while (common.arrived.load() < 2) sched_yield();
        std::vector<NodeNetwork::Address> const both(common.addresses, common.addresses + 2);
        network_.use_copies(network_.can_copy_from(both), both);
    }

    void there_and_back(std::size_t bytes) {
        if (self_ == 0) finish(send(bytes));
        finish(receive(bytes));
        if (self_ == 1) finish(send(bytes));
    }
    void both_ways(std::size_t bytes) {
        Message incoming = receive(bytes), outgoing = send(bytes);
        while (!network_.finished(outgoing)) network_.progress();
        finish(incoming);
    }
    void unattended(std::size_t bytes) {
        if (self_ == 1) {
            finish(receive(bytes));
            common_.taken.fetch_add(1);
        } else {
            Message message = send(bytes);
            for (++expected_; common_.taken.load() < expected_;) {
            }
            finish(message);
        }
    }
    void meet() { both_ways(0); }
    [[nodiscard]] Rank self() const noexcept { return self_; }

private:
    Message send(std::size_t bytes) {
        return network_.start_send(1 - self_, 1, 1, {outgoing_.data(), bytes});
    }
    Message receive(std::size_t bytes) {
        return network_.start_recv(1 - self_, 1, 1, {incoming_.data(), bytes});
    }
    void finish(Message message) {
        while (!network_.finished(message)) network_.progress();
    }

    static constexpr std::size_t bytes_max = 4 << 20;
    Common& common_;
    Rank self_;
    int expected_ = 0;
    CommonDoorbells doorbells_;
    NodeNetwork network_;
    std::vector<std::byte> outgoing_ = std::vector<std::byte>(bytes_max, std::byte{1});
    std::vector<std::byte> incoming_ = std::vector<std::byte>(bytes_max, std::byte{2});
};

struct Pattern {
    char const* name;
    void (Pair::*once)(std::size_t);
    double messages;  ///< One after the other.
};

void measure(Pair& pair, Pattern const& pattern, std::size_t bytes, int samples) {
    int const inside = bytes <= 4096 ? 50 : bytes <= 65536 ? 10 : 1;
    std::vector<double> times;
    for (int sample = 0; sample < samples; ++sample) {
        pair.meet();
        pair.meet();
        double const begin = seconds();
        for (int i = 0; i < inside; ++i) (pair.*pattern.once)(bytes);
        times.push_back((seconds() - begin) / inside / pattern.messages);
    }
    std::ranges::sort(times);
    if (pair.self() != 0) return;
    std::printf("%s %zu %.3e %.3e\n", pattern.name, bytes, times[times.size() / 2], times[0]);
}

void* shared(std::size_t bytes) {
    void* const at =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) std::exit(1);
    return std::memset(at, 0, bytes);
}

}  // namespace

int main() {
    auto* const memory = static_cast<std::byte*>(shared(NodeNetwork::bytes_needed(2)));
    auto* const common = static_cast<Common*>(shared(sizeof(Common)));
    pid_t const child = fork();
    Pair pair(memory, *common, child == 0 ? 1 : 0);
    for (std::size_t const bytes :
         {0, 8, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20}) {
        int const samples = bytes <= 65536 ? 200 : 50;
        measure(pair, {"there_and_back", &Pair::there_and_back, 2}, bytes, samples);
        measure(pair, {"both_ways", &Pair::both_ways, 1}, bytes, samples);
        if (bytes > 32 << 10) measure(pair, {"unattended", &Pair::unattended, 1}, bytes, samples);
    }
    std::fflush(nullptr);
    if (child == 0) _exit(0);
    int status = 1;
    waitpid(child, &status, 0);
    return status == 0 ? 0 : 1;
}
