// SPDX-License-Identifier: MIT
#include "compare/profiles.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/difference/difference_words.h"
#include "base/random.h"
#include "compare/comparison_answer.h"
#include "compare/words.h"
#include "support/words.h"

namespace paceline::compare {
namespace {

using analysis::traces::RankTrace;
using analysis::traces::TraceStep;
using paceline::test::expect_words;

// Two ranks with steps of about `ms`, 60 % of it forward, and these operators per step.
std::vector<RankTrace> traces(double ms, std::int64_t steps,
                              std::vector<analysis::traces::TraceOperator> operators) {
  std::vector<RankTrace> ranks(2);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const CounterRng random(r, 3);
    ranks[r].operators = operators;
    ranks[r].operator_steps = steps;
    for (std::int64_t i = 0; i < steps; ++i) {
      TraceStep step;
      step.number = i;
      step.length =
          static_cast<std::int64_t>(ms * 1e6 * std::exp(0.01 * random.normal(static_cast<std::uint64_t>(i))));
      step.forward = step.length * 6 / 10;
      step.rest = step.length - step.forward;
      ranks[r].steps.push_back(step);
    }
  }
  return ranks;
}

analysis::traces::TraceOperator operator_of(const char* name, std::int64_t calls, double ms) {
  analysis::traces::TraceOperator one;
  one.name = name, one.calls = calls, one.host_ns = static_cast<std::int64_t>(ms * 1e6);
  return one;
}

const Figure& named(const Comparison& found, const std::string& name) {
  const auto& figures = found.cases.at(0).figures;
  const auto one = std::ranges::find(figures, name, &Figure::name);
  if (one == figures.end()) throw std::runtime_error("no " + name);
  return *one;
}

Comparison compared(const std::vector<RankTrace>& a, const std::vector<RankTrace>& b) {
  return compare_profiles({profile_of(Side{"A", "before"}, a), profile_of(Side{"B", "after"}, b)}, 0.03);
}

TEST(CompareProfiles, StepsAndPartsAreSuspectedAtMost) {
  const auto found = compared(traces(100, 10, {}), traces(120, 10, {}));
  const auto& step = named(found, "step_ms");
  EXPECT_NEAR(*step.change, 1.2, 0.02);
  EXPECT_EQ(step.verdict, stats::Verdict::kInconclusive);
  EXPECT_EQ(step.shows, stats::Verdict::kRegression);
  expect_words(step.doubt, {"suspected", "steps of two jobs"});
  EXPECT_NEAR(*named(found, "forward_ms").change, 1.2, 0.02);
  EXPECT_EQ(answer::exit_code_of(checks_of(found)), ExitCode::kInconclusive);
  expect_words(found.sides[0].what, {"2 ranks", "10 steps"});
}

TEST(CompareProfiles, MeansAreSaidToStandBesideMediansOfSteps) {
  const auto found = compared(traces(100, 10, {}), traces(120, 10, {}));
  ASSERT_TRUE(found.cases.at(0).why);
  EXPECT_TRUE(found.cases[0].why->beside_medians);
  auto why = *found.cases[0].why;
  why.no_claim.clear();
  why.rows.resize(1);
  const auto sections = analysis::difference::sections_of(why);
  expect_words(sections.at(0).notes.at(0), {"of means", "the figures above are medians"});
}

TEST(CompareProfiles, FiveStepsAreTooFewForAClaim) {
  const auto found = compared(traces(100, 10, {}), traces(200, 5, {}));
  const auto& step = named(found, "step_ms");
  EXPECT_FALSE(step.ci);
  EXPECT_EQ(step.doubt, "5 steps on one side: a claim needs 6");
}

// Shares of a step: 20 calls in ten steps are two per step.
TEST(CompareProfiles, OperatorsThatCameWentOrAreCalledMoreAreSaidSo) {
  const auto a = traces(100, 10, {operator_of("aten::conv2d", 520, 300), operator_of("aten::old", 10, 10)});
  const auto b = traces(100, 10, {operator_of("aten::conv2d", 530, 306), operator_of("aten::new", 10, 20)});
  const auto found = compared(a, b);
  ASSERT_TRUE(found.cases.at(0).why) << "steps are explained by their parts";
  EXPECT_EQ(named(found, "operator.aten::conv2d").title, "aten::conv2d (53 calls instead of 52)");
  EXPECT_NEAR(*named(found, "operator.aten::conv2d").a, 30, 1e-9);
  EXPECT_EQ(named(found, "operator.aten::new").title, "aten::new (new)");
  EXPECT_EQ(named(found, "operator.aten::old").title, "aten::old (gone)");
  EXPECT_FALSE(named(found, "operator.aten::old").change);
}

TEST(CompareProfiles, OfManyOperatorsTheLargestDifferencesStay) {
  std::vector<analysis::traces::TraceOperator> before, after;
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (int i = 0; i < 40; ++i) all.push_back("op" + std::to_string(i));
    return all;
  }();
  for (int i = 0; i < 40; ++i) {
    before.push_back(operator_of(names.at(static_cast<std::size_t>(i)).c_str(), 10, 100));
    after.push_back(operator_of(names.at(static_cast<std::size_t>(i)).c_str(), 10, 100 + i));
  }
  const auto found = compared(traces(100, 10, before), traces(100, 10, after));
  EXPECT_NO_THROW(named(found, "operator.op39"));
  EXPECT_THROW(named(found, "operator.op0"), std::runtime_error);
  EXPECT_NO_THROW(named(found, "step_ms"));
}

nsight::NcuFile kernels(double ns, int launches) {
  nsight::NcuFile file;
  for (int i = 0; i < launches; ++i)
    file.launches.push_back(
        {std::to_string(i), "gemm", "0", "7", {{"gpu__time_duration.sum", ns * (1 + 0.001 * i)}}});
  return file;
}

// All launches count: the one kernel that is new has too few for a spread, and is the difference.
TEST(CompareProfiles, KernelsWithFewLaunchesAreNotExplainedByOthers) {
  auto before = kernels(1'000'000, 100), after = kernels(1'004'000, 100);
  for (int i = 0; i < 5; ++i)
    after.launches.push_back(
        {std::to_string(100 + i), "copy_new", "0", "7", {{"gpu__time_duration.sum", 2'000'000}}});
  const auto found =
      compare_profiles({profile_of(Side{"A", "a"}, before), profile_of(Side{"B", "b"}, after)}, 0.03);
  ASSERT_TRUE(found.cases.at(0).why);
  expect_words(found.cases[0].why->no_claim, {"of the difference", "fewer than 6 calls"});
  EXPECT_TRUE(found.cases[0].why->rows.empty());
}

TEST(CompareProfiles, LaunchesOfAKernelAreItsSpread) {
  const auto found = compare_profiles(
      {profile_of(Side{"A", "a"}, kernels(1000, 8)), profile_of(Side{"B", "b"}, kernels(1500, 8))}, 0.03);
  const auto& gemm = named(found, "kernel.gemm");
  EXPECT_NEAR(*gemm.change, 1.5, 1e-6);
  EXPECT_EQ(gemm.shows, stats::Verdict::kRegression);
  expect_words(change_with_range(gemm, found.cases.at(0).pairing), {"8 calls per side"});
  EXPECT_NEAR(*named(found, "kernels_ms").a, 0.008028, 1e-6);
  const auto more = compare_profiles(
      {profile_of(Side{"A", "a"}, kernels(1000, 8)), profile_of(Side{"B", "b"}, kernels(1000, 16))}, 0.03);
  expect_words(named(more, "kernel.gemm").title, {"16 calls instead of 8"});
  EXPECT_GT(*named(more, "kernel.gemm").change, 1.9);
}

nsight::NcuFile kernels_of(const std::vector<std::pair<std::string, double>>& ns, int launches) {
  nsight::NcuFile file;
  for (int i = 0; i < launches; ++i)
    for (const auto& [name, time] : ns)
      file.launches.push_back(
          {std::to_string(i), name, "0", "7", {{"gpu__time_duration.sum", time * (1 + 0.001 * (i % 5))}}});
  return file;
}

Comparison compared(const nsight::NcuFile& a, const nsight::NcuFile& b) {
  return compare_profiles({profile_of(Side{"A", "a"}, a), profile_of(Side{"B", "b"}, b)}, 0.03);
}

TEST(CompareProfiles, TheKernelThatMakesTheDifferenceIsNamedFirst) {
  const auto found = compared(kernels_of({{"gemm", 1000}, {"relu", 400}, {"softmax", 300}}, 8),
                              kernels_of({{"gemm", 1010}, {"relu", 900}, {"softmax", 300}}, 8));
  const auto& why = found.cases.at(0).why;
  ASSERT_TRUE(why && why->no_claim.empty()) << why->no_claim;
  EXPECT_EQ(why->rows.at(0).what, "relu");
  EXPECT_NEAR(why->difference_ns, 8 * 510, 40);
  double sum = 0;
  for (const auto& row : why->rows) sum += row.difference_ns;
  EXPECT_NEAR(sum, why->difference_ns, 1e-3);
  EXPECT_GT(why->interval->low, 8 * 450);
}

TEST(CompareProfiles, AnotherNumberOfLaunchesIsACause) {
  auto more = kernels_of({{"gemm", 1000}, {"relu", 400}}, 8);
  for (const auto& launch : kernels_of({{"relu", 400}}, 8).launches) more.launches.push_back(launch);
  const auto found = compared(kernels_of({{"gemm", 1000}, {"relu", 400}}, 8), more);
  const auto& why = found.cases.at(0).why;
  ASSERT_TRUE(why && why->no_claim.empty()) << why->no_claim;
  EXPECT_EQ(why->rows.at(0).what, "relu");
  EXPECT_EQ(why->rows.at(0).cause, "16 calls instead of 8");
}

// The table of figures still shows them.
TEST(CompareProfiles, KernelsMeasuredOnceClaimNothing) {
  const auto found = compared(kernels_of({{"gemm", 1000}}, 1), kernels_of({{"gemm", 2000}}, 1));
  ASSERT_TRUE(found.cases.at(0).why);
  expect_words(found.cases.at(0).why->no_claim, {"A: 100 % of its time", "fewer than 6 calls"});
  EXPECT_TRUE(found.cases.at(0).why->rows.empty());
  EXPECT_NEAR(*named(found, "kernel.gemm").change, 2, 1e-9);
  EXPECT_FALSE(named(found, "kernel.gemm").ci);
}

TEST(CompareProfiles, KernelsOfATimelineAreNamed) {
  nsight::NsysFile file;
  nsight::Kernel kernel;
  kernel.name = "relu", kernel.start = 10, kernel.end = 2010;
  file.kernels.assign(6, kernel);
  const auto found =
      compare_profiles({profile_of(Side{"A", "a"}, file), profile_of(Side{"B", "b"}, file)}, 0.03);
  EXPECT_EQ(found.subject, "2 files of Nsight Systems");
  EXPECT_EQ(named(found, "kernel.relu").shows, stats::Verdict::kEquivalent);
}

}  // namespace
}  // namespace paceline::compare
