// An Access is one data access under way, collective or independent. These functions make one from
// the arguments of an MPI function, and bring its status back to the caller. All interposed
// data-access functions share them.
#pragma once
#include "file/run/transfers.hpp"
#include "mpi/file/captured_call.hpp"

namespace sluice {

/// A collective access with all that it needs captured, to be begun any number of times.
struct Prepared {
    AccessArguments arguments{};
    FileView view;
    Call call;
    bool converts = false;  ///< Each access makes an image of the memory; else `call` has all.
};

/// An access under way: of a blocking call, a request, or a split collective.
class Access {
public:
    /// Who waits for the operation: the call itself, a request, or the end of a split collective.
    enum class Form : std::uint8_t { blocking, nonblocking, split };
    /// Begins. Collective; local, returns at once, but for what earlier calls have delayed. In the
    /// order of the ranks: waits until all ranks have come to it.
    static Access collective(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                             Form form);
    /// Captures one, with an explicit offset; bad arguments are in the call's status. Local.
    static Prepared prepare(File const& file, AccessArguments const& arguments);
    /// Begins what was prepared. Collective; local, returns at once.
    static Access begin(std::shared_ptr<File> const& file, Prepared const& prepared);
    /// Begins an independent one. Of a request: a storage thread does it; a call that `waits` does
    /// it itself.
    static Access independent(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                              bool waits);

    [[nodiscard]] bool complete() const noexcept;
    /// Until it is complete; the calling thread moves it on.
    void wait() const;
    /// The same for a blocking call, which may return once the bytes of this rank are moved: see
    /// File::wait_for_own_part(). Of a collective access. Begins to read ahead.
    void wait_for_own_part();

    // Once it was waited for:
    /// Hands over what was read, by a thread of the program; accounts.
    void finish();
    [[nodiscard]] Bytes bytes() const;  ///< For the status of the call.
    [[nodiscard]] Status status() const noexcept;

    std::shared_ptr<File> file;
    Direction direction = Direction::write;

private:
    /// A transfer between user memory and the file, with the request that it refers to.
    struct Independent {
        Independent(Call its_call, Bytes gap_bytes);
        /// In this thread, or by the storage's, not before a stream has come to a point; then this
        /// must live until the transfer is done.
        void run(StoredFile& storage);
        void start(StoredFile& storage, std::shared_ptr<StreamPoint> const& after);

        Call call;
        UserTransfer transfer;
        bool sieves;        ///< Whole windows of the file are read.
        bool moves = true;  ///< False: its arguments are bad.

    private:
        void start_now(StoredFile& storage);
    };
    void begin_independent(bool waits, std::shared_ptr<StreamPoint> const& after);
    [[nodiscard]] Bytes moved() const noexcept;

    std::shared_ptr<Operation> operation_;      ///< Of a collective access.
    std::unique_ptr<Independent> independent_;  ///< Of an independent one.
    std::unique_ptr<ConversionBuffer>
        conversion_buffer_;  ///< Often none: most bytes need no conversion.
    bool finished_ = false;
    Status unpacked_ = Status::ok;  ///< Of the last copy of what was read, to the program's memory.
    /// The file accounts for it when it ends, and this rank's part of it is done for the program.
    bool left_behind_ = false;
    /// Bytes of a write that was delayed, or of a read that was made ahead; -1: of neither.
    Bytes taken_ = -1;
    bool leads_on_ = false;  ///< A read behind which the next ones may be made ahead.
};

/// The end of a call that waited for its access. Returns the error class, after the file's handler.
int finish_access(Access& access, MPI_Status* status);

/// Counts the time from here to the end of the scope as blocked.
class BlockedTime {
public:
    explicit BlockedTime(File& file) : file_(file), began_(SteadyClock().now()) {}
    ~BlockedTime() { file_.blocked(SteadyClock().now() - began_); }
    BlockedTime(BlockedTime const&) = delete;
    BlockedTime& operator=(BlockedTime const&) = delete;

private:
    File& file_;
    double began_;
};

/// Blocking. Collective over the file's communicator.
int access_blocking(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                    MPI_Status* status);

/// Nonblocking: local, returns at once; an error of any rank is reported at completion, on all.
int access_nonblocking(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                       MPI_Request* request);

/// A split collective: the same, with the file in place of a request. One at a time (MPI-4.1,
/// 14.4.5).
int access_begin(std::shared_ptr<File> const& file, AccessArguments const& arguments);
int access_end(std::shared_ptr<File> const& file, Direction direction, MPI_Status* status);

/// Independent: local, blocks on the device only.
int access_independent(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                       MPI_Status* status);
/// The same, nonblocking. Bad arguments give no request.
int access_independent(std::shared_ptr<File> const& file, AccessArguments const& arguments,
                       MPI_Request* request);

}  // namespace sluice
