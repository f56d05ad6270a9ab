// How memory is filled, calls are made and files compared. See experiment.hpp.
#include "simulate/experiment.hpp"

#include "simulate/index.hpp"
#include "simulate/machine_model.hpp"
#include "simulate/world.hpp"

#include <cstring>

namespace sluice::simulated {
namespace {

std::uint64_t word_at(std::uint64_t place) noexcept {
    std::uint64_t const mixed = (place + 1) * 0x9e3779b97f4a7c15;
    return mixed ^ mixed >> 29;
}

/// Calls `visit(file offset, memory offset, length)` for all that a request selects, in order.
template <class Visit> void for_each_stretch(Request const& r, Visit&& visit) {
    Cursor file(*r.view.filetype, r.position), memory(*r.memory, 0);
    for (Bytes left = r.bytes; left > 0;) {
        Bytes const length = std::min({left, file.piece_left(), memory.piece_left()});
        visit(r.view.displacement + file.offset(), memory.offset(), length);
        file.advance_in_piece(length);
        memory.advance_in_piece(length);
        left -= length;
    }
}

/// All ranks' calls, their memory, and what must come of them.
class Trial {
public:
    explicit Trial(Experiment const& experiment)
        : experiment_(experiment),
          world_(shape(), experiment.seed, std::make_unique<MachineModel>(experiment.machine)) {
        world_.file(0).is_stored = experiment.checked;
    }

    Outcome run() {
        for (Rank r = 0; r < experiment_.machine.ranks(); ++r) prepare(r);
        if (way_ == Direction::read) fill_file();
        if (experiment_.meter) world_.measure(*experiment_.meter);
        for (Rank r = 0; r < experiment_.machine.ranks(); ++r) call(r);
        Outcome outcome;
        outcome.fault = world_.run();
        if (outcome.fault.empty()) outcome.fault = first_failure();
        if (outcome.fault.empty() && experiment_.checked) outcome.fault = first_difference();
        account(outcome);
        return outcome;
    }

private:
    [[nodiscard]] WorldShape shape() const {
        WorldShape shape;
        shape.machine = experiment_.profile;
        shape.rank_count = experiment_.machine.ranks();
        shape.ranks_per_node = experiment_.machine.ranks_per_node;
        shape.local_aggregators = experiment_.local_aggregators;
        shape.costs = costs_of(experiment_.machine);
        shape.cb_buffer_bytes = experiment_.cb_buffer_bytes_max;
        shape.aggregators = std::max(aggregators_usual(), experiment_.hints.aggregator_count);
        return shape;
    }
    /// As the library has it: at most four on each node.
    [[nodiscard]] std::int32_t aggregators_usual() const {
        Machine const& m = experiment_.machine;
        return m.nodes * std::min(m.ranks_per_node, 4);
    }

    /// Ranks whose bytes nobody compares have one memory for all, and their file has a length only:
    /// so many of them, with so much each, fit into this machine.
    void prepare(Rank r) {
        requests_.push_back(experiment_.request(r));
        Request const& request = requests_.back();
        way_ = request.direction;
        if (experiment_.checked) return prepare_bytes(request);
        Offset end = 0;
        Cursor memory(*request.memory, 0);
        for (Bytes left = request.bytes; left > 0;) {
            Bytes const length = std::min(left, memory.piece_left());
            end = std::max(end, memory.offset() + length);
            memory.advance_in_piece(length);
            left -= length;
        }
        if (memories_.empty()) memories_.emplace_back();
        if (memories_[0].size() < index(end)) memories_[0].resize(index(end));
        file_end_ = std::max(file_end_, span_of(request).end);
    }

    void prepare_bytes(Request const& request) {
        Offset end = 0;
        for_each_stretch(request, [&](Offset in_file, Offset in_memory, Bytes length) {
            end = std::max(end, in_memory + length);
            file_end_ = std::max(file_end_, in_file + length);
        });
        memories_.emplace_back(index(end));
        if (way_ == Direction::write) fill_memory(request, memories_.back());
    }

    static void fill_memory(Request const& request, std::vector<std::byte>& memory) {
        for_each_stretch(request, [&](Offset in_file, Offset in_memory, Bytes length) {
            fill_with_pattern(memory.data() + in_memory, in_file, length);
        });
    }

    void fill_file() {
        File& file = world_.file(0);
        file.grow(index(file_end_));
        if (file.is_stored) fill_with_pattern(file.bytes.data(), 0, file_end_);
    }

    void call(Rank r) {
        Call call;
        call.request = requests_[index(r)];
        call.user = memories_[experiment_.checked ? index(r) : 0].data();
        call.hints = experiment_.hints;
        operations_.push_back(world_.call(r, 0, std::move(call)));
    }

    [[nodiscard]] std::string first_failure() const {
        for (std::size_t r = 0; r < operations_.size(); ++r) {
            Operation const& operation = *operations_[r];
            std::string const who = "rank " + std::to_string(r);
            if (operation.status() != Status::ok) return who + ": " + describe(operation.status());
            if (operation.bytes() != requests_[r].bytes)
                return who + ": " + std::to_string(operation.bytes()) + " bytes of " +
                       std::to_string(requests_[r].bytes);
        }
        return {};
    }

    [[nodiscard]] std::string first_difference() {
        if (way_ == Direction::write) return difference_of_file();
        for (std::size_t r = 0; r < requests_.size(); ++r) {
            std::vector<std::byte> expected(memories_[r].size());
            fill_memory(requests_[r], expected);
            std::string const fault = difference(memories_[r], expected);
            if (!fault.empty()) return "memory of rank " + std::to_string(r) + ", " + fault;
        }
        return {};
    }

    /// The serial model: the ranks write one after the other into a file of zeros.
    [[nodiscard]] std::string difference_of_file() {
        std::vector<std::byte> expected(index(file_end_));
        for (Request const& request : requests_) {
            for_each_stretch(request, [&](Offset in_file, Offset, Bytes length) {
                fill_with_pattern(expected.data() + in_file, in_file, length);
            });
        }
        std::string const fault = difference(world_.file(0).bytes, expected);
        return fault.empty() ? fault : "file, " + fault;
    }

    static std::string difference(std::vector<std::byte> const& is,
                                  std::vector<std::byte> const& expected) {
        if (is.size() != expected.size())
            return std::to_string(is.size()) + " bytes, expected " +
                   std::to_string(expected.size());
        auto const [differs, model] = std::mismatch(is.begin(), is.end(), expected.begin());
        if (differs == is.end()) return {};
        return "offset " + std::to_string(differs - is.begin()) + ": " +
               std::to_string(static_cast<int>(*differs)) + ", expected " +
               std::to_string(static_cast<int>(*model));
    }

    void account(Outcome& outcome) {
        for (Rank r = 0; r < experiment_.machine.ranks(); ++r) {
            outcome.largest.raise_to(world_.parts(r));
            outcome.sum.add(world_.parts(r));
            outcome.messages += world_.mail_of(r).sent;
            outcome.message_bytes += world_.mail_of(r).bytes_sent;
            outcome.bytes += requests_[index(r)].bytes;
            outcome.seconds = std::max(outcome.seconds, operations_[index(r)]->ended());
        }
        outcome.storage_calls = world_.file(0).calls;
        outcome.events = world_.time().events();
        outcome.plan = operations_.front()->plan();
    }

    Experiment const& experiment_;
    World world_;
    Direction way_ = Direction::write;
    Offset file_end_ = 0;
    std::vector<Request> requests_;
    std::vector<std::vector<std::byte>> memories_;
    std::vector<std::shared_ptr<Operation>> operations_;
};

}  // namespace

void fill_with_pattern(std::byte* to, Offset file_offset, Bytes bytes) noexcept {
    while (bytes > 0) {
        std::uint64_t const word = word_at(static_cast<std::uint64_t>(file_offset) >> 3);
        auto const skip = static_cast<std::size_t>(file_offset & 7);
        auto const part = std::min<std::size_t>(8 - skip, static_cast<std::size_t>(bytes));
        std::memcpy(to, reinterpret_cast<std::byte const*>(&word) + skip, part);
        to += part, file_offset += static_cast<Offset>(part), bytes -= static_cast<Bytes>(part);
    }
}

Outcome run(Experiment const& experiment) { return Trial(experiment).run(); }

}  // namespace sluice::simulated
