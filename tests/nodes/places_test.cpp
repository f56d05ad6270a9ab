// Which ranks share a node, for the MPI and for Sluice, and whether that is one host each:
// places_test --dir DIRECTORY HOSTS RANKS_PER_HOST.
//
// What Sluice takes for a node is seen from outside: its ranks map the same anonymous memory.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace {

/// Of one rank; zeros at the end, so that records can be compared as bytes.
struct Place {
    std::array<char, 64> host{};
    unsigned long memory = 0;  ///< The lowest inode of what Sluice shares; 0: nothing.
};

/// All ranks of a node map the same ones: its window, and the doorbells of all of them.
std::set<unsigned long> mapped_memories() {
    std::set<unsigned long> found;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find("/memfd:sluice") == std::string::npos) continue;
        unsigned long inode = 0;
        if (std::sscanf(line.c_str(), "%*s %*s %*s %*s %lu", &inode) == 1) found.insert(inode);
    }
    return found;
}

Place own_place() {
    Place place;
    gethostname(place.host.data(), place.host.size() - 1);
    auto const memories = mapped_memories();
    if (!memories.empty()) place.memory = *memories.begin();
    return place;
}

int ranks_of_the_mpis_node() {
    MPI_Comm node = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    int ranks = 0;
    MPI_Comm_size(node, &ranks);
    MPI_Comm_free(&node);
    return ranks;
}

/// Every rank writes its number, so that Sluice has set up its nodes; returns whether it is there.
bool write_together(MPI_File file, int rank, int ranks) {
    std::vector<int> words(1024, rank);
    MPI_Datatype view = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_INT, 0, MPI_Aint(sizeof(int)) * ranks, &view);
    MPI_Type_commit(&view);
    auto const displacement = MPI_Offset(sizeof(int)) * rank;
    MPI_File_set_view(file, displacement, MPI_INT, view, "native", MPI_INFO_NULL);
    MPI_Type_free(&view);
    MPI_File_write_at_all(file, 0, words.data(), int(words.size()), MPI_INT, MPI_STATUS_IGNORE);
    std::fill(words.begin(), words.end(), -1);
    MPI_File_read_at_all(file, 0, words.data(), int(words.size()), MPI_INT, MPI_STATUS_IGNORE);
    return std::all_of(words.begin(), words.end(), [rank](int word) { return word == rank; });
}

class Checks {
public:
    explicit Checks(int rank) : rank_(rank) {}
    void expect(bool right, char const* what, long found) {
        if (right) return;
        ++wrong_;
        std::printf("rank %d: %s (%ld)\n", rank_, what, found);
    }
    [[nodiscard]] int wrong() const { return wrong_; }

private:
    int rank_, wrong_ = 0;
};

void compare_places(Checks& checks, std::vector<Place> const& places, int rank, long hosts,
                    long per_host) {
    auto const& mine = places[std::size_t(rank)];
    std::set<std::string> names;
    long on_host = 0;
    for (auto const& place : places) {
        names.insert(place.host.data());
        bool const same_host = std::strcmp(place.host.data(), mine.host.data()) == 0;
        bool const same_memory =
            &place == &mine || (mine.memory != 0 && place.memory == mine.memory);
        on_host += same_host ? 1 : 0;
        checks.expect(same_host == same_memory,
                      same_host ? "Sluice divides a host into nodes" : "Sluice joins hosts",
                      long(place.memory));
    }
    checks.expect(long(names.size()) == hosts, "unexpected number of hosts", long(names.size()));
    checks.expect(on_host == per_host, "unexpected ranks on this host", on_host);
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 5) {
        std::fprintf(stderr, "usage: places_test --dir DIRECTORY HOSTS RANKS_PER_HOST\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    long const hosts = std::strtol(argv[3], nullptr, 10);
    long const per_host = std::strtol(argv[4], nullptr, 10);
    auto const path = std::string(argv[2]) + "/places";

    Checks checks(rank);
    MPI_File file = MPI_FILE_NULL;
    MPI_File_open(MPI_COMM_WORLD, path.c_str(),
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    checks.expect(write_together(file, rank, ranks), "wrong bytes", 0);
    auto const mine = own_place();
    std::vector<Place> places(std::size_t(ranks), Place{});
    MPI_Allgather(&mine, int(sizeof mine), MPI_BYTE, places.data(), int(sizeof mine), MPI_BYTE,
                  MPI_COMM_WORLD);
    compare_places(checks, places, rank, hosts, per_host);
    int const of_mpi = ranks_of_the_mpis_node();
    checks.expect(of_mpi == per_host, "unexpected ranks of the MPI's node", of_mpi);
    MPI_File_close(&file);

    int const mine_wrong = checks.wrong();
    int wrong = 0;
    MPI_Allreduce(&mine_wrong, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        std::printf("%ld hosts, %ld ranks each: %d wrong\n", hosts, per_host, wrong);
        for (auto const& place : places)
            std::printf("  rank %ld: host %s, memory %lu\n", long(&place - places.data()),
                        place.host.data(), place.memory);
    }
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
