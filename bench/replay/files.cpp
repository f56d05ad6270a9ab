// Files of a replay: their names, what they hold before it, and whether they are right after it.
#include "bench/replay/player.hpp"

#include "bench/measure/end_job.hpp"
#include "system/descriptor.hpp"

#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace sluice::replay {
namespace {

constexpr Bytes window_bytes = Bytes{4} << 20;

/// Pieces of the file that an access selects, as one span.
Span reach_of(Transfer const& transfer) {
    Span reach;
    for_each_piece(transfer, [&](Offset, Offset file, Bytes bytes) {
        reach = join(reach, {file, file + bytes});
    });
    return reach;
}

/// A window of the file that moves on with what is asked for.
class Window {
public:
    explicit Window(std::string const& path)
        : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
          memory_(window_bytes) {}

    /// Calls `visit(bytes, offset, count)` for what the file has of the span, in parts. What lies
    /// behind its end is zeros.
    template <class Visit> void for_each(Span span, Visit&& visit) {
        for (Offset at = span.begin; at < span.end;) {
            if (at < has_.begin || at >= has_.end) load(at);
            Offset const end = std::min(span.end, has_.end);
            visit(memory_.data() + (at - has_.begin), at, end - at);
            at = end;
        }
    }

private:
    void load(Offset at) {
        has_ = {at, at + window_bytes};
        std::ranges::fill(memory_, std::byte{});
        for (Bytes got = 0; got < window_bytes;) {
            ssize_t const more = pread(fd_.get(), memory_.data() + got,
                                       static_cast<std::size_t>(window_bytes - got), at + got);
            if (more <= 0) break;
            got += more;
        }
    }

    Descriptor fd_;
    std::vector<std::byte> memory_;
    Span has_;
};

}  // namespace

std::string Player::path_of(std::string const& recorded) const {
    auto const name = std::filesystem::path(recorded).filename().string();
    char number[17] = "";
    std::snprintf(number, sizeof number, "%08zx", std::hash<std::string>{}(recorded) & 0xffffffffU);
    return options_.folder + "/replay-" + number + "-" +
           (pass_ == 0 ? "" : std::to_string(pass_) + "-") + name;
}

/// Bytes as they would be had the program that made the file been replayed.
void Player::make_input(std::string const& path, std::uint64_t seed, Span span) const {
    Descriptor const fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    std::vector<std::byte> memory(window_bytes);
    for (Offset at = span.begin; at < span.end; at += window_bytes) {
        Bytes const bytes = std::min(window_bytes, span.end - at);
        fill(seed, at, memory.data(), bytes);
        ssize_t const done = pwrite(fd.get(), memory.data(), static_cast<std::size_t>(bytes), at);
        if (done != bytes) end_job("sluice replay: cannot make " + path + ": " + strerror(errno));
    }
    if (fd.get() < 0) end_job("sluice replay: cannot make " + path + ": " + strerror(errno));
}

void Player::prepare() {
    std::map<std::string, Span> inputs;  // Of files that the program did not make.
    std::set<std::string> made;
    std::map<std::int64_t, OpenFile> files;
    for (auto const& entry : log_.entries) {
        if (entry.name == "open") {
            OpenFile file;
            file.path = path_of(entry.text("name"));
            paths_.insert(file.path);
            bool const creates = entry.text("mode").find("create") != std::string::npos;
            if (creates && !inputs.contains(file.path)) made.insert(file.path);
            if (!made.contains(file.path)) inputs[file.path];
            files[entry.subject] = std::move(file);
        }
        auto const found = files.find(entry.subject);
        if (found == files.end()) continue;
        OpenFile& file = found->second;
        if (entry.name == "set_view") {
            auto const layout = types_.layout(entry.number("filetype", -1));
            file.view = layout ? layout : Layout::contiguous();
            file.displacement = entry.number("at", 0);
            file.etype = types_.etype_bytes(entry.number("etype", -1));
            file.pointer = 0;
        }
        if (entry.name == "seek" && entry.find("whence") == "set")
            file.pointer = entry.number("at", 0);
        Function const* const function = function_named(entry.name);
        record::Types::Type const* const type =
            function ? types_.find(entry.number("t", -1)) : nullptr;
        if (!type) continue;
        Transfer transfer{Layout::contiguous(), file.view, file.displacement, 0,
                          entry.number("n", 0) * type->size};
        bool const at_offset = function->place == Function::Place::offset;
        transfer.position = (at_offset ? entry.number("at", 0) : file.pointer) * file.etype;
        if (!at_offset) file.pointer += transfer.bytes / file.etype;
        if (!function->writes && inputs.contains(file.path))
            inputs[file.path] = join(inputs[file.path], reach_of(transfer));
    }
    for (std::string const& path : made) unlink(path.c_str());
    // What another rank makes is an input of those that only read it: as computation is left out,
    // they may be there first.
    MPI_Barrier(MPI_COMM_WORLD);
    for (auto const& [path, span] : inputs)
        make_input(path, options_.seed + std::hash<std::string>{}(path), span);
}

void Player::check_written(Written const& written) {
    Window window(written.path);
    for_each_piece(written.transfer, [&](Offset, Offset file, Bytes bytes) {
        Span const span = clip({file, file + bytes}, {0, written.until});
        window.for_each(span, [&](std::byte const* of, Offset at, Bytes part) {
            outcome_.wrong += wrong_bytes(written.seed, at, of, part, false);
            outcome_.checked += part;
        });
    });
}

void Player::check() {
    for (Written const& written : written_)
        if (!deleted_.contains(written.path) && !shared_.contains(written.path))
            check_written(written);
}

void Player::remove_files() const {
    for (std::string const& path : paths_) unlink(path.c_str());
}

}  // namespace sluice::replay
