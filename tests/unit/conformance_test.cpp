// One test for all storage engines, on a real file: in $SLUICE_TEST_DIR where it is set.
#include "conformance_faults.hpp"
#include "drawn.hpp"
#include "engines.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace sluice::conformance::conformance_test {
namespace {

class Conformance : public ::testing::TestWithParam<std::tuple<Engine, Case>> {};

/// A subject whose faults are told by `fail`.
Subject subject_of(EngineParts& parts, OrderedFaults& faults, std::string const& folder,
                   std::function<void(std::string const&)> fail) {
    return {.open =
                [&parts, &faults](auto const& path, AccessMode mode, auto finished) {
                    return std::make_unique<PosixFile>(path, mode, parts.way(&faults),
                                                       std::move(finished));
                },
            .folder = folder,
            .fail = std::move(fail),
            .faults = &faults};
}

TEST_P(Conformance, holds) {
    SKIP_OUTSIDE_SAMPLE();
    auto const& [engine, what] = GetParam();
    bool const long_and_nothing_new = what.run == more_than_two_gibibytes &&
                                      engine.page_cache != PageCache::keep &&
                                      engine.engine != StorageEngine::threads;
    if (long_and_nothing_new) GTEST_SKIP() << "requests are as short as with the cache";
    if (auto const why = why_not(engine); !why.empty()) GTEST_SKIP() << why;
    TestFolder const folder;
    OrderedFaults faults;
    EngineParts parts(engine);
    Subject subject = subject_of(parts, faults, folder.path(),
                                 [](std::string const& text) { ADD_FAILURE() << text; });
    what.run(subject);
}

std::vector<Case> all_cases() {
    std::vector<Case> all = cases();
    all.insert(all.end(), fault_cases().begin(), fault_cases().end());
    return all;
}

INSTANTIATE_TEST_SUITE_P(all, Conformance,
                         ::testing::Combine(::testing::ValuesIn(all_engines()),
                                            ::testing::ValuesIn(all_cases())),
                         [](auto const& of) {
                             return std::get<0>(of.param).name() + "_" + std::get<1>(of.param).name;
                         });

// ---- Anything ----------------------------------------------------------------------------------

Piece any_piece(Bytes most) {
    // Around the borders of pages as often as anywhere.
    auto const length = [most] {
        Bytes const page = 4096 * *rc::gen::inRange<Bytes>(0, most / 4096 + 1);
        Bytes const near = page + *rc::gen::inRange<Bytes>(-2, 3);
        return std::max<Bytes>(1, *rc::gen::element(near, *rc::gen::inRange<Bytes>(1, most)));
    };
    auto const gap = [] {
        return *rc::gen::element(Bytes{0}, Bytes{0}, *rc::gen::inRange<Bytes>(1, 100),
                                 *rc::gen::inRange<Bytes>(1, 9000));
    };
    return {gap(), gap(), length()};
}

Step any_step() {
    Step step;
    step.direction = *rc::gen::element(Direction::write, Direction::read);
    step.begin = *rc::gen::element(Offset{0}, *rc::gen::inRange<Offset>(0, 50'000));
    auto const count = *rc::gen::inRange(1, 90);
    Bytes const most = count > 10 ? 300 : 20'000;
    for (int i = 0; i < count; ++i) step.pieces.push_back(any_piece(most));
    return step;
}

class AnyTransfers : public ::testing::TestWithParam<Engine> {};

TEST_P(AnyTransfers, do_what_they_do_to_a_list_of_bytes) {
    if (auto const why = why_not(GetParam()); !why.empty()) GTEST_SKIP() << why;
    TestFolder const folder;
    OrderedFaults faults;
    EngineParts parts(GetParam());
    Subject subject = subject_of(parts, faults, folder.path(), [](std::string const& text) {
        std::fprintf(stderr, "%s\n", text.c_str());  // RapidCheck shows the case alone.
        RC_FAIL(text);
    });
    bool const held = rc::check([&] {
        Script script;
        script.size = *rc::gen::inRange<Bytes>(0, 60'000);
        auto const steps = *rc::gen::inRange(1, 5);
        for (int i = 0; i < steps; ++i) script.steps.push_back(any_step());
        faults.set(
            {.most = *rc::gen::element(endless, endless, *rc::gen::inRange<Bytes>(1000, 9000)),
             .interruptions = *rc::gen::inRange(0, 2)});
        run_script(subject, script);
        faults.set({});
    });
    EXPECT_TRUE(held);
}

INSTANTIATE_TEST_SUITE_P(all, AnyTransfers, ::testing::ValuesIn(all_engines()),
                         [](auto const& of) { return of.param.name(); });

}  // namespace
}  // namespace sluice::conformance::conformance_test
