// One rank's part of an access, from its start to the comparison of every byte of its buffer.
#pragma once
#include "random_model.hpp"
#include "random_place.hpp"

#include <memory>

namespace random_test {

/// Which of MPI's functions starts an access.
struct Form {
    enum Way { blocking, nonblocking, split };
    enum Shared { not_shared, shared, ordered };
    Direction direction = Direction::write;
    bool pointer = false;
    bool independent = false;
    Way way = blocking;
    Shared kind = not_shared;  ///< Which call of the shared file pointer.

    std::string name() const {
        std::string const verb = direction == Direction::write ? "write" : "read";
        if (kind == shared) return verb + "_shared";
        if (kind == ordered) return verb + "_ordered" + (way == split ? "_begin" : "");
        return std::string(way == nonblocking ? "i" : "") + verb + (pointer ? "" : "_at") +
               (independent ? "" : "_all") + (way == split ? "_begin" : "");
    }
    access_form::Form collective() const {
        return access_form::every_form[2U * static_cast<unsigned>(way) + (pointer ? 0U : 1U)];
    }
};

/// An independent call: the eight that MPI has.
inline int start_independent(MPI_File f, Form form, MPI_Offset at, void* p, int n, MPI_Datatype t,
                             MPI_Status* status, MPI_Request* request) {
    bool const writes = form.direction == Direction::write;
    if (form.way == Form::blocking && form.pointer) {
        return writes ? MPI_File_write(f, p, n, t, status) : MPI_File_read(f, p, n, t, status);
    }
    if (form.way == Form::blocking) {
        return writes ? MPI_File_write_at(f, at, p, n, t, status)
                      : MPI_File_read_at(f, at, p, n, t, status);
    }
    if (form.pointer) {
        return writes ? MPI_File_iwrite(f, p, n, t, request) : MPI_File_iread(f, p, n, t, request);
    }
    return writes ? MPI_File_iwrite_at(f, at, p, n, t, request)
                  : MPI_File_iread_at(f, at, p, n, t, request);
}

inline int start_shared(MPI_File f, Form form, void* p, int n, MPI_Datatype t, MPI_Status* status) {
    bool const writes = form.direction == Direction::write;
    if (form.kind == Form::shared) {
        return writes ? MPI_File_write_shared(f, p, n, t, status)
                      : MPI_File_read_shared(f, p, n, t, status);
    }
    if (form.way == Form::split) {
        return writes ? MPI_File_write_ordered_begin(f, p, n, t)
                      : MPI_File_read_ordered_begin(f, p, n, t);
    }
    return writes ? MPI_File_write_ordered(f, p, n, t, status)
                  : MPI_File_read_ordered(f, p, n, t, status);
}

inline int end_ordered(MPI_File f, Form form, void* p, MPI_Status* status) {
    return form.direction == Direction::write ? MPI_File_write_ordered_end(f, p, status)
                                              : MPI_File_read_ordered_end(f, p, status);
}

class Transfer {
public:
    /// `data`: what is written, or what a read must deliver.
    Transfer(Form form, Part part, model::Bytes const& data) : form_(form), part_(std::move(part)) {
        auto blocks = part_.request.in_memory();
        std::int64_t lowest = 0;
        for (auto const& block : blocks) lowest = std::min(lowest, block.offset);
        origin_ = guard - lowest;
        for (auto& block : blocks) block.offset += origin_;
        expected_ = model::scattered(blocks, data);
        expected_.resize(std::max(expected_.size(), static_cast<std::size_t>(origin_)) + guard,
                         model::untouched);
        memory_ = form.direction == Direction::write
                      ? expected_
                      : model::Bytes(expected_.size(), model::untouched);
        blocks_ = std::move(blocks);
    }

    /// The datatype is freed when this returns.
    void start(MPI_File file) {
        model::Type const type(part_.request.memory);
        auto const at = static_cast<MPI_Offset>(part_.request.offset);
        int const n = part_.request.count;
        auto const kind = form_.collective();
        int code = MPI_SUCCESS;
        if (form_.kind != Form::not_shared) {
            code = start_shared(file, form_, user(), n, type.get(), &status_);
        } else if (form_.independent) {
            code = start_independent(file, form_, at, user(), n, type.get(), &status_, &request);
        } else if (form_.direction == Direction::write) {
            code =
                access_form::start_write(file, kind, at, user(), n, type.get(), &status_, &request);
        } else {
            code =
                access_form::start_read(file, kind, at, user(), n, type.get(), &status_, &request);
        }
        check::ok(code, form_.name());
        if (form_.way == Form::blocking) finished(status_);
    }

    void end_split(MPI_File file) {
        int const code = form_.kind == Form::ordered
                             ? end_ordered(file, form_, user(), &status_)
                             : access_form::finish(file, form_.collective(), form_.direction,
                                                   user(), &status_, &request);
        check::ok(code, form_.name() + " (end)");
        finished(status_);
    }

    void finished(MPI_Status& status) {
        model::Type const type(part_.request.memory);
        bool const by_mpi = form_.independent || form_.kind != Form::not_shared;
        auto const judge = by_mpi ? access_form::check_count : access_form::check_status;
        judge(status, part_.request, type.get(), part_.moved, check::Where::current());
        compare();
        // A program may use its memory again: what is still to be written must have been copied.
        std::fill(memory_.begin(), memory_.end(), reused);
    }

    /// What a write sends must not change; what a read does not deliver must not either.
    void compare() {
        if (check::state().options.plain) model::blank_after(blocks_, part_.moved, memory_);
        if (check::state().options.plain) model::blank_after(blocks_, part_.moved, expected_);
        check::same_bytes(expected_, memory_, "buffer");
    }

    Form const& form() const { return form_; }
    std::string text() const {
        std::ostringstream text;
        auto const& r = part_.request;
        text << form_.name() << ": offset " << r.offset << ", " << r.count << " x " << part_.memory
             << " = " << r.bytes() << " bytes at";
        for (std::size_t i = 0; i < std::min<std::size_t>(part_.in_file.size(), 6); ++i) {
            auto const& block = part_.in_file[i];
            text << " [" << block.offset << ", " << block.offset + block.bytes << ")";
        }
        if (part_.in_file.size() > 6) text << " ... " << part_.in_file.size() << " pieces";
        if (part_.moved != r.bytes()) text << "; " << part_.moved << " before the end";
        return text.str();
    }

    MPI_Request request = MPI_REQUEST_NULL;

private:
    static constexpr unsigned char reused = 0x3C;
    static constexpr std::int64_t guard = 16;  ///< Bytes on both sides that stay untouched.
    unsigned char* user() { return memory_.data() + origin_; }

    Form form_;
    Part part_;
    std::int64_t origin_ = 0;  ///< Of the user's memory in `memory_`.
    model::Blocks blocks_;
    model::Bytes memory_, expected_;
    MPI_Status status_{};
};

/// A request that the program has not seen complete.
struct Pending {
    MPI_Request request = MPI_REQUEST_NULL;
    int file = -1;  ///< None: a message.
    int step = 0;
    std::string name;
    std::shared_ptr<Transfer> transfer;  ///< None: a message.
    std::function<void(MPI_Status&)> finished = {};
    bool done = false;
};
using PendingList = std::vector<std::shared_ptr<Pending>>;

}  // namespace random_test
