// Results, told twice: an aligned table for people on standard output, JSON lines for machines in a
// file. Only rank 0 writes; the others may call everything.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "bench/measure/bench.hpp"
#include "bench/measure/progress.hpp"

namespace sluice::bench {

/// Middle and ends of a few measurements.
struct Summary {
    double median = 0, min = 0, max = 0;
};
Summary summary_of(std::vector<double> values);

/// One JSON object, built field by field.
class Json {
public:
    Json& add(char const* key, std::string const& value);
    Json& add(char const* key, char const* value) { return add(key, std::string(value)); }
    Json& add(char const* key, double value);
    Json& add_integer(char const* key, std::uint64_t value);
    Json& add_null(char const* key) { return raw(key, "null"); }
    Json& add(char const* key, Summary const& value);
    Json& add(char const* key, std::vector<double> const& values);
    Json& add(char const* key, Json const& value) { return raw(key, value.text()); }
    Json& append(Json const& other);
    [[nodiscard]] std::string text() const { return "{" + fields_ + "}"; }

private:
    Json& raw(char const* key, std::string const& value);
    std::string fields_;
};

/// printf into a string: this compiler has no std::format.
[[gnu::format(printf, 1, 2)]] std::string text_of(char const* format, ...);

/// A time in the unit that reads best: "12.3 ms", "840 us".
std::string text_of_seconds(double seconds);
/// "12.3 ms (11.9 .. 14.0)", both ends in the unit of the median.
std::string text_of_summary(Summary const& summary);
std::string text_of_bytes(std::uint64_t bytes);
/// With blanks between them.
std::string joined(std::vector<std::string> const& words);

class Report {
public:
    Report(Run const& run, std::string command_line);

    /// Starts a table. A column is as wide as its heading says: pad the heading with blanks. The
    /// first column is aligned to the left, the others to the right.
    void table(std::string const& title, std::vector<std::string> headings);
    void row(std::vector<std::string> const& cells);
    void note(std::string const& line) const;

    /// Appends `result` plus what identifies the run: MPI, Sluice, host, date, command line.
    void record(char const* mode, Json const& result);

private:
    bool prints_;
    std::string json_path_;
    std::vector<std::size_t> widths_;
    Json identity_;
};

/// One line of a table that compares the two sides.
struct Pair {
    char const* mode = "";
    std::string pattern, direction;  ///< May be empty.
    std::string variant;             ///< Such as "4 outstanding"; may be empty.
    std::uint64_t bytes = 0;         ///< Of one rank, in what was timed.
    PerSide seconds;
    std::array<std::uint64_t, 2> wrong{};
    std::vector<std::string> peer_hints{};  ///< key=value, of the peer's file.
};
/// Of all ranks together; `bytes` of one.
double mib_per_second(Run const& run, std::uint64_t bytes, double seconds);

void start_pair_table(Run const& run, std::string const& title);
/// Prints and records the pair, and takes account of wrong bytes for the exit code: the peer's
/// count only when there is no Sluice to compare with.
void report_pair(Run& run, Pair const& pair);
void count_wrong(Run& run, std::array<std::uint64_t, 2> const& wrong);
std::string text_of_wrong(Run const& run, std::array<std::uint64_t, 2> const& wrong);

/// The MPI's own name and version, one line.
std::string mpi_library();

/// Version of the Sluice that is loaded into this process; empty: none is.
std::string loaded_sluice();

}  // namespace sluice::bench
