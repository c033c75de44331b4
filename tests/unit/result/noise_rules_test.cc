// SPDX-License-Identifier: MIT
#include "result/judged/noise_rules.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace paceline::result {
namespace {

NoiseFacts quiet_facts() {
  NoiseFacts facts;
  facts.noise.runq_wait_frac = 0.001;
  facts.noise.nivcsw_per_s = 2.0;
  facts.noise.steal_frac = 0.0;
  facts.noise.psi_cpu_some = 0.01;
  facts.noise.foreign_cpu_frac = 0.005;
  facts.noise.freq_cv = 0.001;
  facts.noise.cgroup_throttled = 0;
  facts.noise.drift_frac = 0.002;
  facts.noise.drift_z = 0.5;
  facts.noise.tau_x = 1.2;
  facts.overhead.os_noise_frac = 0.002;
  facts.overhead.overhead_fraction = 0.0001;
  facts.overhead.calibration_drift = 0.05;
  facts.steady_state = "reached";
  facts.n = 1000;
  return facts;
}

Grade grade(const NoiseFacts& facts, NoiseProfile profile = NoiseProfile::kShared) {
  return grade_of(noise_flags(facts, profile));
}

TEST(NoiseRules, QuietFactsGradeAInBothProfiles) {
  EXPECT_EQ(grade(quiet_facts(), NoiseProfile::kShared), Grade::kA);
  EXPECT_EQ(grade(quiet_facts(), NoiseProfile::kQuiet), Grade::kA);
}

TEST(NoiseRules, NothingMeasuredRaisesNothing) {
  EXPECT_TRUE(noise_flags({}, NoiseProfile::kShared).empty());
}

TEST(NoiseRules, IdsAreUniqueAndWarnIsBelowInvalid) {
  std::set<std::string_view> ids;
  for (const auto& rule : noise_rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.advice.empty()) << rule.id;
    for (const auto* limits : {&rule.shared, &rule.quiet}) {
      EXPECT_TRUE(limits->warn || limits->invalid) << rule.id;
      if (limits->warn && limits->invalid) {
        EXPECT_LT(*limits->warn, *limits->invalid) << rule.id;
      }
    }
  }
}

// The documented limits, each with a value at the limit (silent), above warn, and above invalid.
struct LimitCase {
  std::string id;
  std::function<void(NoiseFacts&, double)> set;
  double warn, invalid;
};

class Limits : public ::testing::TestWithParam<LimitCase> {};

TEST_P(Limits, GradeFollowsTheTable) {
  const auto& row = GetParam();
  const auto at = [&](double value) {
    NoiseFacts facts = quiet_facts();
    row.set(facts, value);
    return noise_flags(facts, NoiseProfile::kShared);
  };
  EXPECT_TRUE(at(row.warn).empty());
  ASSERT_EQ(at(row.warn * 1.01).size(), 1U);
  EXPECT_EQ(at(row.warn * 1.01)[0].id, row.id);
  EXPECT_EQ(grade_of(at(row.warn * 1.01)), Grade::kB);
  EXPECT_EQ(grade_of(at(row.invalid)), Grade::kB);
  EXPECT_EQ(grade_of(at(row.invalid * 1.01)), Grade::kC);
}

INSTANTIATE_TEST_SUITE_P(
    NoiseRules, Limits,
    ::testing::Values(
        LimitCase{"runq_wait_frac", [](NoiseFacts& f, double v) { f.noise.runq_wait_frac = v; }, 0.01, 0.05},
        LimitCase{"nivcsw_per_s", [](NoiseFacts& f, double v) { f.noise.nivcsw_per_s = v; }, 20, 200},
        LimitCase{"steal_frac", [](NoiseFacts& f, double v) { f.noise.steal_frac = v; }, 0.005, 0.02},
        LimitCase{"psi_cpu_some", [](NoiseFacts& f, double v) { f.noise.psi_cpu_some = v; }, 0.05, 0.20},
        LimitCase{"foreign_cpu_frac", [](NoiseFacts& f, double v) { f.noise.foreign_cpu_frac = v; }, 0.05,
                  0.25},
        LimitCase{"freq_cv", [](NoiseFacts& f, double v) { f.noise.freq_cv = v; }, 0.03, 0.05},
        LimitCase{"os_noise", [](NoiseFacts& f, double v) { f.overhead.os_noise_frac = v; }, 0.01, 0.05},
        LimitCase{"overhead_fraction", [](NoiseFacts& f, double v) { f.overhead.overhead_fraction = v; },
                  0.005, 0.05},
        LimitCase{"drift",
                  [](NoiseFacts& f, double v) {
                    f.noise.drift_frac = -v;  // a fall counts as much as a rise
                    f.noise.drift_z = -3.0;
                  },
                  0.01, 0.05}),
    [](const auto& one) { return one.param.id; });

TEST(NoiseRules, OneThrottledPeriodIsInvalid) {
  NoiseFacts facts = quiet_facts();
  facts.noise.cgroup_throttled = 1;
  EXPECT_EQ(grade(facts), Grade::kC);
}

TEST(NoiseRules, AlikeProcessesWarn) {
  NoiseFacts facts = quiet_facts();
  facts.noise.processes_z = 2.5;
  EXPECT_EQ(grade(facts), Grade::kA);
  facts.noise.processes_z = 4.1;
  EXPECT_EQ(grade(facts), Grade::kB);
  EXPECT_EQ(
      noise_flags(facts, NoiseProfile::kShared)[0].text,
      "processes that follow one another are alike (z 4.10): the interval holds for these minutes, not for "
      "other days (limit 2.58)");
}

TEST(NoiseRules, TrendWithoutSignificanceIsNoDrift) {
  NoiseFacts facts = quiet_facts();
  facts.noise.drift_frac = 0.30;
  facts.noise.drift_z = 2.5;
  EXPECT_EQ(grade(facts), Grade::kA);
  facts.noise.drift_z = 2.6;
  EXPECT_EQ(grade(facts), Grade::kC);
}

TEST(NoiseRules, DependenceWarnsAndIsInvalidOnlyWhenTheRunIsTooShortForIt) {
  NoiseFacts facts = quiet_facts();
  facts.noise.tau_x = 10.0;
  facts.n = 501;
  EXPECT_EQ(grade(facts), Grade::kB);
  facts.n = 499;
  EXPECT_EQ(grade(facts), Grade::kC);
  facts.interval_over_processes = true;
  EXPECT_EQ(grade(facts), Grade::kB);
}

TEST(NoiseRules, AFewIndependentSamplesPassTheGuard) {
  NoiseFacts facts = quiet_facts();
  facts.n = 6;
  EXPECT_EQ(grade(facts), Grade::kA);
}

TEST(NoiseRules, QuietProfileIsStricterAboutNeighbours) {
  NoiseFacts facts = quiet_facts();
  facts.noise.foreign_cpu_frac = 0.06;
  EXPECT_EQ(grade(facts, NoiseProfile::kShared), Grade::kB);
  EXPECT_EQ(grade(facts, NoiseProfile::kQuiet), Grade::kC);
}

TEST(NoiseRules, WordsCarryTheFigureAndTheLimit) {
  NoiseFacts facts = quiet_facts();
  facts.noise.foreign_cpu_frac = 0.061;
  const auto flags = noise_flags(facts, NoiseProfile::kShared);
  ASSERT_EQ(flags.size(), 1U);
  EXPECT_EQ(flags[0].text, "neighbours used 6.1 % of the machine (limit 5.0 %)");
  EXPECT_FALSE(flags[0].invalid);
}

TEST(NoiseRules, ModesAreNamed) {
  NoiseFacts facts = quiet_facts();
  facts.noise.multimodal = true;
  facts.noise.modes = {{54.1e6, 0.62}, {71.0e6, 0.38}};
  const auto flags = noise_flags(facts, NoiseProfile::kShared);
  ASSERT_EQ(flags.size(), 1U);
  EXPECT_EQ(flags[0].text, "the times fall into several groups: 54.1 ms (62 %), 71.0 ms (38 %)");
}

TEST(NoiseRules, InvalidFlagsComeFirst) {
  NoiseFacts facts = quiet_facts();
  facts.noise.runq_wait_frac = 0.02;
  facts.overhead.os_noise_frac = 0.06;
  const auto flags = noise_flags(facts, NoiseProfile::kShared);
  ASSERT_EQ(flags.size(), 2U);
  EXPECT_EQ(flags[0].id, "os_noise");
  EXPECT_EQ(flags[1].id, "runq_wait_frac");
}

TEST(NoiseRules, CaseIsGradedFromItsStoredFields) {
  CaseResult result;
  const NoiseFacts facts = quiet_facts();
  result.noise = facts.noise;
  result.overhead = facts.overhead;
  result.repetitions.resize(2);
  result.repetitions[1].steady_state = "not_reached";
  apply_noise_rules(result, NoiseProfile::kShared);
  EXPECT_EQ(result.grade, Grade::kB);
  ASSERT_EQ(result.grade_reasons.size(), 1U);
  EXPECT_EQ(result.grade_reasons[0], "no steady state was reached in warm-up");
  EXPECT_EQ(result.noise.warnings, result.grade_reasons);
}

TEST(NoiseRules, RepetitionGetsItsOwnWarnings) {
  Repetition repetition;
  repetition.noise.cgroup_throttled = 3;
  apply_noise_rules(repetition, NoiseProfile::kShared);
  ASSERT_EQ(repetition.noise.warnings.size(), 1U);
  EXPECT_EQ(repetition.noise.warnings[0], "the cgroup's CPU quota stopped the process 3 times");
}

}  // namespace
}  // namespace paceline::result
