// What happens to the files of a random program beside accesses. Included at the end of
// random_file.hpp.
#pragma once
#include "random_file.hpp"

namespace random_test {

inline void OpenFile::open(int step) {
    MPI_Info info = hints(shared(step, 10), model_.ranks, step);
    say(step, "open on " + std::to_string(model_.ranks) + " ranks, " +
                  std::to_string(model_.content.size()) + " bytes");
    file_ = access_form::open(path_, MPI_MODE_RDWR | MPI_MODE_CREATE, comm_, info);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    model_.set_views(default_views(model_.ranks));
    model_.atomic = false;
    model_.settle();
}

/// Closing completes the operations of freed requests.
inline void OpenFile::close(int step) {
    end_split();
    complete_all(step);
    say(step, "close");
    access_form::close(file_);
    for (auto const& transfer : freed_) transfer->compare();
    freed_.clear();
    MPI_Barrier(comm_);
}

inline void OpenFile::set_view(int step) {
    end_split();
    complete_all(step);
    Random random = shared(step, 11);
    model_.set_views(ViewMaker(random, model_.ranks, model_.sizes).make());
    auto const& mine = model_.views.of[static_cast<std::size_t>(rank_)];
    say(step, "set_view: " + std::to_string(mine.displacement) + ", " + model_.views.etype.name +
                  ", " + mine.filetype.text);
    access_form::set_view(file_,
                          {mine.displacement, model_.views.etype.type, mine.filetype.layout});
    check_position();
}

inline void OpenFile::check_position() {
    check::is_equal(static_cast<MPI_Offset>(position()), access_form::position(file_),
                    "file pointer");
}

/// Each rank to a place of its own. Relative to the end only where that needs no rounding.
inline void OpenFile::seek(int step) {
    end_split();
    Random random = shared(step, 12);
    auto const unit = model_.unit();
    auto const& view = model_.views.of[0];
    auto const behind = model_.content.size() - view.displacement;
    auto const shape = model_.views.of[0].filetype.layout;
    bool const plain_view = shape.blocks.size() == 1 && shape.size() == shape.extent() &&
                            shape.lower == 0 && !model_.views.disjoint;
    int whence = random.one_of({MPI_SEEK_SET, MPI_SEEK_CUR, MPI_SEEK_END});
    if (whence == MPI_SEEK_END && !(plain_view && behind >= 0 && behind % unit == 0)) {
        whence = MPI_SEEK_SET;
    }
    if (whence == MPI_SEEK_END && model_.epoch.grew) settle(step);
    if (whence == MPI_SEEK_END) model_.epoch.saw_end = model_.epoch.alone = true;
    for (int r = 0; r < model_.ranks; ++r) {
        auto& at = model_.positions[static_cast<std::size_t>(r)];
        // MPICH knows no place but zero in a view of nothing.
        auto const empty = model_.views.of[static_cast<std::size_t>(r)].filetype.layout.size() == 0;
        auto const places = empty ? 0 : model_.content.size() / unit + 10;
        auto const target = Random(seed_, {step, 13, r}).below(places);
        auto const from = whence == MPI_SEEK_SET ? 0 : whence == MPI_SEEK_CUR ? at : behind / unit;
        at = target;
        if (r != rank_) continue;
        say(step, "seek to " + std::to_string(target) + " from " + std::to_string(from));
        check::ok(MPI_File_seek(file_, static_cast<MPI_Offset>(target - from), whence), "seek");
    }
    check_position();
}

inline void OpenFile::set_size(int step) {
    settle(step);
    complete_all(step);
    complete_independent(step);
    auto const size = shared(step, 14).below(model_.content.size() * 3 / 2 + 100);
    say(step, "set_size " + std::to_string(size));
    check::ok(MPI_File_set_size(file_, static_cast<MPI_Offset>(size)), "MPI_File_set_size");
    MPI_Barrier(comm_);
    model_.content.resize(size);
    model_.settle();
}

inline void OpenFile::preallocate(int step) {
    settle(step);
    complete_all(step);
    complete_independent(step);
    auto const size = shared(step, 15).between<std::int64_t>(
        0, static_cast<std::int64_t>(model_.content.size()) + 1000);
    say(step, "preallocate " + std::to_string(size));
    check::ok(MPI_File_preallocate(file_, static_cast<MPI_Offset>(size)), "MPI_File_preallocate");
    // What the new bytes hold is not defined, so they go again.
    MPI_Barrier(comm_);
    auto const before = static_cast<off_t>(model_.content.size());
    if (rank_ == 0) check::is_equal(0, ::truncate(path_.c_str(), before), "truncate");
    MPI_Barrier(comm_);
    model_.settle();
}

inline void OpenFile::get_size(int step) {
    if (model_.epoch.grew) settle(step);
    model_.epoch.saw_end = model_.epoch.alone = true;
    MPI_Offset size = -1;
    check::ok(MPI_File_get_size(file_, &size), "MPI_File_get_size");
    check::is_equal(static_cast<MPI_Offset>(model_.content.size()), size, "size of the file");
}

inline void OpenFile::set_atomic(int step) {
    settle(step);
    complete_all(step);
    model_.atomic = !model_.atomic;
    say(step, model_.atomic ? "set_atomicity on" : "set_atomicity off");
    check::ok(MPI_File_set_atomicity(file_, model_.atomic ? 1 : 0), "MPI_File_set_atomicity");
    int flag = -1;
    check::ok(MPI_File_get_atomicity(file_, &flag), "MPI_File_get_atomicity");
    check::is_equal(model_.atomic ? 1 : 0, flag, "atomicity");
}

inline void OpenFile::set_info(int step) {
    end_split();
    complete_all(step);
    MPI_Info info = hints(shared(step, 10), model_.ranks, step);
    if (info == MPI_INFO_NULL) return;
    check::ok(MPI_File_set_info(file_, info), "MPI_File_set_info");
    MPI_Info_free(&info);
}

}  // namespace random_test
