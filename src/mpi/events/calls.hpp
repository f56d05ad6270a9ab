// What becomes of a call in the log. An object is made where an interposed function begins, and
// writes the line when that returns. Where nothing is recorded it costs one look.
#pragma once
#include "mpi/events/call_log.hpp"
#include "mpi/file/access.hpp"

namespace sluice::record {

/// A call that has returned, with one function for each kind of line.
class LoggedCall {
public:
    LoggedCall(CallLog& log, LineWriter& line, std::int64_t began, std::int64_t ended) noexcept
        : log_(log),
          line_(line),
          began_(began),
          ended_(ended) {}

    /// A data access by the function of this name. `request`: what a nonblocking call returned.
    void access(char const* name, AccessArguments const& arguments, MPI_Request const* request);
    void access(char const* name, AccessArguments const& arguments, MPI_Status const* /*status*/) {
        access(name, arguments, static_cast<MPI_Request const*>(nullptr));
    }
    void open(MPI_Comm communicator, char const* name, int amode, MPI_Info info, MPI_File handle);
    void set_view(MPI_File handle, ViewArguments const& view, MPI_Info info);
    void set_info(MPI_File handle, MPI_Info info);
    void delete_file(char const* name, MPI_Info info);
    void seek(char const* name, MPI_File handle, MPI_Offset offset, int whence);
    /// Any other function of a file, with one number at most.
    void other(char const* name, MPI_File handle, char const* key, std::int64_t value);
    void completion(char const* name, std::vector<CallLog::Live> const& completed);

private:
    /// The name, the file (-1: of none), and the times. Lines that it refers to come before it.
    LineWriter& begin(std::string_view name, std::int64_t file);
    void hints(MPI_Info info);

    CallLog& log_;
    LineWriter& line_;
    std::int64_t const began_, ended_;
};

/// `write(LoggedCall&)` makes the line.
template <class Write> class Recorded {
public:
    explicit Recorded(Write write) noexcept
        : log_(CallLog::active()),
          began_(log_ ? clock_now() : 0),
          write_(write) {}
    ~Recorded() {
        if (log_) log_->add<LoggedCall>(began_, write_);
    }
    Recorded(Recorded const&) = delete;
    Recorded& operator=(Recorded const&) = delete;

private:
    CallLog* const log_;  ///< Null: nothing is recorded.
    std::int64_t const began_;
    Write const write_;
};

/// `result`: the call's status, or its request.
template <class Result>
[[nodiscard]] auto recorded_access(char const* name, AccessArguments const& arguments,
                                   Result const* result) {
    return Recorded(
        [name, &arguments, result](LoggedCall& call) { call.access(name, arguments, result); });
}
[[nodiscard]] inline auto recorded_call(char const* name, MPI_File handle,
                                        char const* key = nullptr, std::int64_t value = 0) {
    return Recorded([=](LoggedCall& call) { call.other(name, handle, key, value); });
}
[[nodiscard]] inline auto recorded_seek(char const* name, MPI_File handle, MPI_Offset offset,
                                        int whence) {
    return Recorded([=](LoggedCall& call) { call.seek(name, handle, offset, whence); });
}

/// A call that may complete recorded requests: those whose handles are gone when it returns.
class CompletionCall {
public:
    CompletionCall(char const* name, int count, MPI_Request const* requests)
        : log_(CallLog::active()),
          name_(name),
          requests_(requests) {
        if (log_ && log_->any_requests()) begin(count);
    }
    ~CompletionCall() {
        if (!tried_.empty()) end();
    }
    CompletionCall(CompletionCall const&) = delete;
    CompletionCall& operator=(CompletionCall const&) = delete;

private:
    void begin(int count);
    void end() noexcept;

    CallLog* const log_;
    char const* const name_;
    MPI_Request const* const requests_;
    std::int64_t began_ = 0;
    std::vector<CallLog::Live> tried_;
};

}  // namespace sluice::record
