// The file in which one rank of a job keeps what it did, in the folder FILE.parts, until the parts
// become FILE. It is written while the job runs, so it is there when the rank was killed, with all
// but the last moment in it.
#pragma once
#include "events/chrome_json.hpp"
#include "events/line.hpp"
#include "system/descriptor.hpp"
#include "system/parts_folder.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// What a file is whose parts are written.
struct PartKind {
    char const* name;                 ///< In messages.
    std::string_view part_start;      ///< How each part begins.
    std::string_view file_starts[2];  ///< What is at FILE may be replaced if it begins so.

    [[nodiscard]] PartsFolder folder(std::string const& file) const { return {file, part_start}; }
};
inline constexpr PartKind log_kind = {
    "log", record::signature, {record::signature, "\x1f\x8b"}};  // It may be packed by gzip.
inline constexpr PartKind trace_kind = {
    "trace", {trace_magic.data(), trace_magic.size()}, {ChromeJson::start, ChromeJson::start}};

/// Where bytes go that are appended: behind a head, which put() writes. A log keeps all of them; of
/// a ring, which has so many bytes, the newest.
struct PartLayout {
    std::uint64_t head = 0, ring = 0;
};

class PartFile {
public:
    PartFile() = default;
    explicit PartFile(PartKind const& kind, PartLayout layout = {}) noexcept
        : kind_(&kind),
          layout_(layout) {}

    /// Makes the part of a rank, empty. Returns what went wrong; empty: nothing. What is there and
    /// is no file of this kind, or no part of one, is left alone, and so is the part of a process
    /// that runs.
    [[nodiscard]] std::string open(std::string const& file, std::int64_t rank);
    /// Removes what an earlier job left: the parts of other ranks, and FILE. Called by one rank
    /// that has its part open, before the others have.
    [[nodiscard]] std::string clear_others();
    /// Removes this part.
    void discard();

    /// Return what went wrong; what was written before stays.
    [[nodiscard]] std::string append(std::string_view bytes);
    [[nodiscard]] std::string put(std::string_view bytes, std::uint64_t at);
    /// Moves what was appended behind the end of FILE, where other ranks move theirs as well. Where
    /// that is not possible it stays where it is.
    [[nodiscard]] std::string move_into_file();

    [[nodiscard]] bool is_open() const noexcept { return fd_.get() >= 0; }

private:
    [[nodiscard]] PartsFolder folder() const { return kind_->folder(file_); }

    PartKind const* kind_ = nullptr;
    PartLayout layout_;
    std::uint64_t appended_ = 0;
    std::string file_;
    std::int64_t rank_ = 0;
    Descriptor fd_;
};

/// Whether there is nothing at the path, or what may be replaced by a file of this kind.
[[nodiscard]] bool is_free_for(PartKind const& kind, std::string const& path);

/// At the offset; -1: where the descriptor stands. False where the system refuses: errno says why.
bool write_all(int fd, std::string_view bytes, std::int64_t offset = -1);
/// As many bytes as there are; the rest of the memory stays as it is.
std::size_t read_at(int fd, void* into, std::size_t bytes, std::uint64_t offset);

}  // namespace sluice
