// A file of a random program that several handles have open at once, on the whole world, on parts
// of it, and on each rank alone. Blocking accesses are seen by whoever comes later, through
// whatever handle: a rank sees its own at once, others after a meeting. Every rank works out what
// all of them do, and has them meet only where two would otherwise touch the same bytes in no
// order.
#pragma once
#include "random_any_file.hpp"
#include "random_handle.hpp"
#include "random_order.hpp"

namespace random_test {

class JointFile : public AnyFile {
public:
    JointFile(Settings const& settings, Program const& program, int index,
              Communicators const& communicators, PendingRequests& pending, Counts& counts);
    void step(Step const& step) override;
    void finish(int step) override;

private:
    /// Bytes of the file.
    struct Range {
        std::int64_t begin = 0, end = 0;
        std::int64_t bytes() const { return end - begin; }
    };

    // Each use of chance within a step has a name of its own, which all ranks know.
    Random draw() { return {seed_, {step_, 8, index_, turn_++}}; }
    std::uint64_t key() { return draw().next(); }
    void say(std::string const& text) const { AnyFile::say(step_, text); }

    std::vector<int> everybody() const {
        std::vector<int> ranks(static_cast<std::size_t>(check::size()));
        std::iota(ranks.begin(), ranks.end(), 0);
        return ranks;
    }
    std::int64_t size() const { return content_.size(); }
    Lengths lengths() const { return {size(), size()}; }
    std::int64_t& position(Handle& handle) { return handle.own().model.positions[handle.rank]; }
    /// A byte that is in no file stands for the shared pointer of a team.
    static model::Block pointer_byte(Handle const& handle, std::size_t team) {
        return {-1 - 64 * handle.number - static_cast<std::int64_t>(team), 1};
    }

    /// The handle whose shared pointer is used. MPICH gives one pointer to all handles of a file
    /// that a process opens within a second, Open MPI to those of one communicator, and on each
    /// rank alone.
    Handle& with_pointer() { return handles_.front(); }

    // random_joint_access.hpp
    Handle& pick(Random& random, Direction direction);
    Handle& able(Handle& handle, Direction direction);
    std::vector<std::size_t> acting(Random& random, Handle const& handle);
    Form form_of(Random& random, Direction direction, bool atomic);
    void transfer();
    void independent();
    void look_at_written(Random& random);
    void access(Handle& handle, std::size_t team, Form form, std::vector<Part> parts,
                bool equal_data = false);
    void move(Handle& handle, Form form, Part const& part, model::Bytes const& data);
    Touch touch_of(Handle const& handle, std::size_t team, Form form, Part const& part) const;
    void widen(Form form, bool equal_data, std::vector<Touch>& touches) const;
    std::vector<Part> parts_for(Handle const& handle, std::size_t team, Direction direction,
                                Range range, bool all);
    void read_back(Range range);
    void overwrite(Range range);
    void end_split(Handle& handle);
    void complete_everything();
    void arrange(Clash const& clash);
    void follow(Clash const& clash);
    void meet(std::set<int> const& ranks);
    void check_position(Handle& handle);

    // random_joint_upkeep.hpp
    void open(Handle& handle, int mode = 0);
    void close(Handle& handle);
    void open_or_close(Handle& handle);
    static Views dense_views(Element etype, int ranks, std::int64_t displacement);
    void set_views(Handle& handle);
    void set_view(Handle& handle, std::size_t team, Views views, bool with_hints = false);
    void seek(Handle& handle);
    void sync(Handle& handle);
    void look_by_posix();
    void compare_by_posix(model::Blocks const& blocks, bool whole);
    void look_at_end(std::vector<int> const& ranks);
    void get_size(Handle& handle);
    void set_size();
    void change_end(Handle const& handle, std::size_t team, std::int64_t from);
    void resize(Handle& handle, std::size_t team, std::int64_t wanted);
    void preallocate();
    void set_atomic(Handle& handle);
    void set_info(Handle& handle);
    void recreate();
    void remove(Random& random);

    // random_joint_shared.hpp
    void shared_pointer();
    void ordered(Random& random, Handle& handle, std::size_t team, Direction direction);
    void each_alone(Random& random, Handle& handle, std::size_t team, Direction direction);
    void all_the_same(Random& random, Handle& handle, std::size_t team);
    void seek_shared(Handle& handle, std::size_t team, std::int64_t target);
    void check_shared(Random& random, Handle& handle, std::size_t team);
    void reach_pointer(Handle const& handle, std::size_t team, bool moves,
                       std::vector<int> const& ranks);
    void reach_pointer(Handle const& handle, std::size_t team, Form form,
                       std::vector<Part> const& parts);

    // random_joint_series.hpp
    void series();
    void begin_series(Random& random, Handle& handle, std::size_t team, Direction direction);
    static std::vector<Part> next_of(Team const& team, std::int64_t ahead);
    bool advance(Handle& handle, std::size_t team);
    void go_to(Handle& handle, std::size_t team, std::vector<Part> const& parts);
    void interrupt(Random& random, Handle& handle, std::size_t team);
    void records();
    void fill(Random& random, Handle& handle, std::size_t team, Range range);

    Communicators const& communicators_;
    std::string path_;
    model::File content_;
    Order order_;
    std::vector<Handle> handles_;
    bool only_file_;
    std::int64_t most_;  ///< No access ends behind this.
    Range last_written_ = {};
    int step_ = -1;
    std::int64_t turn_ = 0;  ///< Uses of chance in this step.
};

inline JointFile::JointFile(Settings const& settings, Program const& program, int index,
                            Communicators const& communicators, PendingRequests& pending,
                            Counts& counts)
    : AnyFile(settings, program, index, pending, counts),
      communicators_(communicators),
      path_(path_of(0)),
      content_(program.files[static_cast<std::size_t>(index)].prefilled),
      order_(check::size()),
      only_file_(program.files.size() == 1),
      most_(sizes_of(program.scale, settings.shrink).file) {
    auto const& plan = program.files[static_cast<std::size_t>(index)];
    auto const sizes = sizes_of(program.scale, settings.shrink);
    std::vector<Group> groups{plan.group};
    groups.insert(groups.end(), plan.others.begin(), plan.others.end());
    for (Group const group : groups) {
        int const number = static_cast<int>(handles_.size());
        handles_.push_back(make_handle(number, group, communicators, sizes, settings.plain()));
    }
    if (check::rank() == 0) check::posix_write(path_, model::prefill(0, size()));
    MPI_Barrier(MPI_COMM_WORLD);
    counts_.note(Counts::handles);
    for (auto& handle : handles_) {
        if (handle.number == 0 || draw().chance(75)) open(handle);
    }
}

inline void JointFile::step(Step const& step) {
    step_ = step.number;
    turn_ = 0;
    Random random = draw();
    Handle& any = handles_[random.below(handles_.size())];
    Handle& writable = pick(random, Direction::write);
    Handle& opened = any.is_open() ? any : writable;
    switch (step.kind) {
    case Kind::transfer:
        return transfer();
    case Kind::independent:
        return independent();
    case Kind::shared:
        return shared_pointer();
    case Kind::series:
        return series();
    case Kind::records:
        return records();
    case Kind::set_view:
        return set_views(opened);
    case Kind::end_split:
        return end_split(opened);
    case Kind::seek:
        return seek(opened);
    case Kind::position:
        end_split(opened);
        return check_position(opened);
    case Kind::sync:
        return sync(writable);
    case Kind::posix:
        return look_by_posix();
    case Kind::set_size:
        return set_size();
    case Kind::preallocate:
        return preallocate();
    case Kind::get_size:
        return get_size(opened);
    case Kind::atomic:
        return set_atomic(opened);
    case Kind::set_info:
        return set_info(opened);
    case Kind::reopen:
        return open_or_close(any);
    case Kind::recreate:
        return recreate();
    default:
        check::fail("not a step of a file", check::Where::current());
    }
}

inline void JointFile::finish(int step) {
    step_ = step;
    turn_ = 0;
    for (auto& handle : handles_) {
        if (handle.is_open()) close(handle);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    await_closed(path_);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check::rank() == 0) compare_and_remove(content_, path_);
}

}  // namespace random_test

#include "random_joint_access.hpp"
#include "random_joint_series.hpp"
#include "random_joint_shared.hpp"
#include "random_joint_upkeep.hpp"
