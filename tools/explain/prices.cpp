// The table of candidates. See prices.hpp.
#include "tools/explain/prices.hpp"

#include <algorithm>
#include <cstdio>

namespace sluice::tools {
namespace {

/// What rules of thumb would do on a machine that nobody measured.
Candidate by_rules(Subject const& subject) {
    Question question = subject.question();
    question.machine = nullptr;
    Subject const unmeasured(std::move(question));
    return decide(unmeasured.summary_exchange(), unmeasured.topology(), unmeasured.limits()).way;
}

std::string row_of(Priced const& one, char const* note) {
    Estimate const& e = one.estimate;
    constexpr double ms = 1e3;
    char text[400];
    std::snprintf(text, sizeof text, "  %9.3f %9.3f %9.3f %9.3f %9.3f   %s%s\n", e.total * ms,
                  e.planning * ms, e.messages * ms, e.copies * ms, e.storage * ms,
                  describe(one.candidate).c_str(), note);
    return text;
}

/// The cheapest ones, the chosen one, and the cheapest of each strategy.
std::string rows_of(std::vector<Priced> const& all, Candidate const& chosen, std::size_t most) {
    std::string text;
    bool told[3] = {};
    std::size_t left_out = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        bool& known = told[static_cast<std::size_t>(all[i].candidate.strategy)];
        bool const is_chosen = all[i].candidate == chosen;
        if (i >= most && known && !is_chosen) {
            ++left_out;
            continue;
        }
        known = true;
        text += row_of(all[i], is_chosen ? "  <- chosen" : "");
    }
    return text + (left_out > 0 ? "  ... and " + std::to_string(left_out) + " more\n" : "");
}

}  // namespace

std::string prices_text(Subject const& subject) {
    if (!subject.limits().machine) return {};
    MachineProfile const& machine = *subject.limits().machine;
    std::string text = "\nCandidates, and what they would take on the machine of the profile";
    text += machine.is_measured() ? " (" + machine.measured + ")\n" : "\n";
    auto const decision = decide(subject.summary_exchange(), subject.topology(), subject.limits(),
                                 &subject.weights());
    constexpr char const* head = "  total, ms  planning  messages    copies   storage\n";
    if (subject.summary_exchange().bytes == 0)
        return text + head + row_of({decision.way, decision.estimate}, "") +
               "  There is nothing to choose: every rank's part goes straight to the file.\n";
    Workload work = workload_of(subject.summary_exchange(), subject.topology(),
                                subject.limits().cores_a_node, subject.limits().key.get());
    work.weights = &subject.weights();
    auto const all =
        price_all(work, machine,
                  freedom_of(subject.summary_exchange(), subject.topology(), subject.limits()));
    text += head;
    text += rows_of(all, decision.way, static_cast<std::size_t>(subject.question().lines));
    text +=
        "  Exchange and storage overlap, so the parts may be more than the total. Of candidates "
        "within\n  3 % of the cheapest the simplest is chosen.\n";
    Candidate const usual = by_rules(subject);
    text += "  Without a profile:\n" + row_of({usual, price(usual, work, machine)}, "");
    return text;
}

}  // namespace sluice::tools
