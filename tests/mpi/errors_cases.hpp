// The errors, with the classes that are right for each, and what has to hold after any of them.
#pragma once
#include "access.hpp"

#include <atomic>

namespace errors {

using namespace access_form;

/// What one rank saw of a failing operation.
struct Outcome {
    int start_class = MPI_SUCCESS;  ///< Of a nonblocking start.
    int final_class = MPI_SUCCESS;  ///< Of a blocking call, or of the completion.
};

/// Counts the calls of a file's error handler; with MPI_ERRORS_RETURN there is nothing to count.
class Handler {
public:
    Handler(MPI_File file, bool own) : own_(own) {
        count() = 0;
        if (!own) return;
        MPI_File_create_errhandler(handle, &errhandler_);
        MPI_File_set_errhandler(file, errhandler_);
        expected_file() = file;
        MPI_Errhandler_free(&errhandler_);  // the file keeps it
    }
    bool own() const { return own_; }
    int calls() const { return count(); }

private:
    static std::atomic<int>& count() {
        static std::atomic<int> the_count;
        return the_count;
    }
    static MPI_File& expected_file() {
        static MPI_File the_file;
        return the_file;
    }
    static void handle(MPI_File* file, int* code, ...) {
        ++count();
        check::is_true(*file == expected_file(), "the handler gets the file");
        check::is_true(check::class_of(*code) != MPI_SUCCESS, "the handler gets an error code");
    }

    bool own_;
    MPI_Errhandler errhandler_ = MPI_ERRHANDLER_NULL;
};

/// Collective. True if all ranks have the same class.
inline bool agreed_class(int error_class, check::Where where = check::Where::current()) {
    int lowest = 0, highest = 0;
    MPI_Allreduce(&error_class, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&error_class, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (lowest == highest) return true;
    check::fail("ranks have different classes; here " + check::class_name(error_class), where);
    return false;
}

/// Collective. The class must be one of the right ones, and the same on all ranks.
inline void check_class(int found, std::vector<int> const& right,
                        check::Where where = check::Where::current()) {
    agreed_class(found, where);
    if (std::find(right.begin(), right.end(), found) != right.end()) return;
    std::string text = "class " + check::class_name(found) + ", expected one of";
    for (int const one : right) text += " " + check::class_name(one);
    check::fail(text, where);
}

inline void check_outcome(Outcome const& outcome, std::vector<int> const& right,
                          Handler const& handler, check::Where where = check::Where::current()) {
    check::is_equal(int{MPI_SUCCESS}, outcome.start_class, "class of the start", where);
    check_class(outcome.final_class, right, where);
    if (handler.own()) check::is_equal(1, handler.calls(), "calls of the error handler", where);
}

/// One operation with the type as it is, even if it was never committed.
inline Outcome start_and_finish(MPI_File file, Form form, Direction direction,
                                model::Request const& request, model::Bytes& memory,
                                MPI_Datatype type) {
    auto const at = static_cast<MPI_Offset>(request.offset);
    if (uses_pointer(form)) MPI_File_seek(file, at, MPI_SEEK_SET);
    MPI_Request handle = MPI_REQUEST_NULL;
    MPI_Status status{};
    void* const p = memory.data();
    int const code = direction == Direction::write
                         ? start_write(file, form, at, p, request.count, type, &status, &handle)
                         : start_read(file, form, at, p, request.count, type, &status, &handle);
    bool const blocking = form == Form::all || form == Form::at_all;
    if (blocking) return {MPI_SUCCESS, check::class_of(code)};
    bool const split = form == Form::split_all || form == Form::split_at_all;
    check::is_true(split || handle != MPI_REQUEST_NULL, "the start returns a request");
    int const end = finish(file, form, direction, p, &status, &handle);
    check::is_true(handle == MPI_REQUEST_NULL, "the request is null after MPI_Wait");
    return {check::class_of(code), check::class_of(end)};
}

/// An ordinary operation, to show that the file still works.
inline void write_correctly(MPI_File file, Form form, model::File& expected) {
    auto const layout =
        model::resized(model::contiguous(model::element(MPI_BYTE), 10), 10 * check::size());
    auto const request_of = [&](int rank) -> model::Request {
        return {{10 * rank, MPI_BYTE, layout}, 20, model::element(MPI_BYTE), 300};
    };
    set_view(file, request_of(check::rank()).view);
    auto memory = model::data_of(8, check::rank(), 9, 300);
    transfer(file, form, Direction::write, request_of(check::rank()), memory, 300);
    for (int r = 0; r < check::size(); ++r) {
        expected.write(request_of(r).in_file(), model::data_of(8, r, 9, 300));
    }
}

/// Bytes that the failed operation asked for may or may not have been written; all others may not
/// have changed. `damage` is what it asked for, before the later writes.
inline void check_untouched_or_asked(std::string const& name, model::File expected,
                                     model::Blocks const& damage) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (check::rank() == 0) {
        auto const found = check::posix_read(name);
        for (auto const& block : damage) {
            auto const end = std::min<std::int64_t>(block.offset + block.bytes,
                                                    static_cast<std::int64_t>(found.size()));
            if (end <= block.offset) continue;
            auto const part =
                std::span(found).subspan(static_cast<std::size_t>(block.offset),
                                         static_cast<std::size_t>(end - block.offset));
            expected.write({{block.offset, end - block.offset}},
                           model::Bytes(part.begin(), part.end()));
        }
        check::same_bytes(expected.bytes(), found, "file");
        ::unlink(name.c_str());
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

struct Case {
    std::string name;
    Direction direction;
    int mode;                  ///< Of MPI_File_open.
    std::vector<int> classes;  ///< Any of these is right, the same on all ranks.
    model::Blocks damage;      ///< What the failing operation asks to write.
    std::function<Outcome(MPI_File, Form, Direction)> call;
};

/// The faulty operations lie here, away from what write_correctly() writes.
inline constexpr std::int64_t region = 40000;
inline bool is_faulty_rank() { return check::rank() == check::size() - 1; }

inline model::Request request_here() {
    return {{}, region + 100 * check::rank(), model::element(MPI_BYTE), 100};
}

inline Outcome negative_count(MPI_File file, Form form, Direction direction) {
    auto request = request_here();
    model::Bytes memory(100, 1);
    if (is_faulty_rank()) request.count = -1;
    return start_and_finish(file, form, direction, request, memory, MPI_BYTE);
}

inline Outcome uncommitted_type(MPI_File file, Form form, Direction direction) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_vector(10, 5, 10, MPI_BYTE, &type);
    if (!is_faulty_rank()) MPI_Type_commit(&type);
    auto request = request_here();
    request.count = 1;
    model::Bytes memory(100, 1);
    auto const outcome = start_and_finish(file, form, direction, request, memory, type);
    MPI_Type_free(&type);
    return outcome;
}

inline Outcome null_type(MPI_File file, Form form, Direction direction) {
    model::Bytes memory(100, 1);
    return start_and_finish(file, form, direction, request_here(), memory,
                            is_faulty_rank() ? MPI_DATATYPE_NULL : MPI_BYTE);
}

/// Only with explicit offsets; with the pointer it is an ordinary faulty count.
inline Outcome negative_offset(MPI_File file, Form form, Direction direction) {
    if (uses_pointer(form)) return negative_count(file, form, direction);
    auto request = request_here();
    if (is_faulty_rank()) request.offset = -5;
    model::Bytes memory(100, 1);
    return start_and_finish(file, form, direction, request, memory, MPI_BYTE);
}

/// Offsets of doubles that 64 bits cannot say in bytes, or only just. The pointer cannot be moved
/// there; with it the call is one with a faulty count.
template <MPI_Offset etypes> Outcome far_offset(MPI_File file, Form form, Direction direction) {
    if (uses_pointer(form)) {
        MPI_Errhandler before = MPI_ERRHANDLER_NULL;
        MPI_File_get_errhandler(file, &before);
        MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
        check::ok(MPI_File_set_view(file, region, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
        check::is_equal(int{MPI_ERR_ARG},
                        check::class_of(MPI_File_seek(file, etypes, MPI_SEEK_SET)),
                        "class of seek");
        check::ok(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
        MPI_File_set_errhandler(file, before);
        return negative_count(file, form, direction);
    }
    check::ok(MPI_File_set_view(file, region, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
    model::Request request{{}, 13 * check::rank(), model::element(MPI_BYTE), 12};
    if (is_faulty_rank()) request.offset = etypes;
    model::Bytes memory(100, 1);
    return start_and_finish(file, form, direction, request, memory, MPI_DOUBLE);
}

/// The memory of the second instance lies where no address is.
inline Outcome far_memory(MPI_File file, Form form, Direction direction) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_BYTE, 0, is_faulty_rank() ? MPI_Aint{1} << 60 : 1, &type);
    MPI_Type_commit(&type);
    model::Bytes memory(100, 1);
    auto const outcome = start_and_finish(file, form, direction, request_here(), memory, type);
    MPI_Type_free(&type);
    return outcome;
}

inline Outcome plain_call(MPI_File file, Form form, Direction direction) {
    model::Bytes memory(100, 1);
    return start_and_finish(file, form, direction, request_here(), memory, MPI_BYTE);
}

/// The error may come from MPI_File_set_view or from the first use, but from the same call on all
/// ranks. `make` makes the file type of the faulty rank.
template <class Make>
Outcome faulty_view(MPI_File file, Form form, Direction direction, Make make) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (is_faulty_rank())
        make(&type);
    else
        MPI_Type_dup(MPI_BYTE, &type);
    int const at_view =
        check::class_of(MPI_File_set_view(file, region, MPI_BYTE, type, "native", MPI_INFO_NULL));
    MPI_Type_free(&type);
    agreed_class(at_view);
    if (at_view != MPI_SUCCESS) return {MPI_SUCCESS, at_view};
    auto request = request_here();
    request.offset = 100 * check::rank();
    model::Bytes memory(100, 1);
    return start_and_finish(file, form, direction, request, memory, MPI_BYTE);
}

inline Outcome uncommitted_view(MPI_File file, Form form, Direction direction) {
    return faulty_view(file, form, direction,
                       [](MPI_Datatype* type) { MPI_Type_vector(4, 3, 5, MPI_BYTE, type); });
}

inline Outcome decreasing_view(MPI_File file, Form form, Direction direction) {
    return faulty_view(file, form, direction, [](MPI_Datatype* type) {
        int const lengths[] = {5, 5};
        MPI_Aint const places[] = {20, 0};
        MPI_Type_create_hindexed(2, lengths, places, MPI_BYTE, type);
        MPI_Type_commit(type);
    });
}

inline std::vector<Case> all_cases() {
    auto const write = Direction::write, read = Direction::read;
    int const both = MPI_MODE_RDWR;
    model::Blocks const asked{{region, 10000}};
    std::vector<int> const count{MPI_ERR_COUNT, MPI_ERR_ARG};
    std::vector<int> const type{MPI_ERR_TYPE, MPI_ERR_ARG};
    std::vector<int> const no_write{MPI_ERR_READ_ONLY, MPI_ERR_ACCESS};
    return {
        {"negative_count/write", write, both, count, asked, negative_count},
        {"negative_count/read", read, both, count, {}, negative_count},
        {"uncommitted_type/write", write, both, type, asked, uncommitted_type},
        {"uncommitted_type/read", read, both, type, {}, uncommitted_type},
        {"null_type/write", write, both, type, asked, null_type},
        {"negative_offset/write", write, both, count, asked, negative_offset},
        {"far_offset_2_61/write", write, both, count, asked, far_offset<(MPI_Offset{1} << 61)>},
        {"far_offset_2_61/read", read, both, count, {}, far_offset<(MPI_Offset{1} << 61)>},
        {"far_offset_2_60/write", write, both, count, asked, far_offset<(MPI_Offset{1} << 60) - 1>},
        {"far_offset_2_60/read", read, both, count, {}, far_offset<(MPI_Offset{1} << 60) - 1>},
        {"far_memory/write", write, both, count, asked, far_memory},
        {"uncommitted_view/write", write, both, type, asked, uncommitted_view},
        {"decreasing_view/write", write, both, type, asked, decreasing_view},
        {"decreasing_view/read", read, both, type, {}, decreasing_view},
        {"read_only/write", write, MPI_MODE_RDONLY, no_write, {}, plain_call},
        {"write_only/read",
         read,
         MPI_MODE_WRONLY,
         {MPI_ERR_ACCESS, MPI_ERR_AMODE},
         {},
         plain_call}};
}

}  // namespace errors
