// Reading of recorded logs, in part or cut off as they may be (docs/record.md). Pure: text in,
// values out, which refer to the text. text.hpp finds the text.
#pragma once
#include "base/layout.hpp"
#include "events/line.hpp"
#include "tools/recorded/type_check.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace sluice::record {

/// One line: `name`, up to three numbers, and fields.
struct Entry {
    std::string_view name;
    std::int64_t subject = -1;          ///< Which file, datatype or group.
    std::int64_t begin = 0, took = -1;  ///< Nanoseconds of a call, from the rank's start; -1: none.
    std::vector<std::pair<std::string_view, std::string_view>> fields;

    [[nodiscard]] bool is_call() const noexcept { return took >= 0; }
    [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const noexcept;
    [[nodiscard]] std::int64_t number(std::string_view key, std::int64_t fallback) const noexcept;
    /// Decoded; empty where it is not there.
    [[nodiscard]] std::string text(std::string_view key) const;
    [[nodiscard]] std::vector<std::int64_t> list(std::string_view key) const;
};

/// Nothing where it is no line of a log.
[[nodiscard]] std::optional<Entry> parse_line(std::string_view line);

/// What one rank did.
struct RankLog {
    std::int64_t rank = 0, ranks = 1;
    Entry head;                  ///< The line that begins it.
    std::vector<Entry> entries;  ///< Without those that begin and end it.
    bool complete = false;       ///< The rank came to MPI_Finalize, or nothing of it was lost.
};

struct Log {
    std::vector<RankLog> ranks;  ///< In their order; those that are not there are left out.
    std::string error;           ///< Why it cannot be read at all.
    std::int64_t expected = 0;   ///< How many ranks the job had.

    [[nodiscard]] RankLog const* of_rank(std::int64_t rank) const noexcept;
    /// What is missing of it, in words; empty: nothing.
    [[nodiscard]] std::string missing() const;
};

/// `text` must live as long as the log. With a rank, only that one's entries are taken.
[[nodiscard]] Log read_log(std::string_view text, std::optional<std::int64_t> only = {});

/// The datatypes of one rank, by their numbers.
class Types {
public:
    /// Takes those of a rank's entries; what cannot be understood is left out.
    explicit Types(RankLog const& log);
    /// Adds the datatype of a line `type`.
    void add(Entry const& entry);

    struct Type {
        std::shared_ptr<TypeTree const> tree;  ///< Null: a constructor that is not known.
        Bytes size = 0;
        Offset extent = 0;
        std::int64_t makers = 0;  ///< Constructors in the tree, those of shared parts each time.
        std::int32_t depth = 0;   ///< Of the tree.
        Shape shape;
    };
    [[nodiscard]] Type const* find(std::int64_t number) const noexcept;
    /// Of one instance as the etype of a view: 1 where the log is damaged and lacks it.
    [[nodiscard]] Bytes etype_bytes(std::int64_t number) const noexcept;
    /// Of one instance, repeated at its extent; null where the tree is not known.
    [[nodiscard]] std::shared_ptr<Layout const> layout(std::int64_t number);

private:
    [[nodiscard]] Type type_of(Entry const& entry) const;

    std::map<std::int64_t, Type> types_;
    std::map<std::int64_t, std::shared_ptr<Layout const>> layouts_;
};

}  // namespace sluice::record
