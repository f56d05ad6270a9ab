// Which ranks of the hosts are chosen. See placement.hpp.
#include "file/plan/placement.hpp"

#include <map>

namespace sluice {
namespace {

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

std::vector<Rank> ranks_of(std::vector<HostShare> const& hosts,
                           std::vector<std::string> const& host_of) {
    Machines machines(host_of);
    for (HostShare const& share : hosts) machines.leave_to_name(share.host);
    for (HostShare const& share : hosts) machines.choose(share);
    return machines.chosen();
}

}  // namespace sluice
