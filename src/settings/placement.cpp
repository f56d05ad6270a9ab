// How placements are read. See placement.hpp.
#include "settings/placement.hpp"

#include <algorithm>
#include <charconv>

namespace sluice {
namespace {

/// The words between commas.
std::vector<std::string> words_of(std::string const& text) {
    std::vector<std::string> words(1);
    for (char const c : text) {
        if (c == ',')
            words.emplace_back();
        else
            words.back() += c;
    }
    return words;
}

std::optional<Rank> parse_rank(std::string const& text) {
    Rank value = 0;
    char const* const end = text.data() + text.size();
    auto const [rest, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || rest != end || value < 0) return std::nullopt;
    return value;
}

bool is_host(std::string const& name) {
    auto const fits = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_' || c == '.';
    };
    return name == "*" || (!name.empty() && std::all_of(name.begin(), name.end(), fits));
}

std::optional<HostShare> parse_share(std::string const& word) {
    auto const colon = std::min(word.find(':'), word.size());
    HostShare share{word.substr(0, colon), 1};
    if (!is_host(share.host)) return std::nullopt;
    if (colon == word.size()) return share;
    std::string const many = word.substr(colon + 1);
    auto const ranks = many == "*" ? HostShare::all : parse_rank(many);
    if (!ranks) return std::nullopt;
    share.ranks = *ranks;
    return share;
}

}  // namespace

std::optional<std::vector<HostShare>> parse_hosts(std::string const& text) {
    std::vector<HostShare> hosts;
    for (std::string const& word : words_of(text)) {
        auto share = parse_share(word);
        if (!share) return std::nullopt;
        hosts.push_back(std::move(*share));
    }
    if (hosts == std::vector<HostShare>{{"*", HostShare::all}}) hosts.clear();
    return hosts;
}

std::string describe(std::vector<HostShare> const& hosts) {
    std::string text;
    for (HostShare const& share : hosts) {
        text += (text.empty() ? "" : ",") + share.host + ":" +
                (share.ranks == HostShare::all ? "*" : std::to_string(share.ranks));
    }
    return text.empty() ? "*:*" : text;
}

std::optional<std::vector<Rank>> parse_ranks(std::string const& text) {
    std::vector<Rank> ranks;
    if (text == "auto") return ranks;
    for (std::string const& word : words_of(text)) {
        auto const rank = parse_rank(word);
        if (!rank || std::find(ranks.begin(), ranks.end(), *rank) != ranks.end()) {
            return std::nullopt;
        }
        ranks.push_back(*rank);
    }
    return ranks;
}

std::string describe(std::vector<Rank> const& ranks) {
    std::string text;
    for (Rank const rank : ranks) text += (text.empty() ? "" : ",") + std::to_string(rank);
    return text.empty() ? "auto" : text;
}

}  // namespace sluice
