// How placements are read, and which ranks they name. See placement.hpp.
#include "file/plan/placement.hpp"

#include <algorithm>
#include <charconv>
#include <map>

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

/// The ranks of each host, until they are chosen.
class Machines {
public:
    explicit Machines(std::vector<std::string> const& host_of) {
        for (std::size_t r = 0; r < host_of.size(); ++r) {
            auto& ranks = ranks_[host_of[r]];
            if (ranks.empty()) unnamed_.push_back(host_of[r]);
            ranks.push_back(static_cast<Rank>(r));
        }
    }
    /// A `*` does not mean this host.
    void leave_to_name(std::string const& host) { std::erase(unnamed_, host); }

    void choose(HostShare const& share) {
        bool any = true;
        for (Rank turn = 0; turn < share.ranks && any; ++turn) {
            any = false;
            if (share.host != "*") any = choose_next(share.host);
            if (share.host != "*") continue;
            for (std::string const& host : unnamed_) any |= choose_next(host);
        }
    }
    [[nodiscard]] std::vector<Rank> const& chosen() const noexcept { return chosen_; }

private:
    bool choose_next(std::string const& host) {
        auto& ranks = ranks_[host];
        if (ranks.empty()) return false;
        chosen_.push_back(ranks.front());
        ranks.erase(ranks.begin());
        return true;
    }

    std::map<std::string, std::vector<Rank>> ranks_;
    std::vector<std::string> unnamed_;  ///< By their lowest rank.
    std::vector<Rank> chosen_;
};

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

std::vector<Rank> ranks_of(std::vector<HostShare> const& hosts,
                           std::vector<std::string> const& host_of) {
    Machines machines(host_of);
    for (HostShare const& share : hosts) machines.leave_to_name(share.host);
    for (HostShare const& share : hosts) machines.choose(share);
    return machines.chosen();
}

}  // namespace sluice
