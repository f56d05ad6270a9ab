// Makes the recorded calls of one rank again, at the recorded pace.
#pragma once
#include "bench/replay/content.hpp"
#include "bench/replay/datatypes.hpp"
#include "bench/replay/functions.hpp"

#include <deque>
#include <set>
#include <string>

namespace sluice::replay {

/// What the program does in the time between two calls.
enum class Compute : std::uint8_t { sleep, spin, none };

struct Options {
    std::string log, folder, json, hints;
    int files = 1;  ///< How often it is played, each time into files of its own.
    Compute compute = Compute::spin;
    bool check = false, keep = false;
    std::uint64_t seed = 1;
};

/// Seconds of one name of calls, here and in the log.
struct Times {
    std::int64_t calls = 0;
    double replayed = 0, recorded = 0;
};

struct Outcome {
    std::map<std::string, Times> calls;
    Times blocked;                       ///< Of all calls of the rank.
    double seconds = 0, recorded = 0;    ///< From the first moment to the end of the last call.
    double late = 0;                     ///< By which making bytes took longer than computation.
    std::int64_t errors = 0, wrong = 0;  ///< Calls that failed, bytes that are not as they must be.
    std::int64_t checked = 0;            ///< Bytes that were compared.
    std::string first_error;
};

class Player {
public:
    /// `pass`: which of the Options::files.
    Player(Options const& options, record::RankLog const& log, int pass);

    /// Files that the program found are made, others that are in the way are removed. Between
    /// barriers of all ranks.
    void prepare();
    void play();
    /// Compares what this rank wrote, by calls of the system. After a barrier of all ranks.
    void check();
    void remove_files() const;

    [[nodiscard]] Outcome const& outcome() const noexcept { return outcome_; }

private:
    using Memory = std::vector<std::byte>;
    /// One access until it is complete.
    struct Pending {
        Function const* function = nullptr;
        AccessCall call;
        Memory memory;
        std::byte* origin = nullptr;
        Transfer transfer;
        std::uint64_t seed = 0;
        bool has_places = false;  ///< Where its bytes lie in the file is known.
    };
    struct OpenFile {
        MPI_File handle = MPI_FILE_NULL;
        std::string path;
        std::uint64_t seed = 0;
        std::shared_ptr<Layout const> view = Layout::contiguous();
        Offset displacement = 0;
        Bytes etype = 1;
        std::int64_t pointer = 0;  ///< Individual, in etypes.
        bool native = true;
        std::unique_ptr<Pending> begun;
    };
    struct Written {
        std::string path;
        std::uint64_t seed = 0;
        Transfer transfer;
        Offset until = endless;  ///< The file was cut off there afterwards.
    };

    [[nodiscard]] std::string path_of(std::string const& recorded) const;
    [[nodiscard]] OpenFile* file_of(record::Entry const& entry);
    [[nodiscard]] double due(record::Entry const& entry) const;
    void wait_until_due(record::Entry const& entry);
    void poll_until_due(record::Entry const& entry, std::vector<MPI_Request> const& requests);
    /// Times `call()`, which returns an error class, and counts it.
    template <class Call> void timed(record::Entry const& entry, Call&& call);
    void pass_computation(double until);
    void play_entry(record::Entry const& entry);
    void open(record::Entry const& entry);
    void set_view(record::Entry const& entry);
    void access(record::Entry const& entry, Function const& function);
    void finish(record::Entry const& entry);
    void complete(record::Entry const& entry);
    bool play_upkeep(record::Entry const& entry);
    void seek(record::Entry const& entry, OpenFile& file);
    void cut(OpenFile const& file, Offset size);
    [[nodiscard]] std::unique_ptr<Pending> pending_of(record::Entry const& entry,
                                                      Function const& function, OpenFile& file);
    void lay_out(record::Entry const& entry, Pending& pending, OpenFile& file);
    void take_memory(Pending& pending, std::int64_t type_number, Bytes type_bytes, Offset extent);
    void end(Pending& pending);
    [[nodiscard]] MPI_Info info_of(record::Entry const& entry) const;
    void note_error(record::Entry const& entry, int code);
    void check_written(Written const& written);
    void make_input(std::string const& path, std::uint64_t seed, Span span) const;

    Options const& options_;
    record::RankLog const& log_;
    int const pass_;
    record::Types types_;
    Datatypes datatypes_;
    Communicators communicators_;
    std::map<std::int64_t, std::vector<std::int64_t>> groups_;
    std::map<std::int64_t, OpenFile> files_;
    std::map<std::int64_t, std::unique_ptr<Pending>> requests_;
    std::vector<std::unique_ptr<Pending>> freed_;  ///< Requests that nobody waits for.
    std::vector<Memory> spare_;
    std::deque<Written> written_;
    std::set<std::string> shared_;   ///< Files with bytes whose places nobody knows.
    std::set<std::string> deleted_;  ///< Files that are gone at the end.
    std::set<std::string> paths_;
    double began_ = 0, previous_end_ = 0;
    std::int64_t recorded_end_ = 0;
    Outcome outcome_;
};

}  // namespace sluice::replay
