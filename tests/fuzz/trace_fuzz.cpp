// The parts of a trace that ranks leave, which `sluice merge-trace` makes one file of: the numbers
// of a header, and events behind it. The names are always the same ones, because they would be most
// of an input.
#include "events/chrome_json.hpp"
#include "fuzz.hpp"
#include "system/trace_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace sluice::fuzz {
namespace {

constexpr std::size_t numbers_bytes = offsetof(TraceHeader, names);

/// A file in memory, which is made once.
int part_file() {
    static int const file = memfd_create("trace", MFD_CLOEXEC);
    return file;
}

void write_part(Input& input) {
    TraceHeader header;
    for (char const* const name : {"program", "helper", "MPI_File_write_all", "file"})
        (void)header.add_name(name);
    // The magic and the version are right, so that the rest is looked at.
    input.take_into(reinterpret_cast<char*>(&header) + offsetof(TraceHeader, rank),
                    numbers_bytes - offsetof(TraceHeader, rank));
    auto const events = input.take_rest();
    bool const is_written =
        ftruncate(part_file(), 0) == 0 &&
        pwrite(part_file(), &header, sizeof header, 0) == static_cast<ssize_t>(sizeof header) &&
        pwrite(part_file(), events.data(), events.size(), trace_ring_offset) ==
            static_cast<ssize_t>(events.size());
    require(is_written, "a file in memory can be written");
}

/// Whether all braces, brackets and strings of the text have their ends.
bool is_closed(std::string_view text) {
    int depth = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char const c = text[i];
        if (quoted && c == '\\') ++i;
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        depth += int{c == '{' || c == '['} - int{c == '}' || c == ']'};
        if (depth < 0) return false;
    }
    return depth == 0 && !quoted;
}

void try_part(Input input) {
    constexpr std::size_t bytes_of_an_event = 4096;
    write_part(input);
    Descriptor const file(dup(part_file()));
    auto const part = read_trace_part(file, true);
    if (!part) return;
    std::string text;
    ChromeJson json([&](std::string_view more) { return text.append(more), true; },
                    part->header.aligned(part->header.began));
    require(json.add(*part) && json.finish(), "a part becomes text");
    require(is_closed(text), "the text is closed", text);
    // A row and a count may belong to an event, and the program's own time lies between two.
    require(text.size() <= (part->events.size() + trace_lanes + 1) * bytes_of_an_event,
            "the text is as long as its events are many", text);
}

}  // namespace
}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    sluice::fuzz::try_part({data, size});
    return 0;
}
