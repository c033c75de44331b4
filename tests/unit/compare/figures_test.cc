// SPDX-License-Identifier: MIT
#include "compare/figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "two_runs.h"

namespace paceline::compare {
namespace {

using stats::Verdict;
using namespace test;

Figure headline(const Comparison& comparison) {
  return *deciding(comparison.cases.at(0)).at(0);
}

TEST(CompareFigures, SixPairsInTurnsProveTenPercent) {
  const auto found = compare_runs(in_turns({.p50_ms = 10}, {.p50_ms = 11}), {});
  const auto figure = headline(found);
  EXPECT_EQ(found.pairing, Pairing::kAlternating);
  EXPECT_EQ(figure.verdict, Verdict::kRegression);
  EXPECT_EQ(figure.pairs, 6);
  EXPECT_NEAR(*figure.change, 1.10, 0.02);
  ASSERT_TRUE(figure.ci);
  EXPECT_LT(figure.ci->low, 1.10);
  EXPECT_GT(figure.ci->high, 1.10);
  EXPECT_NEAR(*figure.p, 2 * std::pow(0.5, 6), 1e-12);
}

TEST(CompareFigures, ASideThatWasInterruptedIsNamed) {
  auto sides = in_turns({.p50_ms = 10}, {.p50_ms = 11});
  for (auto& side : sides) side.stored.run.cases[0].complete = true;
  const auto remarks = [&] { return compare_runs(sides, {}).remarks; };
  const auto before = remarks().size();
  sides[1].stored.run.cases[0].complete = false;
  sides[1].stored.run.cases[0].ended_because = result::EndedBecause::kInterrupted;
  ASSERT_EQ(remarks().size(), before + 1);
  EXPECT_EQ(remarks().front(),
            "B: resnet50 onnxruntime b8 was interrupted; its figures are of what was "
            "measured until then");
}

TEST(CompareFigures, SidesSwappedGiveTheOppositeVerdict) {
  const auto found = compare_runs(in_turns({.p50_ms = 11}, {.p50_ms = 10}), {});
  EXPECT_EQ(headline(found).verdict, Verdict::kImprovement);
}

TEST(CompareFigures, EqualSidesInTurnsAreEquivalent) {
  EXPECT_EQ(headline(compare_runs(in_turns({}, {}), {})).verdict, Verdict::kEquivalent);
}

TEST(CompareFigures, TheThresholdDecidesWhatCounts) {
  const auto sides = in_turns({.p50_ms = 10}, {.p50_ms = 10.6});
  RunOptions wide;
  wide.judge.threshold = 0.2;
  EXPECT_EQ(headline(compare_runs(sides, {})).verdict, Verdict::kRegression);
  EXPECT_EQ(headline(compare_runs(sides, wide)).verdict, Verdict::kEquivalent);
}

TEST(CompareFigures, SidesApartAreSuspectedAtMost) {
  const auto found = compare_runs(apart({.p50_ms = 10}, {.p50_ms = 12}), {});
  const auto figure = headline(found);
  EXPECT_EQ(found.pairing, Pairing::kApart);
  EXPECT_EQ(figure.verdict, Verdict::kInconclusive);
  EXPECT_EQ(figure.shows, Verdict::kRegression);
  EXPECT_NEAR(*figure.change, 1.2, 0.02);
  EXPECT_NE(figure.doubt.find("suspected: the runs were not measured in turns"), std::string::npos);
  EXPECT_FALSE(figure.p);
}

TEST(CompareFigures, SidesApartAreNeverEquivalent) {
  const auto figure = headline(compare_runs(apart({}, {}), {}));
  EXPECT_EQ(figure.verdict, Verdict::kInconclusive);
  EXPECT_EQ(figure.shows, Verdict::kEquivalent);
}

// Two runs of which nobody knows when they ran are no pairs.
TEST(CompareFigures, RunsWithoutStartTimesAreApart) {
  const std::vector<SideRun> sides{side_of("A", {.id = "one"}), side_of("B", {.id = "two", .p50_ms = 12})};
  EXPECT_EQ(compare_runs(sides, {}).pairing, Pairing::kApart);
}

// Runs of processes that somebody started in turns, all within a second.
TEST(CompareFigures, APairingThatIsKnownNeedsNoStartTimes) {
  const std::vector<SideRun> sides{side_of("A", {.id = "one"}),
                                   side_of("B", {.id = "two", .p50_ms = 12, .shift = 3})};
  RunOptions options;
  options.judge.pairing = Pairing::kInTurns;
  const auto found = compare_runs(sides, options);
  EXPECT_EQ(found.pairing, Pairing::kInTurns);
  EXPECT_EQ(headline(found).verdict, Verdict::kRegression);
  EXPECT_EQ(headline(found).pairs, 6);
}

TEST(CompareFigures, OneProcessSaysNothingAndWhy) {
  const auto figure = headline(compare_runs(apart({.processes = 1}, {.p50_ms = 12, .processes = 1}), {}));
  EXPECT_EQ(figure.verdict, Verdict::kInconclusive);
  EXPECT_FALSE(figure.ci);
  EXPECT_NE(figure.doubt.find("one process"), std::string::npos);
}

TEST(CompareFigures, FivePairsAreTooFew) {
  const auto& figure = headline(compare_runs(in_turns({.processes = 5}, {.p50_ms = 15, .processes = 5}), {}));
  EXPECT_EQ(figure.verdict, Verdict::kInconclusive);
  EXPECT_EQ(figure.doubt, "fewer than six pairs of processes");
}

TEST(CompareFigures, RatesAreBetterWhenHigher) {
  auto sides = in_turns({.p50_ms = 10}, {.p50_ms = 12});
  for (auto& side : sides) {
    auto& one = side.stored.run.cases[0];
    one.throughput.per_s.value = 8e9 / *one.headline.p50_ns.value;
  }
  const auto found = compare_runs(sides, {});
  const auto& rate = figure_named(found.cases[0], "throughput_per_s");
  EXPECT_NEAR(*rate.change, 1 / 1.2, 0.02);
  EXPECT_EQ(rate.verdict, Verdict::kRegression);
  EXPECT_FALSE(rate.decides);
}

TEST(CompareFigures, MoreMemoryIsWorse) {
  auto sides = in_turns({}, {});
  for (auto& r : sides[1].stored.run.cases[0].repetitions) r.memory.rss_peak_above_load_bytes = 150'000'000;
  sides[1].stored.run.cases[0].repetitions[0].memory.rss_peak_above_load_bytes = 400'000'000;
  const auto found = compare_runs(sides, {});
  const auto& memory = figure_named(found.cases[0], "memory_mb");
  EXPECT_EQ(memory.verdict, Verdict::kRegression);
  EXPECT_EQ(*memory.b, 150);  // of the usual process, as the change is
}

TEST(CompareFigures, AFallOfAccuracyIsARegressionEvenApart) {
  auto sides = apart({}, {});
  sides[0].stored.run.cases[0].correctness.top1 = {0.99, 0.98, 0.995, 0.95, "clopper_pearson"};
  sides[1].stored.run.cases[0].correctness.top1 = {0.90, 0.88, 0.92, 0.95, "clopper_pearson"};
  const auto found = compare_runs(sides, {});
  const auto& figure = figure_named(found.cases[0], "top1_agreement");
  EXPECT_EQ(figure.verdict, Verdict::kRegression);
  EXPECT_TRUE(figure.decides);
  EXPECT_NEAR(*figure.change, -0.09, 1e-9);
  EXPECT_NEAR(figure.ci->high, -0.09 + std::hypot(0.02, 0.01), 1e-9);
}

std::vector<bool> right_except(std::size_t inputs, std::size_t from, std::size_t to) {
  std::vector<bool> right(inputs, true);
  for (auto i = from; i < to; ++i) right[i] = false;
  return right;
}

void give_answers(SideRun& side, const std::vector<bool>& right, const std::string& inputs) {
  auto& found = side.stored.run.cases[0].correctness;
  found.samples = std::ssize(right);
  const auto share = static_cast<double>(std::ranges::count(right, true)) / static_cast<double>(right.size());
  found.labelled.top1 = {share, share - 0.03, std::min(1.0, share + 0.03), 0.95, "clopper_pearson"};
  found.labelled.answers = {inputs, result::stored_answers(right)};
}

// Both sides' own intervals overlap: 2 % of 1000 inputs, all lost.
TEST(CompareFigures, AnswersToTheSameInputsAreComparedOneByOne) {
  auto sides = in_turns({}, {});
  give_answers(sides[0], right_except(1000, 0, 100), "same");
  give_answers(sides[1], right_except(1000, 0, 120), "same");
  const auto found = compare_runs(sides, {});
  const auto& figure = figure_named(found.cases[0], "top1_accuracy");
  EXPECT_EQ(figure.verdict, Verdict::kRegression);
  EXPECT_TRUE(figure.decides);
  EXPECT_NEAR(*figure.p, 2 * std::pow(0.5, 20), 1e-12);
  EXPECT_NEAR(*figure.change, -0.02, 1e-12);
  EXPECT_LT(figure.ci->high, -0.01);
  EXPECT_TRUE(found.remarks.empty());
  EXPECT_NEAR(*headline(found).p_holm, *headline(found).p, 1e-12) << "labels cost no power for speed";
}

TEST(CompareFigures, FewOtherAnswersTellNothingApart) {
  auto sides = in_turns({}, {});
  give_answers(sides[0], right_except(1000, 0, 100), "same");
  give_answers(sides[1], right_except(1000, 0, 105), "same");
  const auto found = compare_runs(sides, {});
  const auto& figure = figure_named(found.cases[0], "top1_accuracy");
  EXPECT_EQ(figure.verdict, Verdict::kInconclusive);
  EXPECT_FALSE(figure.decides);
  EXPECT_NE(figure.doubt.find("of 1000 labelled inputs 5 are right on A only and 0 on B only"),
            std::string::npos)
      << figure.doubt;
}

TEST(CompareFigures, AnswersToOtherInputsAreNotPaired) {
  auto sides = in_turns({}, {});
  give_answers(sides[0], right_except(1000, 0, 100), "these");
  give_answers(sides[1], right_except(1000, 0, 120), "those");
  const auto found = compare_runs(sides, {});
  const auto& figure = figure_named(found.cases[0], "top1_accuracy");
  EXPECT_EQ(figure.verdict, Verdict::kInconclusive);
  EXPECT_FALSE(figure.p) << "McNemar needs the same inputs";
  EXPECT_EQ(std::ranges::count_if(found.remarks, [](const auto& r) { return r.starts_with("accuracy:"); }),
            1);
  EXPECT_EQ(figure.doubt, "too few answers tell the sides apart");
}

// p is 0.031 for six lost, which two cases double.
TEST(CompareFigures, SeveralCasesWithLabelsAreJudgedTogether) {
  const std::vector<std::string> two{"onnxruntime", "openvino"};
  auto sides = in_turns({.engines = two}, {.engines = two});
  for (auto& side : sides) side.stored.run.cases[1].correctness = {};
  for (std::size_t i = 0; i < 2; ++i) give_answers(sides[i], right_except(1000, 0, 100 + 6 * i), "same");
  EXPECT_EQ(figure_named(compare_runs(sides, {}).cases[0], "top1_accuracy").verdict, Verdict::kRegression);
  for (auto& side : sides) side.stored.run.cases[1].correctness = side.stored.run.cases[0].correctness;
  const auto found = compare_runs(sides, {});
  const auto& figure = figure_named(found.cases[0], "top1_accuracy");
  EXPECT_EQ(figure.verdict, Verdict::kInconclusive);
  EXPECT_NE(figure.doubt.find("among 2 cases with labels"), std::string::npos) << figure.doubt;
}

TEST(CompareFigures, DebuggedRunsProveNothing) {
  auto sides = in_turns({.p50_ms = 10}, {.p50_ms = 12});
  sides[1].stored.run.cases[0].noise.instrument = "gdb";
  const auto figure = headline(compare_runs(sides, {}));
  EXPECT_EQ(figure.verdict, Verdict::kInconclusive);
  EXPECT_NE(figure.doubt.find("gdb"), std::string::npos);
}

// Six pairs have p = 0.031, which two verdicts double.
TEST(CompareFigures, ManyVerdictsNeedMorePairs) {
  const std::vector<std::string> two{"onnxruntime", "openvino"};
  const auto few = compare_runs(in_turns({.engines = two}, {.engines = two, .p50_ms = 12}), {});
  for (const auto& one : few.cases) {
    const auto& figure = *deciding(one).at(0);
    EXPECT_EQ(figure.verdict, Verdict::kInconclusive);
    EXPECT_EQ(figure.shows, Verdict::kRegression);
    EXPECT_NEAR(*figure.p_holm, 4 * std::pow(0.5, 6), 1e-12);
    EXPECT_NE(figure.doubt.find("7 can"), std::string::npos) << figure.doubt;
  }
  const auto enough = compare_runs(
      in_turns({.engines = two, .processes = 7}, {.engines = two, .p50_ms = 12, .processes = 7}), {});
  for (const auto& one : enough.cases) EXPECT_EQ(deciding(one).at(0)->verdict, Verdict::kRegression);
}

TEST(CompareFigures, AControlThatMovedWithholdsEveryVerdict) {
  std::vector<double> a, b;
  for (int i = 0; i < 6; ++i) a.push_back(2e7 * wobble(i, 0)), b.push_back(2.1e7 * wobble(i, 3));
  RunOptions options;
  options.control = judge_control(a, b, 0.03);
  EXPECT_TRUE(options.control->moved);
  const auto found = compare_runs(in_turns({.p50_ms = 10}, {.p50_ms = 12}), options);
  EXPECT_EQ(headline(found).verdict, Verdict::kInconclusive);
  EXPECT_EQ(headline(found).shows, Verdict::kRegression);
  EXPECT_FALSE(judge_control(a, a, 0.03).moved);
}

// Below half the margin a control may exclude 1 without harm.
TEST(CompareFigures, AControlMayMoveByLessThanHalfTheMargin) {
  const std::vector<double> a(8, 2e7);
  std::vector<double> b;
  for (int i = 0; i < 8; ++i) b.push_back(2e7 * (1.009 + 0.0005 * i));
  const auto control = judge_control(a, b, 0.05);
  EXPECT_GT(control.figure.ci->low, 1);
  EXPECT_FALSE(control.moved);
  EXPECT_TRUE(judge_control(a, b, 0.01).moved);
}

constexpr const char* kTimes =
    "repetition,bytes,in_place,mode,rank,index,duration_ns\n"
    "0,8,0,sync,0,0,100\n0,8,0,sync,1,0,120\n0,8,0,sync,0,1,90\n0,8,0,sync,1,1,80\n0,8,0,batch,0,0,5\n"
    "1,8,0,sync,0,0,200\n0,512,1,sync,0,0,300\n";

TEST(CompareFigures, AnOperationTakesAsLongAsItsSlowestRank) {
  const auto medians = result::medians_by_size(kTimes, "x.csv");
  EXPECT_EQ(medians.at({8, false}), (PerProcess{{0, 105}, {1, 200}}));
  EXPECT_EQ(medians.at({512, true}), (PerProcess{{0, 300}}));
  EXPECT_THROW(result::medians_by_size("h\n1,2\n", "x.csv"), Error);
}

CaseSide sweep(result::CaseResult& one, double times) {
  one = case_of({}, "gloo");
  one.benchmark.kind = WorkloadKind::kCollective;
  result::CollectiveResult sweep;
  sweep.operation = "all_reduce";
  result::CollectiveSizeFigures size;
  size.bytes = 1 << 20;
  size.out_of_place.sync_ns.value = 1e6 * times;
  size.out_of_place.sync_busbw_gb_per_s.value = 1 / times;
  sweep.sizes.push_back(size);
  one.payload = sweep;
  CaseSide side{&one, {}};
  for (int i = 0; i < 6; ++i)
    side.extra.size_ns[{1 << 20, false}][i] = 1e6 * times * wobble(i, times > 1 ? 3 : 0);
  return side;
}

TEST(CompareFigures, EachSizeOfACollectiveDecides) {
  result::CaseResult a, b;
  const auto one = judge_cases(sweep(a, 1), sweep(b, 1.25), {});
  const auto figures = deciding(one);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0]->name, "busbw_gb_per_s.1048576");
  EXPECT_NEAR(*figures[0]->change, 0.8, 0.02);
  EXPECT_EQ(figures[0]->verdict, Verdict::kRegression);
}

// Sides ten minutes apart on a machine that drifts: no verdict, whatever the drift.
TEST(CompareFigures, DriftBetweenRunsIsNoRegression) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const CounterRng random(seed, 5);
    const double drift = std::exp(0.1 * random.normal(0));
    const auto found = compare_runs(apart({.p50_ms = 10}, {.p50_ms = 10 * drift}), {});
    EXPECT_EQ(headline(found).verdict, Verdict::kInconclusive);
  }
}

}  // namespace
}  // namespace paceline::compare
