// `sluice explain`: its text, and that what it says is what the simulated library does.
#include "golden.hpp"
#include "tools/explain/text.hpp"

#include "cost_model_cases.hpp"
#include "file/plan/round_input.hpp"
#include "schedule/schedule_check.hpp"

#include <gtest/gtest.h>

namespace sluice::tools::explain_test {
namespace {

Question question_of(std::string const& pattern, Direction way, Rank nodes, Rank ranks_per_node,
                     std::map<std::string, std::string> const& hints) {
    Question question;
    question.scenario.machine.nodes = nodes;
    question.scenario.machine.ranks_per_node = ranks_per_node;
    question.scenario.pattern.name = pattern;
    question.scenario.pattern.bytes = Bytes{64} << 10;
    question.scenario.pattern.piece_bytes = 1000;
    question.scenario.direction = way;
    Description description;
    set_hints(question.scenario, hints, description);
    EXPECT_EQ(description.error(), "");
    return question;
}

TEST(explain, its_text_is_the_golden_one) {
    testing::expect_golden(
        "explain_write_strided.txt",
        explain(question_of("strided", Direction::write, 4, 4,
                            {{"sluice_exchange", "metadata:two-layer,metadata:balanced,"
                                                 "data:one-layer,data:spread-out,throttle:4"}})));
    testing::expect_golden(
        "explain_read_btio.txt",
        explain(question_of("btio", Direction::read, 3, 3,
                            {{"sluice_exchange", "two-layer,metadata:ascending,data:balanced,"
                                                 "throttle:1"},
                             {"cb_nodes", "2"}})));
}

TEST(explain, its_table_of_candidates_is_the_golden_one) {
    Question question = question_of("strided", Direction::read, 2, 2, {});
    question.lines = 6;
    question.machine = std::make_shared<MachineProfile const>(cases::machine_with("nvm"));
    std::string const text = explain(question);
    auto const begin = text.find("Candidates"), end = text.find("\n\n", begin);
    ASSERT_NE(begin, std::string::npos);
    testing::expect_golden("explain_candidates_nvm.txt", text.substr(begin, end + 1 - begin));
    question.machine = nullptr;
    EXPECT_EQ(explain(question).find("Candidates"), std::string::npos);
}

TEST(explain, servers_of_a_new_file) {
    auto const says = [](Direction way, std::map<std::string, std::string> const& hints,
                         std::string const& words) {
        return explain(question_of("strided", way, 4, 8, hints)).find(words) != std::string::npos;
    };
    auto const write = Direction::write, read = Direction::read;
    EXPECT_TRUE(says(write, {}, "striping_factor=auto would spread a new file over 16 servers"));
    EXPECT_FALSE(says(read, {}, "server"));
    EXPECT_TRUE(says(write, {{"striping_factor", "auto"}}, "the stripes of 1 MiB in turn"));
    EXPECT_TRUE(says(write, {{"striping_factor", "auto"}}, "lie on 16 servers"));
    EXPECT_TRUE(says(write, {{"striping_factor", "auto"}, {"striping_unit", "64K"}},
                     "the stripes of 64 KiB in turn"));
    EXPECT_TRUE(says(read, {{"striping_factor", "1"}}, "lie on 1 server."));
}

std::vector<Question> some_questions() {
    std::vector<Question> all;
    for (auto const* const pattern : {"strided", "btio", "irregular", "sparse", "flash"}) {
        for (auto const way : {Direction::write, Direction::read}) {
            for (auto const* const exchange : {"auto", "data:one-layer,data:balanced,throttle:3",
                                               "data:two-layer,data:pairwise,throttle:3"}) {
                all.push_back(
                    question_of(pattern, way, 4, 4,
                                {{"sluice_exchange", exchange}, {"cb_buffer_size", "64K"}}));
            }
        }
    }
    return all;
}

/// What is said of plan and messages is what happens.
TEST(explain, agrees_with_the_simulation) {
    for (Question const& question : some_questions()) {
        SCOPED_TRACE(question.scenario.pattern.name + " " + describe(question.scenario.direction) +
                     " " + describe(question.scenario.hints.data));
        Subject const subject(question);
        auto const outcome = simulated::run(experiment_of(question.scenario));
        ASSERT_EQ(outcome.fault, "");
        EXPECT_EQ(describe(subject.plan()), describe(outcome.plan));
        std::int64_t data = 0;
        for (std::int32_t a = 0; a < subject.plan().aggregator_count(); ++a)
            data += subject.traffic(a).messages;
        bool const writes = question.scenario.direction == Direction::write;
        std::int64_t const reductions = 2 * 2 * (subject.topology().node_count() - 1);
        EXPECT_EQ(outcome.messages,
                  reductions + subject.claim_messages() + (writes ? 1 : 2) * data);
        EXPECT_GT(data, 0);
    }
}

/// The rounds of all ranks, as explain tells them, fit together.
TEST(explain, tells_steps_that_fit_together) {
    for (Question const& question : some_questions()) {
        Subject const subject(question);
        Plan const& plan = subject.plan();
        std::vector<Schedule> all;
        for (Rank rank = 0; rank < subject.topology().rank_count(); ++rank) {
            auto const claims = subject.claims_of(rank);
            Schedule whole;
            for (std::int32_t a = 0; a < plan.aggregator_count(); ++a) {
                std::int64_t taken = 0;
                for (std::int64_t c = 0; c < plan.round_count(a); ++c) {
                    auto input = round_input(subject.topology(), rank, plan, claims, a, c);
                    input.taken_before = taken;
                    taken += std::ssize(input.sources);
                    auto const round = make_round(subject.topology(), rank, plan, input);
                    auto const before = static_cast<std::uint32_t>(whole.ops.size());
                    for (Op const& op : round.ops) {
                        std::vector<std::uint32_t> after;
                        for (std::uint32_t e = 0; e < op.edge_count; ++e)
                            after.push_back(before + round.edges[op.first_edge + e]);
                        whole.add(op, after);
                    }
                }
            }
            all.push_back(std::move(whole));
        }
        EXPECT_EQ(first_fault(all, subject.topology(), plan.cb_buffer_count), "")
            << question.scenario.pattern.name;
    }
}

}  // namespace
}  // namespace sluice::tools::explain_test
