// These templates turn Fortran's arguments into C's. Fortran passes everything by address; what C
// gives back is converted by the destructors of temporaries, at the end of the statement with the
// call. docs/decisions/0008-fortran.md says which names are intercepted, and why.
#pragma once
#include "mpi/guard.hpp"

#include <algorithm>
#include <cstring>
#include <mpi.h>
#include <string>
#include <vector>

#if defined(OPEN_MPI) || defined(MPICH_VERSION)
#define SLUICE_FORTRAN_KNOWN
#endif

namespace sluice::fortran {

// Arguments, as addresses.
using Integer = MPI_Fint*;
using Offset = MPI_Offset*;
using Address = MPI_Aint*;
static_assert(sizeof(MPI_Fint) == sizeof(int), "INTEGER arrays are passed on as int arrays");

/// The error code, where it is wanted: in mpi_f08 the argument is optional.
inline void give(Integer to, int code) {
    if (to) *to = code;
}

// ---- Handles ---------------------------------------------------------------------------------

// Some MPIs have macros for these, and one C type for several kinds of handles.
#define SLUICE_HANDLE(KIND, NULL_HANDLE)                                                           \
    struct KIND {                                                                                  \
        using Handle = MPI_##KIND;                                                                 \
        static Handle null() { return NULL_HANDLE; }                                               \
        static Handle to_c(MPI_Fint const* handle) { return MPI_##KIND##_f2c(*handle); }           \
        static MPI_Fint to_fortran(Handle handle) { return MPI_##KIND##_c2f(handle); }             \
    };
#define MPI_Datatype_f2c MPI_Type_f2c
#define MPI_Datatype_c2f MPI_Type_c2f
SLUICE_HANDLE(Comm, MPI_COMM_NULL)
SLUICE_HANDLE(Datatype, MPI_DATATYPE_NULL)
SLUICE_HANDLE(Errhandler, MPI_ERRHANDLER_NULL)
SLUICE_HANDLE(File, MPI_FILE_NULL)
SLUICE_HANDLE(Group, MPI_GROUP_NULL)
SLUICE_HANDLE(Info, MPI_INFO_NULL)
SLUICE_HANDLE(Op, MPI_OP_NULL)
SLUICE_HANDLE(Request, MPI_REQUEST_NULL)
#ifdef MPI_SESSION_NULL
SLUICE_HANDLE(Session, MPI_SESSION_NULL)
#endif
#undef MPI_Datatype_f2c
#undef MPI_Datatype_c2f
#undef SLUICE_HANDLE

inline MPI_Comm comm(MPI_Fint const* handle) { return Comm::to_c(handle); }
inline MPI_File file(MPI_Fint const* handle) { return File::to_c(handle); }
inline MPI_Info info(MPI_Fint const* handle) { return Info::to_c(handle); }
inline MPI_Datatype type(MPI_Fint const* handle) { return Datatype::to_c(handle); }

/// A handle that C sets.
template <class Kind> class Out {
public:
    explicit Out(Integer to) : to_(to) {}
    ~Out() { *to_ = Kind::to_fortran(handle_); }
    Out(Out const&) = delete;
    Out& operator=(Out const&) = delete;
    operator typename Kind::Handle*() { return &handle_; }

protected:
    Out(Integer to, typename Kind::Handle handle) : to_(to), handle_(handle) {}

private:
    Integer const to_;
    typename Kind::Handle handle_ = Kind::null();
};

/// A handle that C reads and may set.
template <class Kind> class Updated : public Out<Kind> {
public:
    explicit Updated(Integer of) : Out<Kind>(of, Kind::to_c(of)) {}
};

/// An array of requests; those that C changed are given back, so constant arrays are safe.
class Requests {
public:
    Requests(MPI_Fint const* count, Integer all) : all_(all) {
        for (MPI_Fint i = 0; i < *count; ++i) handles_.push_back(Request::to_c(all + i));
        before_ = handles_;
    }
    ~Requests() {
        for (std::size_t i = 0; i < handles_.size(); ++i) {
            if (handles_[i] != before_[i]) all_[i] = Request::to_fortran(handles_[i]);
        }
    }
    Requests(Requests const&) = delete;
    Requests& operator=(Requests const&) = delete;
    operator MPI_Request*() { return handles_.data(); }

private:
    Integer const all_;
    std::vector<MPI_Request> handles_, before_;
};

// ---- Statuses --------------------------------------------------------------------------------

// An array or a type of its own in Fortran, with the layout of a C status in these MPIs, whose own
// Fortran libraries pass it on in the same way. So fields that C may not touch stay.
#ifdef OPEN_MPI
inline void* status_ignore() { return MPI_F_STATUS_IGNORE; }
inline void* statuses_ignore() { return MPI_F_STATUSES_IGNORE; }
#elif defined(SLUICE_FORTRAN_KNOWN)
static_assert(sizeof(MPI_F08_status) == sizeof(MPI_Status));
inline void* status_ignore() { return MPI_F08_STATUS_IGNORE; }
inline void* statuses_ignore() { return MPI_F08_STATUSES_IGNORE; }
#endif

inline MPI_Status* status(void* of) {
    return of == status_ignore() ? MPI_STATUS_IGNORE : static_cast<MPI_Status*>(of);
}
inline MPI_Status* statuses(void* of) {
    return of == statuses_ignore() ? MPI_STATUSES_IGNORE : static_cast<MPI_Status*>(of);
}

// ---- Logicals, indices, strings --------------------------------------------------------------

/// True is 1: what gfortran and flang mean by it; Intel's compilers look at the lowest bit.
class Logical {
public:
    explicit Logical(Integer to) : to_(to) {}
    ~Logical() { *to_ = value_ ? 1 : 0; }
    Logical(Logical const&) = delete;
    Logical& operator=(Logical const&) = delete;
    operator int*() { return &value_; }

private:
    Integer const to_;
    int value_ = 0;
};

/// Logicals that C reads.
class Logicals {
public:
    Logicals(int count, MPI_Fint const* from) {
        for (int i = 0; i < count; ++i) all_.push_back(from[i] != 0 ? 1 : 0);
    }
    operator int const*() const { return all_.data(); }

private:
    std::vector<int> all_;
};

/// Indices that C sets and Fortran counts from 1: as many as `count` says after the call, or one.
class Indices {
public:
    explicit Indices(Integer index) : count_(nullptr), all_(index) { *index = MPI_UNDEFINED; }
    Indices(Integer count, Integer all) : count_(count), all_(all) { *count = MPI_UNDEFINED; }
    ~Indices() {
        MPI_Fint const filled = count_ ? *count_ : 1;
        if (filled == MPI_UNDEFINED || (!count_ && *all_ == MPI_UNDEFINED)) return;
        for (MPI_Fint i = 0; i < filled; ++i) ++all_[i];
    }
    Indices(Indices const&) = delete;
    Indices& operator=(Indices const&) = delete;
    operator int*() { return all_; }

private:
    Integer const count_;
    Integer const all_;
};

/// Strings come with blanks behind them and a length as the last argument. Some libraries pass that
/// as int, compilers as size_t: as int it can be read from both.
inline std::string trimmed(char const* text, int length) {
    std::string_view all(text, static_cast<std::size_t>(std::max(length, 0)));
    all = all.substr(0, all.find_last_not_of(' ') + 1);
#ifdef OPEN_MPI  // Those in front as well.
    all.remove_prefix(std::min(all.find_first_not_of(' '), all.size()));
#endif
    return std::string(all);
}

/// A string that C sets.
class StringOut {
public:
    StringOut(char* to, int length, std::size_t most)
        : to_(to),
          length_(static_cast<std::size_t>(std::max(length, 0))),
          text_(most + 1, '\0') {}
    ~StringOut() {
        std::size_t const used = std::min(std::strlen(text_.data()), length_);
        std::memcpy(to_, text_.data(), used);
        std::memset(to_ + used, ' ', length_ - used);
    }
    StringOut(StringOut const&) = delete;
    StringOut& operator=(StringOut const&) = delete;
    operator char*() { return text_.data(); }

private:
    char* const to_;
    std::size_t const length_;
    std::string text_;
};

}  // namespace sluice::fortran

// ---- Functions -------------------------------------------------------------------------------

// Defines a function under those names that Fortran programs of this MPI call, and behind which the
// MPI would not call the C function by its name.
#define SLUICE_FORTRAN_NAMED(NAME, PARAMETERS, CALL)                                               \
    void NAME PARAMETERS {                                                                         \
        sluice::fortran::give(ierror, sluice::guarded([&] { return CALL; }));                      \
    }
#define SLUICE_FORTRAN_ALIAS(NAME, ALIAS, PARAMETERS)                                              \
    void ALIAS PARAMETERS __attribute__((alias(#NAME)));

// With buffers: mpif.h and mpi call mpi_X_; what mpi_f08 calls depends on the compiler, and ends in
// ompi_X_f. Other MPIs call the C functions by their names.
#ifdef OPEN_MPI
#define SLUICE_FORTRAN_BUFFER(NAME, PARAMETERS, CALL)                                              \
    SLUICE_FORTRAN_NAMED(mpi_##NAME##_, PARAMETERS, CALL)                                          \
    SLUICE_FORTRAN_ALIAS(mpi_##NAME##_, ompi_##NAME##_f, PARAMETERS)

extern "C" [[gnu::weak]] int mpi_fortran_bottom_, mpi_fortran_in_place_;  // In no header.

namespace sluice::fortran {

inline void* memory(void* buffer) {
    if (buffer == &mpi_fortran_in_place_) return MPI_IN_PLACE;
    return buffer == &mpi_fortran_bottom_ ? MPI_BOTTOM : buffer;
}

}  // namespace sluice::fortran
#endif

// Without buffers: mpif.h and mpi call mpi_X_, and mpi_f08 mpi_X_f08_, with equal arguments.
#ifdef OPEN_MPI
#define SLUICE_FORTRAN(NAME, PARAMETERS, CALL)                                                     \
    SLUICE_FORTRAN_NAMED(mpi_##NAME##_, PARAMETERS, CALL)                                          \
    SLUICE_FORTRAN_ALIAS(mpi_##NAME##_, mpi_##NAME##_f08_, PARAMETERS)
#else
#define SLUICE_FORTRAN(NAME, PARAMETERS, CALL)                                                     \
    SLUICE_FORTRAN_NAMED(mpi_##NAME##_f08_, PARAMETERS, CALL)
#endif
