// Reading and counting of rules. See fault_rules.hpp.
#include "device/model/fault_rules.hpp"

#include <cerrno>
#include <charconv>

namespace sluice {
namespace {

struct Word {
    char const* name;
    int value;
};

constexpr Word places[] = {{"read", static_cast<int>(FaultPlace::read)},
                           {"write", static_cast<int>(FaultPlace::write)},
                           {"fsync", static_cast<int>(FaultPlace::sync)},
                           {"open", static_cast<int>(FaultPlace::open)},
                           {"create", static_cast<int>(FaultPlace::create)},
                           {"all", static_cast<int>(FaultPlace::all)}};

constexpr Word errors[] = {
    {"short", 0},       {"EIO", EIO},       {"ENOSPC", ENOSPC},      {"EDQUOT", EDQUOT},
    {"EINTR", EINTR},   {"EAGAIN", EAGAIN}, {"EFBIG", EFBIG},        {"EROFS", EROFS},
    {"EACCES", EACCES}, {"EPERM", EPERM},   {"ENOMEM", ENOMEM},      {"ENODEV", ENODEV},
    {"EMFILE", EMFILE}, {"ENFILE", ENFILE}, {"ENOENT", ENOENT},      {"ESTALE", ESTALE},
    {"EBUSY", EBUSY},   {"EINVAL", EINVAL}, {"ETIMEDOUT", ETIMEDOUT}};

constexpr int unknown = -1;

template <std::size_t count> int value_of(Word const (&words)[count], std::string const& name) {
    for (Word const& word : words) {
        if (name == word.name) return word.value;
    }
    return unknown;
}

std::vector<std::string> split(std::string const& text, char at) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
        end = text.find(at, begin);
        parts.push_back(text.substr(begin, end - begin));
    }
    return parts;
}

bool set_number(std::string const& text, FaultRule& rule) {
    auto const equals = std::min(text.find('='), text.size());
    std::string const name = text.substr(0, equals);
    std::int64_t value = -1;
    char const* const end = text.data() + text.size();
    if (equals == text.size()) return false;
    auto const [rest, error] = std::from_chars(text.data() + equals + 1, end, value);
    if (error != std::errc{} || rest != end || value < 0) return false;
    if (name == "after") return rule.after = value, true;
    if (name == "times") return rule.times = value, true;
    if (name == "every" && value > 0) return rule.every = value, true;
    return false;
}

}  // namespace

FaultRules::FaultRules(std::vector<FaultRule> rules) {
    for (FaultRule const& rule : rules) rules_.push_back({rule, 0, 0});
}

Fault FaultRules::next(FaultPlace place) {
    Fault fault;
    for (Counted& counted : rules_) {
        FaultRule const& rule = counted.rule;
        if (rule.place != place && rule.place != FaultPlace::all) continue;
        std::int64_t const behind = counted.came++ - rule.after;
        bool const due = behind >= 0 && behind % rule.every == 0;
        if (!due || fault.hit || (rule.times >= 0 && counted.hit >= rule.times)) continue;
        ++counted.hit;
        fault = {true, rule.error};
    }
    return fault;
}

std::optional<std::vector<FaultRule>> parse_faults(std::string const& text, std::string& error) {
    std::vector<FaultRule> rules;
    for (std::string const& part : split(text, ',')) {
        auto const words = split(part, ':');
        FaultRule rule;
        int const place = value_of(places, words[0]);
        int const what = words.size() > 1 ? value_of(errors, words[1]) : unknown;
        bool understood = place != unknown && what != unknown;
        for (std::size_t i = 2; i < words.size(); ++i)
            understood = understood && set_number(words[i], rule);
        bool const moves = place == static_cast<int>(FaultPlace::read) ||
                           place == static_cast<int>(FaultPlace::write);
        if (!understood || (what == 0 && !moves)) {
            error = "'" + part +
                    "': expected read, write, fsync, open, create or all, a colon, and the name "
                    "of an error, or `short` for read and write; then :after=N, :every=N, "
                    ":times=N";
            return std::nullopt;
        }
        rule.place = static_cast<FaultPlace>(place), rule.error = what;
        rules.push_back(rule);
    }
    return rules;
}

}  // namespace sluice
