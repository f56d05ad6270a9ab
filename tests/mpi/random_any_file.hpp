// What the files of a random program have in common, with one handle or several: names, requests
// under way, hints.
#pragma once
#include "random_complete.hpp"
#include "random_program.hpp"

namespace random_test {

struct Settings {
    std::uint64_t seed = 1;
    int programs = 1;
    int shrink = 0;                      ///< Sizes are divided by 2 to this.
    int seconds = 30;                    ///< A program may take.
    double all_seconds = 0;              ///< New programs for so long, in place of a number.
    std::size_t most_pieces = SIZE_MAX;  ///< Of an access.
    bool trace = false;
    std::set<std::string> without;     ///< Kinds of steps, and forms of accesses.
    std::set<std::string> only_steps;  ///< All, if empty.

    bool has(std::string const& what) const { return !without.contains(what); }
    bool plain() const { return check::state().options.plain; }
    /// The same on all ranks.
    bool is_too_long(std::vector<Part> const& parts) const {
        return std::ranges::any_of(
            parts, [this](Part const& part) { return part.in_file.size() > most_pieces; });
    }
};

class AnyFile {
public:
    AnyFile(Settings const& settings, Program const& program, int index, PendingRequests& pending,
            Counts& counts)
        : settings_(settings),
          seed_(program.seed),
          blocking_(program.blocking),
          index_(index),
          pending_(pending),
          counts_(counts) {}
    virtual ~AnyFile() = default;
    AnyFile(AnyFile const&) = delete;
    AnyFile& operator=(AnyFile const&) = delete;

    virtual void step(Step const& step) = 0;
    /// Completes everything and compares every byte of the file.
    virtual void finish(int step) = 0;

protected:
    /// Open MPI hangs now and then when a name comes back at once, so programs have their own.
    std::string path_of(int first_rank) const {
        return check::path("random_" + std::to_string(seed_) + "_" + std::to_string(index_) + "_" +
                           std::to_string(first_rank));
    }
    void say(int step, std::string const& text) const {
        if (settings_.trace) trace(true, step, "file " + std::to_string(index_) + ": " + text);
    }
    Random shared(int step, int purpose) const { return {seed_, {step, 3, purpose, index_}}; }
    Random own(int step, int purpose) const { return {seed_, {step, 4, purpose, check::rank()}}; }

    void complete_all(int step);
    void complete_independent(int step);
    Pending entry(int step, std::shared_ptr<Transfer> transfer) const;
    void note(Form form, std::vector<Part> const& parts);
    /// Null, now and then.
    MPI_Info hints(Random random, int ranks, int step) const;
    void leave_unknown(model::File const& content, std::vector<Part>& parts) const;
    static void await_closed(std::string const& path);
    void compare_and_remove(model::File& content, std::string const& path) const;

    Settings const& settings_;
    std::uint64_t seed_;
    bool blocking_;  ///< The program calls blocking functions only.
    int index_;
    PendingRequests& pending_;
    Counts& counts_;
};

inline void AnyFile::complete_all(int step) {
    Random random = own(step, 1);
    pending_.complete(pending_.of_file(index_), random, step);
}

/// While one of its own requests is pending, for whatever file, Open MPI refuses some calls.
inline void AnyFile::complete_independent(int step) {
    Random random = own(step, 6);
    pending_.complete(pending_.those([](Pending const& pending) {
        return pending.transfer && pending.transfer->form().independent;
    }),
                      random, step);
}

inline Pending AnyFile::entry(int step, std::shared_ptr<Transfer> transfer) const {
    check::is_true(transfer->request != MPI_REQUEST_NULL, "the start returns a request");
    Pending pending;
    pending.request = transfer->request;
    pending.file = index_;
    pending.step = step;
    pending.name = transfer->form().name();
    pending.transfer = transfer;
    pending.finished = [transfer](MPI_Status& status) { transfer->finished(status); };
    return pending;
}

inline void AnyFile::note(Form form, std::vector<Part> const& parts) {
    std::int64_t wanted = 0, begin = INT64_MAX, end = 0;
    for (auto const& part : parts) {
        if (part.in_file.empty()) continue;
        if (part.in_file.size() > 1) counts_.note(Counts::noncontiguous);
        if (part.moved < part.request.bytes()) counts_.note(Counts::across_end);
        wanted += part.request.bytes();
        begin = std::min(begin, part.in_file.front().offset);
        end = std::max(end, model::end_of(part.in_file));
    }
    if (wanted > 0 && end - begin > wanted) counts_.note(Counts::holes);
    if (form.way == Form::nonblocking) counts_.note(Counts::nonblocking);
    if (form.way == Form::split) counts_.note(Counts::split);
    if (form.independent) counts_.note(Counts::independent);
    if (form.kind != Form::not_shared) counts_.note(Counts::shared_pointer);
    if (pending_.all().size() >= 2) counts_.note(Counts::several);
}

inline MPI_Info AnyFile::hints(Random random, int ranks, int step) const {
    MPI_Info info = MPI_INFO_NULL;
    if (random.chance(40)) return info;
    MPI_Info_create(&info);
    auto const set = [&](char const* name, std::string const& value) {
        say(step, std::string("hint ") + name + " = " + value);
        MPI_Info_set(info, name, value.c_str());
    };
    if (random.chance(60)) set("cb_nodes", std::to_string(random.between(1, 4)));
    auto const window = random.one_of({4096, 8192, 65536, 1 << 20});
    if (random.chance(60)) set("cb_buffer_size", std::to_string(window));
    for (char const* const name : {"romio_cb_write", "romio_cb_read"}) {
        if (random.chance(30)) set(name, random.one_of({"enable", "disable", "automatic"}));
    }
    if (random.chance(30)) set("striping_unit", std::to_string(random.one_of({4096, 65536})));
    if (random.chance(30)) set("striping_factor", std::to_string(random.between(0, 4)));
    auto const aggregator = random.between(0, ranks - 1);
    if (random.chance(30)) set("sluice_aggregators", std::to_string(aggregator));
    if (random.chance(50))
        set("sluice_domains", random.one_of({"auto", "even", "cyclic", "balanced"}));
    // Last, so that programs of older seeds stay what they were.
    if (random.chance(50)) set("sluice_close", random.one_of({"complete", "behind"}));
    return info;
}

/// Reads of holes that nobody wrote are left out where the MPI may have written something there.
inline void AnyFile::leave_unknown(model::File const& content, std::vector<Part>& parts) const {
    if (!settings_.plain()) return;
    model::File other = content;
    other.forgive_holes(model::Bytes(static_cast<std::size_t>(content.size()), model::untouched));
    for (auto& part : parts) {
        if (content.read(part.in_file) == other.read(part.in_file)) continue;
        part.request.count = 0;
        part.in_file.clear();
        part.moved = 0;
    }
}

/// Closes may have left delayed writes of this rank under way (sluice_close=behind). All are in the
/// file when the mode changes.
inline void AnyFile::await_closed(std::string const& path) {
    MPI_File file = access_form::open(path, MPI_MODE_RDONLY, MPI_COMM_SELF);
    check::ok(MPI_File_set_atomicity(file, 1), "MPI_File_set_atomicity");
    access_form::close(file);
}

inline void AnyFile::compare_and_remove(model::File& content, std::string const& path) const {
    auto const found = check::posix_read(path);
    if (settings_.plain()) content.forgive_holes(found);
    check::same_bytes(content.bytes(), found, "file " + std::to_string(index_));
    ::unlink(path.c_str());
}

}  // namespace random_test
