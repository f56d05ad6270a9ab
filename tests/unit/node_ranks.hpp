// Ranks of a node for tests of its messages: threads that share memory, or processes; and random
// traffic among them, of which every rank knows all from a seed.
#pragma once
#include "common_doorbells.hpp"
#include "system/shared_memory.hpp"
#include "transport/node_network.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <vector>

namespace sluice {

inline constexpr Rank ranks_max = 8;

/// What all ranks of a test see.
struct Common {
    EventCount doorbells[ranks_max];
    NodeNetwork::Address addresses[ranks_max];
    std::atomic<int> arrived, flag;
};

/// One rank in its own thread or process.
struct NodeRank {
    NodeNetwork& network;
    Common& common;
    Rank self, ranks;
    double seconds_asleep = 30;  ///< So that a ring that is missing takes long.

    /// Looks until it is so; sleeps when nothing moves.
    void until(std::function<bool()> const& so) const {
        for (int idle = 0; !so();) {
            std::uint32_t const seen = common.doorbells[self].events.load();
            idle = network.progress() ? 0 : idle + 1;
            if (idle < 100 || network.must_look_again()) {
                if (idle) sched_yield();
            } else if (!so()) {
                wait_for_event(common.doorbells[self], seen, seconds_asleep);
            }
        }
    }
    void finish(Message& message) const {
        until([&] { return network.finished(message); });
    }
    /// All ranks have come here.
    void meet() const {
        int const before = common.arrived.fetch_add(1);
        int const all = (before / ranks + 1) * ranks;
        while (common.arrived.load() < all) sched_yield();
    }
};

/// What a rank does; what it returns is wrong.
using RankProgram = std::function<std::string(NodeRank const&)>;

/// Whether the system copies between processes at all: QEMU does not where it emulates a processor.
inline bool system_copies() {
    int from = 1, to = 0;
    iovec const source{&from, sizeof from}, target{&to, sizeof to};
    return process_vm_readv(getpid(), &target, 1, &source, 1, 0) == sizeof to;
}

inline std::string run_rank(NodeNetwork& network, Common& common, Rank self, Rank ranks,
                            bool copies, RankProgram const& program) {
    NodeRank const rank{network, common, self, ranks};
    common.addresses[self] = network.address();
    rank.meet();
    std::vector<NodeNetwork::Address> const peers(common.addresses, common.addresses + ranks);
    if (!system_copies()) copies = false;
    if (copies && !network.can_copy_from(peers)) return "memory of peers cannot be read";
    network.use_copies(copies, peers);
    rank.meet();
    return program(rank);
}

/// Threads over one mapping, so that the thread sanitizer sees them all.
inline std::string on_threads(Rank ranks, bool copies, RankProgram const& program) {
    Common common{};
    auto const memory = SharedMemory::create_private(NodeNetwork::bytes_needed(ranks));
    if (!memory) return "no memory";
    std::vector<std::string> faults(static_cast<std::size_t>(ranks));
    std::vector<std::thread> threads;
    for (Rank self = 0; self < ranks; ++self) {
        threads.emplace_back([&, self] {
            CommonDoorbells doorbells(common.doorbells);
            NodeNetwork network(memory->data(), self, ranks, doorbells);
            faults[static_cast<std::size_t>(self)] =
                run_rank(network, common, self, ranks, copies, program);
            NodeRank{network, common, self, ranks}.meet();
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::string all;
    for (std::string const& fault : faults) all += fault;
    return all;
}

/// Processes that attach a memory without a name.
class Processes {
public:
    explicit Processes(Rank ranks) : ranks_(ranks) {
        memory_ = SharedMemory::create(bytes());
        void* const at = mmap(nullptr, sizeof(Common), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        common_ = static_cast<Common*>(at);
        if (memory_) (void)memory_->reserve({0, static_cast<Offset>(bytes())});
    }
    ~Processes() { munmap(common_, sizeof(Common)); }
    Processes(Processes const&) = delete;
    Processes& operator=(Processes const&) = delete;

    void start(bool copies, RankProgram const& program) {
        for (Rank self = 0; self < ranks_; ++self) {
            std::fflush(nullptr);
            pid_t const child = fork();
            if (child == 0) _exit(run(self, copies, program));
            pids_.push_back(child);
        }
    }
    [[nodiscard]] pid_t pid(Rank rank) const { return pids_[static_cast<std::size_t>(rank)]; }
    [[nodiscard]] Common& common() const { return *common_; }
    /// Collects all; how many ended as they should.
    int wait() {
        int good = 0;
        for (pid_t const pid : pids_) {
            int status = -1;
            good += waitpid(pid, &status, 0) == pid && status == 0;
        }
        pids_.clear();
        return good;
    }

private:
    [[nodiscard]] std::size_t bytes() const { return NodeNetwork::bytes_needed(ranks_); }
    int run(Rank self, bool copies, RankProgram const& program) {
        auto const memory = SharedMemory::attach(memory_->name(), bytes());
        if (!memory) return 2;
        CommonDoorbells doorbells(common_->doorbells);
        NodeNetwork network(memory->data(), self, ranks_, doorbells);
        std::string const fault = run_rank(network, *common_, self, ranks_, copies, program);
        if (!fault.empty()) std::fprintf(stderr, "rank %d: %s\n", self, fault.c_str());
        return fault.empty() ? 0 : 1;
    }

    Rank ranks_;
    std::optional<SharedMemory> memory_;
    Common* common_ = nullptr;
    std::vector<pid_t> pids_;
};

inline std::string on_processes(Rank ranks, bool copies, RankProgram const& program) {
    Processes processes(ranks);
    processes.start(copies, program);
    return processes.wait() == ranks ? "" : "a process failed";
}

using Content = std::vector<std::byte>;

/// Bytes that tell messages and places apart.
inline Content content(std::uint64_t seed, std::size_t bytes) {
    Content made(bytes);
    std::uint64_t word = seed * 0x9e3779b97f4a7c15U + 1;
    for (std::size_t at = 0; at < bytes; at += sizeof word) {
        word += 0xd1b54a32d192ed03U;
        std::memcpy(made.data() + at, &word, std::min(sizeof word, bytes - at));
    }
    return made;
}

inline std::span<std::byte const> bytes_of(Content const& made) { return made; }

struct Letter {
    Rank from = 0, to = 0;
    std::uint64_t context = 0;
    int tag = 0;
    std::size_t bytes = 0;
    std::uint64_t seed = 0;
    [[nodiscard]] auto triple() const { return std::tuple(from, to, context, tag); }
};

inline std::size_t random_size(std::mt19937_64& random) {
    std::uint64_t const dice = random() % 100;
    if (dice < 15) return 0;
    if (dice < 60) return random() % 130;
    if (dice < 85) return random() % 20'000;
    if (dice < 96) return random() % 200'000;
    return random() % (3 << 20);
}

/// Traffic of which every rank knows all.
inline std::vector<Letter> random_letters(std::uint64_t seed, Rank ranks, int count) {
    std::mt19937_64 random(seed);
    auto const below = [&](int end) {
        return static_cast<int>(random() % static_cast<std::uint64_t>(end));
    };
    std::vector<Letter> letters;
    for (int i = 0; i < count; ++i) {
        std::uint64_t const context = (std::uint64_t{1} << 40) + random() % 2;
        letters.push_back({below(ranks), below(ranks), context, below(3) - 1, random_size(random),
                           seed * 1'000'000 + static_cast<std::uint64_t>(i)});
    }
    return letters;
}

/// In a random order that keeps the order of equal triples.
inline std::vector<Letter> shuffled(std::vector<Letter> const& letters, std::mt19937_64& random) {
    std::map<decltype(Letter{}.triple()), std::vector<Letter>> by_triple;
    for (Letter const& letter : letters) by_triple[letter.triple()].push_back(letter);
    std::vector<Letter> mixed = letters;
    std::shuffle(mixed.begin(), mixed.end(), random);
    std::map<decltype(Letter{}.triple()), std::size_t> used;
    for (Letter& letter : mixed) letter = by_triple[letter.triple()][used[letter.triple()]++];
    return mixed;
}

/// This rank's half of a letter, under way.
struct Half {
    Letter letter;
    bool sends = false, done = false;
    Content memory;
    Message message;
};

/// All halves of this rank's letters, in its own order.
inline std::vector<Half> halves_of(std::vector<Letter> const& letters, Rank self,
                                   std::mt19937_64& random) {
    std::vector<Half> halves;
    for (bool const sends : {true, false}) {
        for (Letter const& letter : shuffled(letters, random)) {
            if ((sends ? letter.from : letter.to) == self)
                halves.push_back({letter, sends, false, {}, {}});
        }
    }
    // The two kinds are merged at random, each in its order.
    std::vector<Half> merged;
    std::size_t const first_receive =
        static_cast<std::size_t>(std::ranges::find(halves, false, &Half::sends) - halves.begin());
    std::size_t send = 0, receive = first_receive;
    while (merged.size() < halves.size()) {
        bool const take_send =
            receive == halves.size() || (send < first_receive && random() % 2 == 0);
        merged.push_back(halves[take_send ? send++ : receive++]);
    }
    return merged;
}

/// Of one that is finished.
inline std::string fault_of(Half const& half) {
    if (half.message.failed()) return "a message failed\n";
    if (half.sends) return "";
    if (half.message.received != static_cast<Bytes>(half.letter.bytes)) return "wrong length\n";
    Content const expected = content(half.letter.seed, half.letter.bytes);
    bool const equal = std::equal(expected.begin(), expected.end(), half.memory.begin());
    return equal ? "" : "wrong bytes\n";
}

}  // namespace sluice
