// How file pointers are read and moved, by one rank and by all of them. See position.hpp.
#include "mpi/file/position.hpp"

#include "mpi/errors.hpp"
#include "mpi/file/pass_on.hpp"
#include "mpi/pmpi.hpp"
#include "system/environment.hpp"
#include "transport/mpi_status.hpp"

#include <algorithm>

namespace sluice {
namespace {

using Words = NodeReduction::Words;

/// The words that ranks tell each other in a meeting. Of each word all learn the largest.
struct Told {
    enum : std::size_t {
        status,  ///< The worst of the ranks, then that of the meeting.
        call,    ///< Which function it is, as a rank may have called another one.
        call_least,
        place,  ///< Where the shared pointer was, in etypes.
        offset,
        offset_least,
        whence,
        whence_least,
        end_of_file,  ///< In etypes.
        count
    };
};
static_assert(Told::count <= std::tuple_size_v<Words>);

enum class MeetingCall : std::uint64_t { in_order = 1, seek };

/// Tells a word in such a way that all learn whether the ranks told different ones. The
/// complement is the next word.
void tell(Words& words, std::size_t which, std::int64_t value) noexcept {
    words[which] = static_cast<std::uint64_t>(value);
    words[which + 1] = ~words[which];
}
bool differs(Words const& words, std::size_t which) noexcept {
    return words[which] != ~words[which + 1];
}

Words words_of(MeetingCall function, Status mine) noexcept {
    Words words{};
    tell(words, Told::call, static_cast<std::int64_t>(function));
    words[Told::status] = static_cast<std::uint64_t>(mine);
    return words;
}

Status status_of(Words const& words) noexcept {
    if (differs(words, Told::call)) return Status::mismatch;
    return static_cast<Status>(words[Told::status]);
}

/// `act` is called by the first rank, when all have come, unless one of them met an error.
template <class Act> Words meet(File const& file, Words const& mine, MPI_Offset etypes, Act act) {
    NodeReduction& meeting = file.shared_pointer()->meeting;
    meeting.begin(mine, etypes, [&](Words& all, std::int64_t of_all) {
        Status status = status_of(all);
        if (status == Status::ok) status = act(all, of_all);
        all[Told::status] = static_cast<std::uint64_t>(status);
    });
    Progress::instance().drive(
        {.done = [&] { return meeting.finished(); }, .poke = [&] { file.team->poke(); }});
    return meeting.largest();
}

/// In bytes of the view's stream. Nothing where they would reach beyond what offsets can say.
std::optional<Bytes> position_at(View const& view, MPI_Offset etypes, Bytes bytes) noexcept {
    Bytes position = 0;
    bool const wrong = __builtin_mul_overflow(etypes, view.etype_bytes, &position) ||
                       !is_in_range(*view.filetype, view.displacement, position, bytes, 0);
    return wrong ? std::nullopt : std::optional(position);
}

/// Sets the request's place in the view.
Status place_at(MPI_Offset etypes, Request& r) noexcept {
    auto const position = position_at(r.view, etypes, r.bytes);
    r.position = position.value_or(r.position);
    return position ? Status::ok : Status::argument;
}

MPI_Offset etypes_of(Request const& r) noexcept { return r.bytes / r.view.etype_bytes; }

/// Moves the shared pointer on by so many etypes; nothing, and no move, where they do not fit.
std::optional<MPI_Offset> advance(File const& file, View const& view, MPI_Offset etypes) noexcept {
    Bytes bytes = 0;
    if (__builtin_mul_overflow(etypes, view.etype_bytes, &bytes)) return std::nullopt;
    return file.shared_pointer()->advance(
        etypes, [&](MPI_Offset at) { return position_at(view, at, bytes).has_value(); });
}

Status take_shared(File const& file, Request& r) noexcept {
    auto const at = advance(file, r.view, etypes_of(r));
    return at ? place_at(*at, r) : Status::argument;
}

/// The individual pointer lives in the MPI, which tells the program where it is; it moves now.
Status take_individual(File const& file, Request& r) {
    PointerLock const lock(file);
    MPI_Offset position = 0;
    PMPI_File_get_position(file.handle, &position);
    Status const status = place_at(position, r);
    if (status != Status::ok) return status;
    PMPI_File_seek(file.handle, position + etypes_of(r), MPI_SEEK_SET);
    return Status::ok;
}

/// Where a seek leads; nothing where it is before the view, or too far.
std::optional<MPI_Offset> target_of(FileView const& view, MPI_Offset from, MPI_Offset offset) {
    MPI_Offset target = 0;
    bool const wrong = __builtin_add_overflow(from, offset, &target) || target < 0 ||
                       (target > 0 && !byte_offset(view, target));
    return wrong ? std::nullopt : std::optional(target);
}

/// By the first rank, for all, in their meeting.
Status set_shared(File const& file, Words const& all, MPI_Offset offset, int whence) {
    if (differs(all, Told::offset) || differs(all, Told::whence)) return Status::mismatch;
    SharedFilePointer& pointer = *file.shared_pointer();
    MPI_Offset from = 0;
    if (whence == MPI_SEEK_CUR)
        from = pointer.position();
    else if (whence == MPI_SEEK_END)
        from = static_cast<MPI_Offset>(all[Told::end_of_file]);
    else if (whence != MPI_SEEK_SET)
        return Status::argument;
    auto const target = target_of(file.view, from, offset);
    if (!target) return Status::argument;
    pointer.set(*target);
    return Status::ok;
}

/// As this rank sees it, which has waited for its own writes: the last one to come sees the end.
Status tell_end(File const& file, Words& words) {
    MPI_Offset bytes = 0;
    int const code = PMPI_File_get_size(file.handle, &bytes);
    words[Told::end_of_file] = static_cast<std::uint64_t>(etypes_before(file.view, bytes));
    return status_of_mpi(code);
}

}  // namespace

Status take_position(File const& file, From from, MPI_Offset offset, Request& request) {
    if (from == From::offset) return place_at(offset, request);
    return from == From::pointer ? take_individual(file, request) : take_shared(file, request);
}

Status take_in_order(File const& file, Request& request, Status mine) {
    MPI_Offset const etypes = mine == Status::ok ? etypes_of(request) : 0;
    Words const all = meet(file, words_of(MeetingCall::in_order, mine), etypes,
                           [&](Words& result, MPI_Offset of_all) {
                               auto const at = advance(file, request.view, of_all);
                               if (at) result[Told::place] = static_cast<std::uint64_t>(*at);
                               return at ? Status::ok : Status::argument;
                           });
    Status const status = status_of(all);
    if (status != Status::ok) return status;
    MPI_Offset const before = file.shared_pointer()->meeting.sum_before();
    return place_at(static_cast<MPI_Offset>(all[Told::place]) + before, request);
}

Status seek_shared(File const& file, MPI_Offset offset, int whence) {
    Words mine = words_of(MeetingCall::seek, Status::ok);
    tell(mine, Told::offset, offset);
    tell(mine, Told::whence, whence);
    if (whence == MPI_SEEK_END)
        mine[Told::status] = static_cast<std::uint64_t>(tell_end(file, mine));
    Words const all = meet(file, mine, 0, [&](Words const& of_all, MPI_Offset) {
        return set_shared(file, of_all, offset, whence);
    });
    return status_of(all);
}

int length(MPI_File handle, std::shared_ptr<File> const& file, MPI_Offset* bytes) {
    if (!file || !file->delayed->minds_others()) {
        wait_for_delayed(file);
        return SLUICE_PMPI(MPI_File_get_size)(handle, bytes);
    }
    Offset const own = file->delayed->end_of_own();  // First: what ends meanwhile is in the file.
    int code = SLUICE_PMPI(MPI_File_get_size)(handle, bytes);
    if (code != MPI_SUCCESS) return code;
    Offset const known = std::max<Offset>(own, *bytes);
    file->delayed->wait_for({known, endless}, Before::read);
    code = SLUICE_PMPI(MPI_File_get_size)(handle, bytes);
    *bytes = std::max<MPI_Offset>(known, *bytes);
    return code;
}

/// The MPIs keep an offset in bytes, and where it overflows they say nothing.
int seek(std::shared_ptr<File> const& served, MPI_Offset offset, int whence) {
    File const& file = *served;
    MPI_Offset from = 0;
    bool const from_end = whence == MPI_SEEK_END;
    if (!file.served() || (from_end && !file.view.owned)) {
        if (from_end) wait_for_delayed(served);
        return SLUICE_PMPI(MPI_File_seek)(file.handle, offset, whence);
    }
    if (whence == MPI_SEEK_CUR) PMPI_File_get_position(file.handle, &from);
    if (from_end) {
        MPI_Offset bytes = 0;
        int const code = length(file.handle, served, &bytes);
        if (code != MPI_SUCCESS) return code;
        from = etypes_before(file.view, bytes);
    }
    MPI_Offset place = 0;
    bool const too_far = __builtin_add_overflow(from, offset, &place) ||
                         (place > 0 && !byte_offset(file.view, place));
    if (too_far) return raise(file.handle, Status::argument);
    return SLUICE_PMPI(MPI_File_seek)(file.handle, from_end ? place : offset,
                                      from_end ? MPI_SEEK_SET : whence);
}

void begin_at_end(File& file) {
    file.delayed->wait_for({0, endless}, Before::read);
    (void)file.agree(Status::ok);  // All ranks have waited.
    MPI_Offset bytes = 0;
    if (PMPI_File_get_size(file.handle, &bytes) == MPI_SUCCESS)
        PMPI_File_seek(file.handle, bytes, MPI_SEEK_SET);
    // The MPI has its shared pointer at the end that it saw.
    bool const delays = file.delayed->ordered() || settings().hints.write_behind > 0;
    if (!file.shared_pointer() && delays) PMPI_File_seek_shared(file.handle, bytes, MPI_SEEK_SET);
    if (file.shared_pointer() && seek_shared(file, 0, MPI_SEEK_END) != Status::ok)
        file.log("MPI_File_open", {.status = Status::other, .what = "the file has no end"});
}

}  // namespace sluice
