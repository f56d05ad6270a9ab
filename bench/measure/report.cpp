// Formatting of results. No measuring here, and no MPI but for the name of the library.
#include "bench/measure/report.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

#include "base/printable.hpp"
#include "bench/gpu/gpu.hpp"

namespace sluice::bench {
namespace {

struct Unit {
    double seconds;
    char const* name;
};

Unit unit_for(double seconds) {
    if (seconds >= 1) return {1, "s"};
    if (seconds >= 1e-3) return {1e-3, "ms"};
    return {1e-6, "us"};
}

std::string digits(double value) {
    return text_of("%.*f", value >= 100 ? 0 : value >= 10 ? 1 : 2, value);
}

std::string date_now() {
    std::time_t const now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text;
}

}  // namespace

Summary summary_of(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    auto const n = values.size();
    double const median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
    return {median, values.front(), values.back()};
}

Json& Json::raw(char const* key, std::string const& value) {
    if (!fields_.empty()) fields_ += ", ";
    fields_ += quoted_for_json(key) + ": " + value;
    return *this;
}

Json& Json::add(char const* key, std::string const& value) {
    return raw(key, quoted_for_json(value));
}

Json& Json::add(char const* key, double value) {
    return std::isfinite(value) ? raw(key, text_of("%.9g", value)) : add_null(key);
}

Json& Json::add_integer(char const* key, std::uint64_t value) {
    return raw(key, std::to_string(value));
}

Json& Json::add(char const* key, Summary const& value) {
    Json inner;
    inner.add("median", value.median).add("min", value.min).add("max", value.max);
    return add(key, inner);
}

Json& Json::add(char const* key, std::vector<double> const& values) {
    std::string text;
    for (double const value : values) text += (text.empty() ? "" : ", ") + text_of("%.9g", value);
    return raw(key, "[" + text + "]");
}

Json& Json::append(Json const& other) {
    if (!fields_.empty() && !other.fields_.empty()) fields_ += ", ";
    fields_ += other.fields_;
    return *this;
}

std::string text_of(char const* format, ...) {
    char text[512];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return text;
}

std::string text_of_seconds(double seconds) {
    auto const unit = unit_for(seconds);
    return digits(seconds / unit.seconds) + " " + unit.name;
}

std::string text_of_summary(Summary const& summary) {
    auto const unit = unit_for(summary.median);
    return text_of_seconds(summary.median) + " (" + digits(summary.min / unit.seconds) + " .. " +
           digits(summary.max / unit.seconds) + ")";
}

std::string text_of_bytes(std::uint64_t bytes) {
    if (bytes >= 1U << 20) return text_of("%.4g MiB", double(bytes) / 1048576);
    if (bytes >= 1U << 10) return text_of("%.4g KiB", double(bytes) / 1024);
    return text_of("%llu B", static_cast<unsigned long long>(bytes));
}

std::string joined(std::vector<std::string> const& words) {
    std::string text;
    for (auto const& word : words) text += (text.empty() ? "" : " ") + word;
    return text;
}

std::string mpi_library() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    // Open MPI counts the terminating zero in, MPICH aligns with tabs or blanks.
    std::string line;
    for (char const* c = text; c < text + length && *c != '\0' && *c != '\n'; ++c) {
        char const plain = *c == '\t' ? ' ' : *c;
        if (plain != ' ' || (!line.empty() && line.back() != ' ')) line += plain;
    }
    return line;
}

std::string loaded_sluice() {
    using Version = char const* (*)();
    auto const version = reinterpret_cast<Version>(dlsym(RTLD_DEFAULT, "sluice_version"));
    return version == nullptr ? std::string() : version();
}

Report::Report(Run const& run, std::string command_line)
    : prints_(run.rank == 0),
      json_path_(run.options.json) {
    auto const mpi = mpi_library(), sluice = loaded_sluice();
    identity_.add_integer("ranks", std::uint64_t(run.ranks))
        .add_integer("nodes", std::uint64_t(node_count()))
        .add_integer("host_cores", std::thread::hardware_concurrency())
        .add_integer("repeat", std::uint64_t(run.options.repeat))
        .add_integer("piece_bytes", run.options.piece)
        .add("mpi_library", mpi)
        .add("thread_level", run.threads ? "multiple" : "single");
    if (sluice.empty())
        identity_.add_null("sluice_version");
    else
        identity_.add("sluice_version", sluice);
    if (!run.options.link.empty()) identity_.add("link", run.options.link);
    if (char const* const network = std::getenv("SLUICE_NETWORK"))
        identity_.add("network", std::string(network));
    if (!run.options.device.empty()) identity_.add("device", run.options.device);
    if (run.gpu) identity_.add("memory", run.options.memory).add("gpu", run.gpu->name());
    identity_.add("command", command_line);
    note(text_of("%d ranks on %d nodes, %u cores; %s", run.ranks, node_count(),
                 std::thread::hardware_concurrency(), mpi.c_str()));
    if (run.gpu) note("buffers on the " + run.options.memory + "; GPU: " + run.gpu->name());
    if (sluice.empty())
        note("warning: Sluice is not loaded: both columns are the MPI library's own");
    else
        note("Sluice " + sluice);
}

void Report::table(std::string const& title, std::vector<std::string> headings) {
    note("\n" + title);
    widths_.clear();
    for (auto& heading : headings) {
        widths_.push_back(heading.size());
        heading.erase(0, heading.find_first_not_of(' '));
        heading.erase(heading.find_last_not_of(' ') + 1);
    }
    row(headings);
}

void Report::row(std::vector<std::string> const& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        auto const padding = std::string(widths_[i] - std::min(widths_[i], cells[i].size()), ' ');
        line += i == 0 ? cells[i] + padding : "  " + padding + cells[i];
    }
    note(line);
}

void Report::note(std::string const& line) const {
    if (!prints_) return;
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
}

void Report::record(char const* mode, Json const& result) {
    if (!prints_ || json_path_.empty()) return;
    Json line;
    line.add("mode", mode).append(result).append(identity_).add("date", date_now());
    if (auto* file = std::fopen(json_path_.c_str(), "a")) {
        std::fprintf(file, "%s\n", line.text().c_str());
        std::fclose(file);
    } else {
        std::fprintf(stderr, "sluice-bench: cannot append to %s\n", json_path_.c_str());
    }
}

}  // namespace sluice::bench
