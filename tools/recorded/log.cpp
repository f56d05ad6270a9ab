// How lines become entries, and entries datatypes. See log.hpp.
#include "tools/recorded/log.hpp"

#include "base/flatten.hpp"
#include "base/type_tree_bounds.hpp"

#include <algorithm>
#include <charconv>

namespace sluice::record {
namespace {

std::optional<std::int64_t> number_in(std::string_view word) noexcept {
    std::int64_t value = 0;
    auto const [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    return value;
}

/// Takes the next word off the front.
std::string_view next_word(std::string_view& rest) noexcept {
    auto const begin = std::min(rest.find_first_not_of(' '), rest.size());
    rest.remove_prefix(begin);
    auto const end = std::min(rest.find(' '), rest.size());
    auto const word = rest.substr(0, end);
    rest.remove_prefix(end);
    return word;
}

template <class Number> std::vector<Number> numbers_of(Entry const& entry, std::string_view key) {
    std::vector<Number> numbers;
    for (auto const value : entry.list(key)) numbers.push_back(static_cast<Number>(value));
    return numbers;
}

template <class Word>
Word word_of(std::span<std::string_view const> words, std::string_view word, bool& known) {
    auto const found = std::ranges::find(words, word);
    known = known && found != words.end();
    return static_cast<Word>(found == words.end() ? 0 : found - words.begin());
}

/// Takes lines in turn.
class Reader {
public:
    Reader(Log& log, std::optional<std::int64_t> only) : log_(log), only_(only) {}

    /// False: the text is no log that this program reads.
    bool take(std::string_view line) {
        if (line.starts_with(signature)) return take_signature(line);
        if (log_.expected < 0) return false;
        if (line.empty() || line.starts_with('#')) return true;
        auto entry = parse_line(line);
        if (entry && entry->name == "rank") return open_rank(std::move(*entry)), true;
        if (!current_ || damaged_) return true;
        if (!entry)
            damaged_ = true;  // What comes behind it may refer to what is lost.
        else if (entry->name == "end")
            current_->complete = true;
        else
            current_->entries.push_back(std::move(*entry));
        return true;
    }

private:
    bool take_signature(std::string_view line) {
        next_word(line);
        auto const number = number_in(next_word(line));
        current_ = nullptr;
        log_.expected = std::max<std::int64_t>(log_.expected, 0);
        if (number && *number == version) return true;
        log_.error = "the log has a format that this version of Sluice does not know";
        return false;
    }
    void open_rank(Entry&& head) {
        current_ = nullptr;
        damaged_ = false;
        log_.expected = std::max(log_.expected, head.number("ranks", 1));
        if (only_ && *only_ != head.subject) return;
        std::erase_if(log_.ranks, [&](RankLog const& one) { return one.rank == head.subject; });
        current_ = &log_.ranks.emplace_back();
        current_->rank = head.subject;
        current_->ranks = head.number("ranks", 1);
        current_->head = std::move(head);
    }

    Log& log_;
    std::optional<std::int64_t> only_;
    RankLog* current_ = nullptr;
    bool damaged_ = false;
};

}  // namespace

std::optional<std::string_view> Entry::find(std::string_view key) const noexcept {
    for (auto const& [name_of_field, value] : fields)
        if (name_of_field == key) return value;
    return std::nullopt;
}

std::int64_t Entry::number(std::string_view key, std::int64_t fallback) const noexcept {
    auto const word = find(key);
    return word ? number_in(*word).value_or(fallback) : fallback;
}

std::string Entry::text(std::string_view key) const { return decoded(find(key).value_or("")); }

std::vector<std::int64_t> Entry::list(std::string_view key) const {
    std::vector<std::int64_t> values;
    std::string_view rest = find(key).value_or("");
    while (!rest.empty()) {
        auto const end = std::min(rest.find(','), rest.size());
        values.push_back(number_in(rest.substr(0, end)).value_or(0));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return values;
}

std::optional<Entry> parse_line(std::string_view line) {
    Entry entry;
    entry.name = next_word(line);
    bool const is_name = !entry.name.empty() && std::ranges::all_of(entry.name, [](char c) {
        return (c >= 'a' && c <= 'z') || c == '_';
    });
    if (!is_name) return std::nullopt;
    std::int64_t* const places[] = {&entry.subject, &entry.begin, &entry.took};
    std::size_t numbers = 0;
    for (auto word = next_word(line); !word.empty(); word = next_word(line)) {
        auto const equals = word.find('=');
        if (equals != std::string_view::npos) {
            entry.fields.emplace_back(word.substr(0, equals), word.substr(equals + 1));
            continue;
        }
        auto const number = number_in(word);
        if (!number || numbers == std::size(places)) return std::nullopt;
        *places[numbers++] = *number;
    }
    return numbers == 2 ? std::nullopt : std::optional(std::move(entry));
}

RankLog const* Log::of_rank(std::int64_t rank) const noexcept {
    auto const found = std::ranges::find(ranks, rank, &RankLog::rank);
    return found == ranks.end() ? nullptr : &*found;
}

std::string Log::missing() const {
    std::int64_t const there = std::ssize(ranks);
    std::int64_t const cut = std::ranges::count(ranks, false, &RankLog::complete);
    std::string text;
    if (there < expected)
        text = std::to_string(expected - there) + " of " + std::to_string(expected) +
               " ranks are missing";
    if (cut > 0)
        text += (text.empty() ? "" : ", ") + std::string("the log of ") + std::to_string(cut) +
                " ranks ends before MPI_Finalize";
    return text;
}

Log read_log(std::string_view text, std::optional<std::int64_t> only) {
    Log log;
    log.expected = -1;
    Reader reader(log, only);
    while (!text.empty()) {
        auto const end = text.find('\n');
        if (end == std::string_view::npos) break;  // Cut off within the line.
        if (!reader.take(text.substr(0, end))) break;
        text.remove_prefix(end + 1);
    }
    if (log.expected < 0) log.error = "this is no log of sluice record";
    std::ranges::sort(log.ranks, {}, &RankLog::rank);
    return log;
}

Types::Types(RankLog const& log) {
    for (Entry const& entry : log.entries)
        if (entry.name == "type") add(entry);
}

void Types::add(Entry const& entry) { types_[entry.subject] = type_of(entry); }

/// A damaged log may make a datatype of itself again and again: a tree that is larger than those of
/// programs would take for ever to look through, one that is deeper all of the stack, and one with
/// more runs all of the memory.
Types::Type Types::type_of(Entry const& entry) const {
    constexpr std::int64_t makers_most = 1 << 17;
    constexpr std::int32_t depth_most = 256;
    constexpr double runs_most = 1 << 24, runs_few = 4096;
    Type type{nullptr, entry.number("size", 0), entry.number("extent", 0), 1, 1, {}};
    std::vector<Shape> shapes;
    bool known = true;
    auto tree = std::make_shared<TypeTree>();
    tree->maker = word_of<Maker>(maker_words(), entry.find("maker").value_or(""), known);
    if (auto const form = entry.find("form"))
        tree->form = word_of<ElementForm>(form_words(), *form, known);
    tree->size = entry.number("element", 0);
    tree->short_int = entry.number("gap", 0) != 0;
    tree->c_order = entry.find("order") != "fortran";
    tree->bounded = entry.find("lower").has_value();
    tree->lower = entry.number("lower", 0);
    tree->extent = entry.number("upto", 0);
    tree->ints = numbers_of<int>(entry, "ints");
    tree->places = numbers_of<std::int64_t>(entry, "places");
    tree->counts = numbers_of<std::int64_t>(entry, "counts");
    tree->which = numbers_of<std::uint32_t>(entry, "which");
    for (auto const number : entry.list("parts")) {
        Type const* const part = find(number);
        known = known && part && part->tree;
        if (!known) return type;
        tree->parts.push_back(part->tree);
        shapes.push_back(part->shape);
        type.makers += part->makers;
        type.depth = std::max(type.depth, part->depth + 1);
        known = type.makers <= makers_most && type.depth <= depth_most;
    }
    if (!known || !is_whole(*tree)) return type;
    tree->seal();
    if (!is_in_range(*tree)) return type;
    type.shape = shape_at_most(*tree, shapes);
    if (type.shape.runs <= runs_few) type.shape = shape_of(*flatten(*tree));
    if (type.shape.runs <= runs_most) type.tree = std::move(tree);
    return type;
}

Types::Type const* Types::find(std::int64_t number) const noexcept {
    auto const found = types_.find(number);
    return found == types_.end() ? nullptr : &found->second;
}

Bytes Types::etype_bytes(std::int64_t number) const noexcept {
    Type const* const type = find(number);
    return type ? std::max<Bytes>(type->size, 1) : 1;
}

std::shared_ptr<Layout const> Types::layout(std::int64_t number) {
    Type const* const type = find(number);
    if (!type || !type->tree) return nullptr;
    auto& layout = layouts_[number];
    if (!layout) layout = flatten(*type->tree);
    return layout;
}

}  // namespace sluice::record
