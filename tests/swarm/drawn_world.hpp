// A DrawnWorld is one simulation of the shipped operations: a number of ranks and nodes, files,
// calls, delays and faults that a seed draws. It checks that all calls end, that the ranks agree,
// that the bytes are those that the calls allow, and that nothing is left behind.
#pragma once
#include "drawn_calls.hpp"
#include "file_model.hpp"

#include <string>

namespace sluice::swarm {

/// What a world may have at most. Shrinking a failure lowers these.
struct Limits {
    std::int64_t ranks = 12, files = 2, phases = 3;
    std::int64_t calls = 6;     ///< Of a phase, on all files.
    std::int64_t bytes = 3000;  ///< Of a rank in a call.
    // 1 or 0: whether there are any.
    std::int64_t several_nodes = 1, hints = 1, order = 1, memory_layouts = 1, devices = 1;
    std::int64_t short_counts = 1, storage_faults = 1, ends = 1, bad_calls = 1;
};

/// Places of the parts of a world: see Random.
enum Place : std::int64_t {
    shape_place,
    faults_place,
    contents_place,
    order_place = 50,    ///< And the number of the phase.
    phases_place = 100,  ///< The same.
};

/// Faults that are drawn before a world begins.
struct DrawnFaults {
    std::int32_t failing_file = -1;  ///< None.
    std::int64_t fail_at = 0;
    bool fail_forever = false;
    int error = 0;
    Rank ends = -1;  ///< The rank whose process ends; none.
    std::int64_t ends_after = 0;
    Rank failing_device = -1;
    std::int64_t copies = 0;  ///< Before one fails.
};

/// How many of these a world had.
struct Counts {
    std::int64_t calls = 0, failed_calls = 0, bytes = 0, events = 0, most_events = 0;
    std::int64_t storage_faults = 0, ended_ranks = 0, bad_calls = 0;
    void add(Counts const& more) noexcept;
};

class DrawnWorld {
public:
    DrawnWorld(std::uint64_t seed, Limits const& limits);

    /// Empty, or what is wrong.
    [[nodiscard]] std::string run();
    [[nodiscard]] Counts const& counts() const noexcept { return counts_; }
    /// In words, for people: with the calls that it has made.
    [[nodiscard]] std::string describe() const;

private:
    /// A call of all ranks on one file.
    struct DrawnCall {
        std::int64_t number = 0;
        std::int32_t file = 0;
        Direction way = Direction::write;
        std::vector<DrawnPart> parts;
        Rank bad_rank = -1;       ///< Has bad arguments,
        bool differs = false;     ///< or makes the opposite call.
        bool is_delayed = false;  ///< Its bytes are the library's: see Call::keeps.
        Strategy strategy = Strategy::automatic;
        Hints hints;
        std::vector<std::shared_ptr<Operation>> operations;
    };
    using Calls = std::vector<DrawnCall>;

    [[nodiscard]] static std::string describe(DrawnCall const& call);
    void draw_faults(Random random);
    [[nodiscard]] Hints draw_hints(Random random) const;
    [[nodiscard]] Calls draw_phase(std::int64_t phase);
    void note_sizes(Calls const& calls);
    [[nodiscard]] DrawnCall draw_call(Random random, Direction way, Offset at);
    void draw_bad_call(Random random, DrawnCall& call) const;
    void start(Calls& calls, Random random);
    void start(DrawnCall& call, Rank rank);
    [[nodiscard]] Call make_call(DrawnCall& call, Rank rank);

    [[nodiscard]] std::string check(DrawnCall& call);
    [[nodiscard]] std::string check_statuses(DrawnCall const& call);
    [[nodiscard]] bool may_have(DrawnCall const& call, Status status) const;
    [[nodiscard]] std::string check_memory(DrawnCall const& call, Rank rank) const;
    [[nodiscard]] std::string check_read(DrawnCall const& call, Rank rank) const;
    void note_written(DrawnCall const& call);
    [[nodiscard]] std::string check_file(std::int32_t file);
    [[nodiscard]] std::string who_wrote(std::int32_t file, Offset at) const;
    [[nodiscard]] std::string check_left_over();
    [[nodiscard]] Status result(DrawnCall const& call) const;
    [[nodiscard]] bool is_ended(Rank rank) const noexcept { return rank == faults_.ends; }
    [[nodiscard]] FileModel& model(std::int32_t file);
    [[nodiscard]] FileModel const& model(std::int32_t file) const;

    Random random_;
    Limits limits_;
    simulated::WorldShape shape_;
    DrawnFaults faults_;
    bool is_ordered_ = false;
    std::int64_t next_number_ = 0;
    std::unique_ptr<simulated::World> world_;
    std::vector<FileModel> models_;
    /// How long each file is at least, and at most, while the calls of a phase are under way.
    std::vector<Span> sizes_;
    testing::FilledLater filled_later_;
    Calls made_;  ///< Of all phases.
    Counts counts_;
};

}  // namespace sluice::swarm
