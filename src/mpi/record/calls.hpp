// One object for each recorded call: made where an interposed function begins, it writes the line
// when that returns. Where nothing is recorded it costs one look.
#pragma once
#include "mpi/file/access.hpp"
#include "mpi/record/recorder.hpp"

namespace sluice::record {

/// The time of a call, from here on.
class Timed {
protected:
    Timed() : recorder_(Recorder::active()), began_(recorder_ ? clock_now() : 0) {}
    ~Timed() = default;

    Recorder* const recorder_;  ///< Null: nothing is recorded.
    std::int64_t const began_;

public:
    Timed(Timed const&) = delete;
    Timed& operator=(Timed const&) = delete;
};

/// Which ranks make the call.
enum class Who : std::uint8_t { one, all };

/// A data access. With a request: a nonblocking one. `begins`: a split collective.
class AccessCall : Timed {
public:
    AccessCall(AccessArguments const& arguments, Who who, MPI_Status const* /*status*/ = nullptr)
        : arguments_(arguments),
          who_(who) {}
    AccessCall(AccessArguments const& arguments, Who who, MPI_Request const* request)
        : arguments_(arguments),
          who_(who),
          request_(request) {}
    struct Begins {};
    AccessCall(AccessArguments const& arguments, Who who, Begins)
        : arguments_(arguments),
          who_(who),
          begins_(true) {}
    ~AccessCall() {
        if (recorder_) write();
    }

private:
    void write() noexcept;

    AccessArguments const& arguments_;
    Who const who_;
    MPI_Request const* const request_ = nullptr;
    bool const begins_ = false;
};

class OpenCall : Timed {
public:
    OpenCall(MPI_Comm communicator, char const* name, int amode, MPI_Info info,
             MPI_File const* handle)
        : communicator_(communicator),
          name_(name),
          amode_(amode),
          info_(info),
          handle_(handle) {}
    ~OpenCall() {
        if (recorder_) write();
    }

private:
    void write() noexcept;

    MPI_Comm const communicator_;
    char const* const name_;
    int const amode_;
    MPI_Info const info_;
    MPI_File const* const handle_;
};

class ViewCall : Timed {
public:
    ViewCall(MPI_File handle, ViewArguments const& view, MPI_Info info)
        : handle_(handle),
          view_(view),
          info_(info) {}
    ~ViewCall() {
        if (recorder_) write();
    }

private:
    void write() noexcept;

    MPI_File const handle_;
    ViewArguments const view_;
    MPI_Info const info_;
};

/// Any other function of a file, with one number and one word at most.
class FileCall : Timed {
public:
    FileCall(char const* name, MPI_File handle, char const* key = nullptr, std::int64_t value = 0,
             std::optional<int> whence = {})
        : name_(name),
          handle_(handle),
          key_(key),
          value_(value),
          whence_(whence) {}
    ~FileCall() {
        if (recorder_) write();
    }

private:
    void write() noexcept;

    char const* const name_;
    MPI_File const handle_;
    char const* const key_;
    std::int64_t const value_;
    std::optional<int> const whence_;
};

/// New hints of an open file.
class InfoCall : Timed {
public:
    InfoCall(MPI_File handle, MPI_Info info) : handle_(handle), info_(info) {}
    ~InfoCall() {
        if (recorder_) write();
    }

private:
    void write() noexcept;

    MPI_File const handle_;
    MPI_Info const info_;
};

class DeleteCall : Timed {
public:
    DeleteCall(char const* name, MPI_Info info) : name_(name), info_(info) {}
    ~DeleteCall() {
        if (recorder_) write();
    }

private:
    void write() noexcept;

    char const* const name_;
    MPI_Info const info_;
};

/// A call that may complete recorded requests: those whose handles are gone when it returns.
class CompletionCall : Timed {
public:
    CompletionCall(char const* name, int count, MPI_Request const* requests)
        : name_(name),
          requests_(requests) {
        if (recorder_ && recorder_->any_requests())
            tried_ = recorder_->find_requests(count, requests);
    }
    ~CompletionCall() {
        if (!tried_.empty()) write();
    }

private:
    void write() noexcept;

    char const* const name_;
    MPI_Request const* const requests_;
    std::vector<Recorder::Live> tried_;
};

}  // namespace sluice::record
