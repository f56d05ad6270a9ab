// What every storage does, by files of the system, through the page cache and past it: in
// $SLUICE_TEST_DIR where it is set.
#include "conformance_faults.hpp"
#include "drawn.hpp"
#include "posix_files.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace sluice::conformance::conformance_test {
namespace {

class Conformance : public ::testing::TestWithParam<std::tuple<PageCache, Case>> {};

/// A subject whose faults are told by `fail`.
Subject subject_of(FileParts& parts, OrderedFaults& faults, std::string const& folder,
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
    auto const& [page_cache, what] = GetParam();
    TestFolder const folder;
    OrderedFaults faults;
    FileParts parts(page_cache);
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
                         ::testing::Combine(::testing::ValuesIn(page_caches),
                                            ::testing::ValuesIn(all_cases())),
                         [](auto const& of) {
                             return name_of(std::get<0>(of.param)) + "_" +
                                    std::get<1>(of.param).name;
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

class AnyTransfers : public ::testing::TestWithParam<PageCache> {};

TEST_P(AnyTransfers, do_what_they_do_to_a_list_of_bytes) {
    TestFolder const folder;
    OrderedFaults faults;
    FileParts parts(GetParam());
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

INSTANTIATE_TEST_SUITE_P(all, AnyTransfers, ::testing::ValuesIn(page_caches),
                         [](auto const& of) { return name_of(of.param); });

}  // namespace
}  // namespace sluice::conformance::conformance_test
