// What SLUICE_RECORD asks for: each call of MPI-IO of this rank becomes a line of a log, whether
// the library or the MPI serves it (docs/record.md). The interposed functions make one of the
// objects of mpi/events/calls.hpp, which write here.
#pragma once
#include "events/line.hpp"
#include "system/clock.hpp"
#include "system/part_file.hpp"

#include <atomic>
#include <memory>
#include <mpi.h>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice::record {

/// The log of this rank. All functions may be called by any thread.
class CallLog {
public:
    /// Of this process, while it records; else null.
    [[nodiscard]] static CallLog* active() noexcept {
        return active_.load(std::memory_order_acquire);
    }
    /// Before MPI begins: rank 0 makes room for the log.
    static void prepare();
    /// When MPI has begun, and before it ends. Local.
    static void start(int rank, int ranks);
    static void stop();

    explicit CallLog(PartFile part) noexcept;

    /// `write` makes the line of a call that ends now, with the functions of `Line`.
    template <class Line, class Write>
    void add(std::int64_t began, Write const& write) noexcept try {
        std::int64_t const now = clock_now();
        std::lock_guard const lock(mutex_);
        if (failed_) return;
        LineWriter line(text_);
        Line call(*this, line, began, now);
        write(call);
        line.end();
        if (text_.size() >= buffer_bytes || now - flushed_ >= flush_after) flush(now);
    } catch (std::exception const&) {
        give_up();
    }

    /// There is no memory for a line: what was recorded so far stays, and no more comes.
    void give_up() noexcept;

    // These are called by `write`, under the lock, and write what has to come before the line.
    /// The number of a datatype; -1: none.
    [[nodiscard]] std::int64_t type_number(MPI_Datatype type);
    /// That of the ranks of a communicator.
    [[nodiscard]] std::int64_t group_number(MPI_Comm communicator);
    [[nodiscard]] std::int64_t since_start(std::int64_t time) const noexcept {
        return time - start_;
    }

    // Files and requests, by their handles.
    /// -1: a handle of before, or of nothing.
    [[nodiscard]] std::int64_t file_of(MPI_File handle);
    [[nodiscard]] std::int64_t add_file(MPI_File handle);
    void forget_file(MPI_File handle);
    [[nodiscard]] bool any_requests() const noexcept {
        return live_requests_.load(std::memory_order_relaxed) > 0;
    }
    /// A call has returned the request; under the lock.
    [[nodiscard]] std::int64_t add_request(MPI_Request request);
    struct Live {
        int index = 0;
        MPI_Request request;
        std::int64_t number = 0;
    };
    [[nodiscard]] std::vector<Live> find_requests(int count, MPI_Request const* requests);
    /// A try has not completed them: counted, for the line that completes them.
    void count_tests(std::vector<Live> const& tried);
    /// How often it was tried before in vain; under the lock.
    std::int64_t forget_request(Live const& completed);

private:
    static constexpr std::size_t buffer_bytes = std::size_t{64} << 10;
    static constexpr std::int64_t flush_after = 100'000'000;  ///< Of what a killed rank loses.

    struct Request {
        std::int64_t number = 0, tests = 0;
    };

    void write_head(int rank, int ranks);
    void flush(std::int64_t now);
    void finish();
    std::int64_t write_type(TypeTree const& type_tree);
    std::int64_t write_unknown_type(MPI_Datatype type);

    static std::atomic<CallLog*> active_;

    std::mutex mutex_;
    PartFile part_;
    std::string text_;  ///< Not written yet.
    std::int64_t start_, flushed_;
    std::atomic<bool> failed_{false};  ///< Nothing more is written.
    std::int64_t types_ = 0, files_ = 0, requests_made_ = 0;
    std::atomic<std::int64_t> live_requests_{0};
    std::size_t kept_bytes_ = 0;  ///< Of type trees.
    std::unordered_multimap<std::uint64_t, std::pair<std::shared_ptr<TypeTree const>, std::int64_t>>
        known_types_;
    std::unordered_map<MPI_File, std::int64_t> open_;
    std::unordered_map<MPI_Request, Request> live_;
    std::vector<std::vector<int>> groups_;
};

}  // namespace sluice::record
