// The accesses of a random program, and how conflicts between them are avoided. Included at the end
// of random_file.hpp.
#pragma once
#include "random_file.hpp"

namespace random_test {

inline void OpenFile::end_split() {
    if (!split_) return;
    split_->end_split(file_);
    split_.reset();
    check_position();
}

/// Afterwards every rank may touch every byte again. How little is enough for that is drawn:
/// Sluice promises that a request that is complete on one rank has ended on all, and that sync
/// completes. A blocking call may return before the others have ended theirs.
inline void OpenFile::settle(int step, bool sync) {
    end_split();
    Random random = shared(step, 2);
    int const form = random.below(4);
    bool const legal = settings_.plain() || model_.atomic;
    sync |= form > 1 || legal || model_.epoch.freed;
    bool const sync_completes = random.chance(40) && !legal && !model_.epoch.alone;
    if (!(sync && sync_completes)) complete_all(step);
    bool const meet = form > 0 || model_.epoch.alone || model_.epoch.blocking;
    say(step, sync ? "sync, barrier, sync" : meet ? "barrier" : "done");
    if (sync) {
        complete_independent(step);
        check::ok(MPI_File_sync(file_), "MPI_File_sync");
        for (auto const& transfer : freed_) transfer->compare();
        freed_.clear();
    }
    if (sync || meet) MPI_Barrier(comm_);
    if (sync) check::ok(MPI_File_sync(file_), "MPI_File_sync");
    model_.settle();
}

inline void OpenFile::collective(int step) {
    Random random = shared(step, 3);
    Form form{random.chance(55) ? Direction::write : Direction::read, random.chance(40), false,
              random.one_of({Form::blocking, Form::nonblocking, Form::nonblocking,
                             Form::nonblocking, Form::split})};
    bool const has_nonblocking = !blocking_ && settings_.has("nonblocking") && !model_.atomic;
    if (form.way == Form::split && !settings_.has("split")) form.way = Form::nonblocking;
    if (form.way == Form::nonblocking && !has_nonblocking) form.way = Form::blocking;
    end_split();
    if (form.way == Form::split || pending_.of_file(index_).size() > 8) complete_all(step);
    Demand const demand{form.direction, form.pointer, false, random.one_of({50, 85, 100})};
    auto parts = model_.plan(demand, seed_, step, model_.lengths());
    if (settings_.is_too_long(parts)) return;
    if (form.direction == Direction::read) leave_unknown(model_.content, parts);
    if (model_.conflicts(demand, parts)) settle(step);
    start(demand, form, parts, step);
}

/// Some ranks, each by itself.
inline void OpenFile::independent(int step) {
    Random random = shared(step, 4);
    Form form{random.chance(50) ? Direction::write : Direction::read, random.chance(40), true,
              random.chance(40) ? Form::nonblocking : Form::blocking};
    if (blocking_ || !settings_.has("nonblocking")) form.way = Form::blocking;
    if (form.pointer) end_split();
    Demand const demand{form.direction, form.pointer, true, random.one_of({30, 60, 100})};
    auto parts = model_.plan(demand, seed_, step, model_.lengths());
    if (settings_.is_too_long(parts)) return;
    if (form.direction == Direction::read) leave_unknown(model_.content, parts);
    if (model_.conflicts(demand, parts)) settle(step);
    start(demand, form, parts, step);
}

inline void OpenFile::start(Demand const& demand, Form form, std::vector<Part>& parts, int step) {
    model_.enter(demand, parts, seed_, step);
    model_.epoch.blocking |= form.way == Form::blocking;
    note(form, parts);
    Part const& mine = parts[static_cast<std::size_t>(rank_)];
    if (form.independent && mine.request.bytes() == 0) return;
    auto const data = form.direction == Direction::write
                          ? model::data_of(seed_, rank_, step, mine.request.bytes())
                          : model_.content.read(mine.in_file);
    auto transfer = std::make_shared<Transfer>(form, mine, data);
    say(step, settings_.trace ? transfer->text() : "");
    transfer->start(file_);
    if (form.way == Form::nonblocking) pending_.add(entry(step, transfer));
    if (form.way == Form::split) split_ = transfer;
    if (form.independent && form.pointer && mine.moved < mine.request.bytes()) {
        // MPIs differ in where their own calls leave the pointer at the end of the file.
        MPI_File_seek(file_, static_cast<MPI_Offset>(position()), MPI_SEEK_SET);
    }
    if (!split_) check_position();
}

/// Only Sluice says when the operation of a freed request is complete.
inline void OpenFile::free_requests(int step) {
    if (settings_.plain() || model_.atomic) return;
    model_.epoch.freed = true;
    Random random = own(step, 5);
    for (auto const& pending : pending_.of_file(index_)) {
        if (pending->transfer->form().independent || !random.chance(50)) continue;
        say(step, "free the request of step " + std::to_string(pending->step));
        check::ok(MPI_Request_free(&pending->request), "MPI_Request_free");
        check::is_true(pending->request == MPI_REQUEST_NULL, "a freed request is null");
        freed_.push_back(pending->transfer);
        pending->done = true;
    }
    pending_.forget();
}

}  // namespace random_test
