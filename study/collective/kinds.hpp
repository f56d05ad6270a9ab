// MPI's collectives between memories, each by whoever can serve it: the MPI's blocking call, its
// nonblocking one, Sluice in its place, Sluice's own function. One object makes the same call again
// and again.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace sluice::collectives {

/// One way to make a call. A blocking one does everything in `start`, and has neither of the rest.
struct Way {
    std::string name;
    std::function<void()> start;
    std::function<bool()> test;
    std::function<void()> wait;
    [[nodiscard]] bool blocks() const { return !wait; }
    void run() const {
        start();
        if (wait) wait();
    }
};

inline constexpr char const* blocking_way = "blocking";      ///< The MPI's own, as all but:
inline constexpr char const* mpi_way = "mpi";                ///< Nonblocking.
inline constexpr char const* interposed_way = "interposed";  ///< MPI_I*, served by Sluice.
inline constexpr char const* sluice_way = "sluice";          ///< sluice_i*.
std::vector<std::string> nonblocking_way_names();

/// Whether the MPI_I* of this process are Sluice's.
bool interposes();

/// Counts or places of blocks, in the type that a function wants them in.
class Numbers {
public:
    void assign(int count, std::int64_t first, std::int64_t step);
    template <typename Number> operator Number const*() const {  // NOLINT: that is its purpose
        static_assert(std::is_same_v<Number, int> || sizeof(Number) == sizeof(MPI_Count));
        if constexpr (std::is_same_v<Number, int>)
            return ints_.data();
        else if constexpr (std::is_same_v<Number, MPI_Count>)
            return counts_.data();
        else
            return addresses_.data();
    }

private:
    std::vector<int> ints_;
    std::vector<MPI_Count> counts_;
    std::vector<MPI_Aint> addresses_;
};

/// All arguments that any of the kinds takes. Blocks are `count` elements.
struct Arguments {
    void *input = nullptr, *output = nullptr;
    int count = 0;
    int root = 0;
    MPI_Datatype type = MPI_BYTE;
    MPI_Op operation = MPI_SUM;
    MPI_Comm communicator = MPI_COMM_WORLD;
    Numbers counts, places, byte_places;  ///< Of blocks one after the other.
    std::vector<MPI_Datatype> types;
};

/// As the command line and records name them.
std::vector<std::string> kind_names();

/// One collective with blocks of one size: memory, arguments, and the ways to make it. What a
/// block is: see collective/collective.hpp; each rank gets as much in the irregular kinds.
class Subject {
public:
    /// Collective, as the destructor.
    Subject(std::string kind, std::uint64_t block_bytes);
    Subject(Subject const&) = delete;
    Subject& operator=(Subject const&) = delete;
    ~Subject();

    /// The blocking one first, then those of `wanted` that are there. They are this object's.
    [[nodiscard]] std::vector<Way> ways(std::vector<std::string> const& wanted) const;

    /// Collective. Makes the call once in this way and compares what it brought with what the
    /// MPI's blocking call brings: wrong bytes of all ranks.
    std::uint64_t wrong_bytes(Way const& way);

private:
    void fill();
    [[nodiscard]] bool output_counts() const;

    std::string kind_;
    int rank_ = 0, ranks_ = 1;
    std::vector<unsigned char> input_, output_;
    Arguments arguments_;
};

}  // namespace sluice::collectives
