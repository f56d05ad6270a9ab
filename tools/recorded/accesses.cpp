// How the calls of the ranks are put together. See accesses.hpp.
#include "tools/recorded/accesses.hpp"

#include "base/printable.hpp"
#include "tools/simulate/report.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace sluice::tools {
namespace {

constexpr double nanosecond = 1e-9;

/// Which opened file: its name, and how often this group of ranks had opened it before.
using FileKey = std::tuple<std::string, std::vector<std::int64_t>, std::int64_t>;

struct OpenFile {
    FileKey key;
    std::map<std::string, std::string> hints;
    View view;
    std::int64_t etype = -1, filetype = -1;
    std::int64_t pointer = 0;      ///< In etypes.
    std::int64_t collectives = 0;  ///< So many before.
    bool known = true;             ///< The view is.
};

/// One rank's part of one collective call.
struct Part {
    std::string call;
    Request request;
    std::vector<std::int64_t> shape;  ///< What makes calls alike: datatypes and counts.
    double seconds = 0;
};

struct Calls {
    std::map<std::string, std::string> hints;
    std::vector<std::map<std::int64_t, Part>> parts;  ///< By call, by rank.
};

bool is_collective(std::string_view name) {
    return name.find("_all") != std::string_view::npos ||
           name.find("_ordered") != std::string_view::npos;
}

bool is_access(std::string_view name) {
    if (name.starts_with("i")) name.remove_prefix(1);
    return name.starts_with("write") || name.starts_with("read");
}

/// Of a datatype without bytes no pieces can be counted; a damaged log may have accesses by one.
bool has_room(std::shared_ptr<Layout const> const& layout) noexcept {
    return layout && layout->tile_bytes() > 0;
}

// Numbers of a damaged log may be any: what is reckoned with stays below offset_limit, so that no
// sum and no difference of two overflows.

Bytes sum_of(Bytes one, Bytes other) noexcept { return std::min(one + other, offset_limit); }

/// A place in a file or a stream: none lies before its begin.
std::int64_t place_within(std::int64_t place) noexcept {
    return std::clamp<std::int64_t>(place, 0, offset_limit);
}

/// Of so many instances; 0 where no call can have so many bytes.
Bytes bytes_of(std::int64_t count, Bytes size) noexcept {
    Bytes bytes = 0;
    bool const fits = count >= 0 && size >= 0 && !__builtin_mul_overflow(count, size, &bytes);
    return fits && bytes <= offset_limit ? bytes : 0;
}

/// Takes the bytes of a request away whose places no file or no memory can have.
void leave_in_range(Request& request) noexcept {
    bool const fits = is_in_range(*request.view.filetype, request.view.displacement,
                                  request.position, request.bytes, 0) &&
                      is_in_range(*request.memory, 0, 0, request.bytes, -offset_limit);
    if (!fits) request.position = request.bytes = 0;
}

/// The ranks of a communicator; none where the log names one of them twice.
std::vector<std::int64_t> group_of(record::Entry const& entry) {
    auto ranks = entry.list("ranks");
    auto sorted = ranks;
    std::ranges::sort(sorted);
    if (std::ranges::adjacent_find(sorted) != sorted.end()) ranks.clear();
    return ranks;
}

/// Walks over one rank's lines.
class Walk {
public:
    Walk(record::RankLog const& log, std::map<FileKey, Calls>& calls, RecordedAccesses& found)
        : log_(log),
          calls_(calls),
          found_(found) {}

    void go() {
        for (auto const& entry : log_.entries) {
            if (entry.name == "type") types_.add(entry);
            if (entry.name == "group") groups_[entry.subject] = group_of(entry);
            if (entry.name == "open") open(entry);
            if (entry.name == "set_view") set_view(entry);
            if (entry.name == "seek") seek(entry);
            if (entry.name == "finish") finish(entry);
            if (entry.find("r") && !is_access(entry.name)) complete(entry);
            if (is_access(entry.name)) access(entry);
        }
        found_.independent_seconds = std::max(found_.independent_seconds, independent_);
    }

private:
    void open(record::Entry const& entry) {
        OpenFile file;
        auto const name = entry.text("name");
        auto const& group = groups_[entry.number("group", -1)];
        file.key = {name, group, opened_[{name, group}]++};
        for (auto const& [key, value] : entry.fields)
            if (key.starts_with("hint."))
                file.hints[record::decoded(key.substr(5))] = record::decoded(value);
        calls_[file.key].hints = file.hints;
        files_[entry.subject] = std::move(file);
    }
    void set_view(record::Entry const& entry) {
        auto const found = files_.find(entry.subject);
        if (found == files_.end()) return;
        OpenFile& file = found->second;
        file.etype = entry.number("etype", -1), file.filetype = entry.number("filetype", -1);
        auto const* const etype = types_.find(file.etype);
        auto const layout = types_.layout(file.filetype);
        file.known = etype && has_room(layout) && entry.find("rep") != "external32";
        if (file.known)
            file.view = {place_within(entry.number("at", 0)), layout,
                         std::max<Bytes>(etype->size, 1)};
        file.pointer = 0;
    }
    void seek(record::Entry const& entry) {
        auto const found = files_.find(entry.subject);
        if (found == files_.end()) return;
        bool const relative = entry.find("whence") == "cur";
        auto const by =
            std::clamp<std::int64_t>(entry.number("at", 0), -offset_limit, offset_limit);
        found->second.pointer = place_within(by + (relative ? found->second.pointer : 0));
    }
    void access(record::Entry const& entry) {
        auto const found = files_.find(entry.subject);
        auto const* const type = types_.find(entry.number("t", -1));
        if (found == files_.end() || !type) return;
        OpenFile& file = found->second;
        Bytes const bytes = bytes_of(entry.number("n", 0), type->size);
        double const seconds = static_cast<double>(entry.took) * nanosecond;
        bool const shared = entry.name.find("shared") != std::string_view::npos;
        auto const at = entry.find("at");
        std::int64_t const place = at ? entry.number("at", 0) : file.pointer;
        if (!at && !shared)
            file.pointer = place_within(file.pointer + bytes / file.view.etype_bytes);
        if (!is_collective(entry.name)) {
            found_.independent_bytes = sum_of(found_.independent_bytes, bytes);
            ++found_.independent_calls;
            independent_ += seconds;
            if (entry.find("r")) requests_[entry.number("r", -1)] = nullptr;
            return;
        }
        Part* const part = add(file, entry, bytes, place);
        part->seconds = seconds;
        if (entry.find("r")) requests_[entry.number("r", -1)] = part;
        begun_[entry.subject] = part;
    }
    Part* add(OpenFile& file, record::Entry const& entry, Bytes bytes, std::int64_t place) {
        Calls& calls = calls_[file.key];
        auto const number = static_cast<std::size_t>(file.collectives++);
        if (calls.parts.size() <= number) calls.parts.resize(number + 1);
        Part& part = calls.parts[number][log_.rank];
        part.call = entry.name;
        bool const reads = entry.name.find("read") != std::string_view::npos;
        Request& request = part.request;
        request.direction = reads ? Direction::read : Direction::write;
        request.view = file.view;
        bool const has_place =
            !__builtin_mul_overflow(place_within(place), file.view.etype_bytes, &request.position);
        request.bytes = file.known && has_place ? bytes : 0;
        auto const memory = types_.layout(entry.number("t", -1));
        if (has_room(memory)) request.memory = memory;
        leave_in_range(request);
        separate_tiles(request);
        part.shape = {file.etype, file.filetype, entry.number("n", 0), entry.number("t", -1)};
        return &part;
    }
    void finish(record::Entry const& entry) {
        auto const found = begun_.find(entry.subject);
        if (found != begun_.end() && found->second)
            found->second->seconds += static_cast<double>(entry.took) * nanosecond;
    }
    /// The time of a wait for several is that of each: they were under way together.
    void complete(record::Entry const& entry) {
        double const seconds = static_cast<double>(entry.took) * nanosecond;
        for (auto const number : entry.list("r")) {
            auto const found = requests_.find(number);
            if (found == requests_.end()) continue;
            (found->second ? found->second->seconds : independent_) += seconds;
            requests_.erase(found);
        }
    }

    record::RankLog const& log_;
    std::map<FileKey, Calls>& calls_;
    RecordedAccesses& found_;
    record::Types types_{record::RankLog{}};
    std::map<std::int64_t, std::vector<std::int64_t>> groups_;
    std::map<std::pair<std::string, std::vector<std::int64_t>>, std::int64_t> opened_;
    std::map<std::int64_t, OpenFile> files_;
    std::map<std::int64_t, Part*> requests_, begun_;  ///< Null: an independent one.
    double independent_ = 0;
};

/// How many ranks a node has; 0: not the same number on each, or not one after the other.
std::int32_t ranks_per_node(record::Log const& log, std::vector<std::int64_t> const& group) {
    std::vector<std::string> nodes;
    for (auto const rank : group) {
        auto const* const one = log.of_rank(rank);
        nodes.push_back(one ? one->head.text("node") : "");
    }
    std::set<std::string> const names(nodes.begin(), nodes.end());
    auto const each = nodes.size() / std::max<std::size_t>(names.size(), 1);
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes[i] != nodes[i / each * each]) return 0;
    return each * names.size() == nodes.size() ? static_cast<std::int32_t>(each) : 0;
}

/// Cores of a rank, as MPI_File_open takes them: the fewest that one has; 0: not known of each.
std::int32_t cores_of(record::Log const& log, std::vector<std::int64_t> const& group) {
    constexpr std::int64_t most = 1 << 20;  // A larger number is damage.
    std::int64_t fewest = most;
    for (auto const rank : group) {
        auto const* const one = log.of_rank(rank);
        fewest = std::min(fewest, one ? one->head.number("cores", 0) : 0);
    }
    return fewest > 0 && fewest < most ? static_cast<std::int32_t>(fewest) : 0;
}

/// The same call by all ranks of the group; nothing where one has not made it, or nobody has bytes.
std::optional<RecordedAccess> together(std::map<std::int64_t, Part> const& parts,
                                       std::vector<std::int64_t> const& group) {
    RecordedAccess access;
    for (auto const rank : group) {
        auto const found = parts.find(rank);
        if (found == parts.end()) return std::nullopt;
        access.requests.push_back(found->second.request);
        access.bytes = sum_of(access.bytes, found->second.request.bytes);
        access.seconds = std::max(access.seconds, found->second.seconds);
    }
    if (access.bytes == 0) return std::nullopt;
    Part const& first = parts.begin()->second;
    access.call = first.call;
    access.direction = first.request.direction;
    access.blocking = !first.call.starts_with("i") && !first.call.ends_with("_begin");
    access.calls = 1;
    return access;
}

}  // namespace

RecordedAccesses accesses_of(record::Log const& log) {
    RecordedAccesses found;
    std::map<FileKey, Calls> calls;
    for (auto const& rank : log.ranks) Walk(rank, calls, found).go();
    using Shape = std::tuple<std::string, std::string, std::vector<std::vector<std::int64_t>>>;
    std::map<Shape, std::size_t> known;
    for (auto const& [key, of_file] : calls) {
        auto const& [name, group, number] = key;
        for (auto const& parts : of_file.parts) {
            auto access = together(parts, group);
            if (!access) continue;
            Shape shape{access->call, name, {}};
            for (auto const& [rank, part] : parts) std::get<2>(shape).push_back(part.shape);
            auto const [place, is_new] = known.try_emplace(shape, found.all.size());
            if (is_new) {
                access->file = name;
                access->hints = of_file.hints;
                access->ranks_per_node = ranks_per_node(log, group);
                access->cores = cores_of(log, group);
                found.all.push_back(*std::move(access));
            } else {
                ++found.all[place->second].calls;
                found.all[place->second].seconds += access->seconds;
            }
        }
    }
    std::ranges::stable_sort(found.all, std::greater<>{}, &RecordedAccess::seconds);
    return found;
}

std::string describe(RecordedAccess const& access) {
    auto const times = [](std::int64_t n) {
        return n == 1 ? std::string("once") : std::to_string(n) + " times";
    };
    return access.call + " of " + bytes_text(static_cast<double>(access.bytes)) + " by " +
           std::to_string(access.requests.size()) + " ranks, " + times(access.calls) + ", " +
           seconds_text(access.seconds) + " in all: " + printable(access.file);
}

}  // namespace sluice::tools
