// Calls of the shared file pointer in each of their forms, and records that tell whose they are.
#pragma once
#include "access.hpp"

#include <numeric>

namespace shared_calls {

using namespace access_form;
using Words = std::vector<std::uint32_t>;

/// How one rank alone uses the shared pointer, and how all do in their order.
enum class Way { blocking, nonblocking, large, large_nonblocking };
enum class InOrder { blocking, split, large, large_split };

inline char const* name_of(Way way) {
    static constexpr std::array names{"shared", "ishared", "shared_c", "ishared_c"};
    return names[static_cast<std::size_t>(way)];
}
inline char const* name_of(InOrder way) {
    static constexpr std::array names{"ordered", "begin", "ordered_c", "begin_c"};
    return names[static_cast<std::size_t>(way)];
}

/// Open MPI 5 has no functions with large counts for files: the others are called in their place.
#ifdef SLUICE_HAVE_LARGE_COUNT
#define SHARED_LARGE(NAME) NAME##_c
#else
#define SHARED_LARGE(NAME) NAME
#endif

inline int write_alone(MPI_File f, Way way, void const* p, int n, MPI_Datatype t, MPI_Status* s) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    switch (way) {
    case Way::blocking:
        return MPI_File_write_shared(f, p, n, t, s);
    case Way::large:
        return SHARED_LARGE(MPI_File_write_shared)(f, p, n, t, s);
    case Way::nonblocking:
        code = MPI_File_iwrite_shared(f, p, n, t, &request);
        break;
    case Way::large_nonblocking:
        code = SHARED_LARGE(MPI_File_iwrite_shared)(f, p, n, t, &request);
    }
    return code == MPI_SUCCESS ? MPI_Wait(&request, s) : code;
}

inline int read_alone(MPI_File f, Way way, void* p, int n, MPI_Datatype t, MPI_Status* s) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    switch (way) {
    case Way::blocking:
        return MPI_File_read_shared(f, p, n, t, s);
    case Way::large:
        return SHARED_LARGE(MPI_File_read_shared)(f, p, n, t, s);
    case Way::nonblocking:
        code = MPI_File_iread_shared(f, p, n, t, &request);
        break;
    case Way::large_nonblocking:
        code = SHARED_LARGE(MPI_File_iread_shared)(f, p, n, t, &request);
    }
    return code == MPI_SUCCESS ? MPI_Wait(&request, s) : code;
}

inline int write_in_order(MPI_File f, InOrder way, void const* p, int n, MPI_Datatype t,
                          MPI_Status* s) {
    if (way == InOrder::blocking) return MPI_File_write_ordered(f, p, n, t, s);
    if (way == InOrder::large) return SHARED_LARGE(MPI_File_write_ordered)(f, p, n, t, s);
    int const code = way == InOrder::split ? MPI_File_write_ordered_begin(f, p, n, t)
                                           : SHARED_LARGE(MPI_File_write_ordered_begin)(f, p, n, t);
    return code == MPI_SUCCESS ? MPI_File_write_ordered_end(f, p, s) : code;
}

inline int read_in_order(MPI_File f, InOrder way, void* p, int n, MPI_Datatype t, MPI_Status* s) {
    if (way == InOrder::blocking) return MPI_File_read_ordered(f, p, n, t, s);
    if (way == InOrder::large) return SHARED_LARGE(MPI_File_read_ordered)(f, p, n, t, s);
    int const code = way == InOrder::split ? MPI_File_read_ordered_begin(f, p, n, t)
                                           : SHARED_LARGE(MPI_File_read_ordered_begin)(f, p, n, t);
    return code == MPI_SUCCESS ? MPI_File_read_ordered_end(f, p, s) : code;
}
#undef SHARED_LARGE

inline MPI_Offset shared_position(MPI_File file) {
    MPI_Offset at = -1;
    check::ok(MPI_File_get_position_shared(file, &at), "MPI_File_get_position_shared");
    return at;
}

/// Between calls whose order matters: they are of one pointer, and MPI gives them none.
inline void meet() { MPI_Barrier(MPI_COMM_WORLD); }

/// The same on all ranks, when all have come to it.
inline void expect_position(MPI_File file, MPI_Offset expected, std::string_view what,
                            check::Where where = check::Where::current()) {
    meet();
    check::is_equal(expected, shared_position(file), what, where);
    meet();
}

/// A record is words: its length, its writer, its number, then what can be worked out of these.
inline int length_of(int writer, int number) {
    auto const drawn = model::mix(static_cast<std::uint64_t>(writer * 1000 + number));
    return 3 + static_cast<int>(drawn % (drawn % 7 == 0 ? 3000 : 40));
}
inline Words record_of(int writer, int number) {
    Words words(static_cast<std::size_t>(length_of(writer, number)));
    for (std::size_t i = 0; i < words.size(); ++i)
        words[i] =
            static_cast<std::uint32_t>(model::mix(static_cast<std::uint64_t>(writer) << 40U |
                                                  static_cast<std::uint64_t>(number) << 20U | i));
    words[0] = static_cast<std::uint32_t>(words.size());
    words[1] = static_cast<std::uint32_t>(writer);
    words[2] = static_cast<std::uint32_t>(number);
    return words;
}

inline int size_of_words(Words const& words) { return static_cast<int>(words.size()); }

/// The file holds every record of `writers` once, with nothing between them; those of one writer in
/// the order of its calls where `in_order`.
inline void expect_records(Words const& found, int writers, int records, bool in_order,
                           check::Where where = check::Where::current()) {
    std::vector<std::vector<int>> numbers(static_cast<std::size_t>(writers));
    std::size_t at = 0;
    while (at + 3 <= found.size()) {
        auto const writer = static_cast<int>(found[at + 1]),
                   number = static_cast<int>(found[at + 2]);
        bool const known = writer >= 0 && writer < writers && number >= 0 && number < records;
        if (!check::is_true(known, "a record begins at " + std::to_string(at), where)) return;
        auto const expected = record_of(writer, number);
        auto const begin = found.begin() + static_cast<std::ptrdiff_t>(at);
        bool const fits = at + expected.size() <= found.size() &&
                          std::equal(expected.begin(), expected.end(), begin);
        if (!check::is_true(fits, "a whole record at " + std::to_string(at), where)) return;
        numbers[static_cast<std::size_t>(writer)].push_back(number);
        at += expected.size();
    }
    check::is_equal(found.size(), at, "words of whole records", where);
    for (auto& of_writer : numbers) {
        if (!in_order) std::sort(of_writer.begin(), of_writer.end());
        std::vector<int> expected(static_cast<std::size_t>(records));
        std::iota(expected.begin(), expected.end(), 0);
        check::is_true(of_writer == expected, "each record once", where);
    }
}

inline Words words_of(model::Bytes const& bytes) {
    Words words(bytes.size() / sizeof(Words::value_type));
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(Words::value_type));
    return words;
}

/// The words of a file that a view selects which leaves out `hole` of each `hole` + `kept` words.
inline Words without_holes(Words const& all, std::size_t kept, std::size_t hole) {
    Words words;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (i % (kept + hole) < kept) words.push_back(all[i]);
    return words;
}

/// Etypes of one word; after each `kept` of them `hole` are nobody's.
inline void set_view_of_words(MPI_File file, MPI_Offset displacement, int kept = 1, int hole = 0) {
    MPI_Datatype some = MPI_DATATYPE_NULL, view = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(kept, MPI_UINT32_T, &some);
    MPI_Type_create_resized(some, 0, MPI_Aint{4} * (kept + hole), &view);
    MPI_Type_commit(&view);
    check::ok(MPI_File_set_view(file, displacement, MPI_UINT32_T, view, "native", MPI_INFO_NULL),
              "MPI_File_set_view");
    MPI_Type_free(&view);
    MPI_Type_free(&some);
}

/// A name that no file has had: MPICH gives one pointer to files of one name that follow each other
/// within a second. Collective.
inline std::string new_file(std::int64_t prefilled_bytes) {
    static int count = 0;
    return check::fresh_file("shared" + std::to_string(count++) + ".bin", prefilled_bytes);
}

/// When all are done with it.
inline void remove(std::string const& name) {
    meet();
    if (check::rank() == 0) ::unlink(name.c_str());
    meet();
}

}  // namespace shared_calls
