// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analysis/closing_sentence.h"
#include "analysis/findings.h"
#include "result/stored/benchmark_params.h"
#include "support/sample_runs.h"

namespace paceline::analysis {
namespace {

using result::CaseResult;
using result::RunResult;
using Signs = std::map<std::string, std::string>;

CaseResult after(const char* gap, double p50_ms, const Signs& signs) {
  auto one = testing::case_of({"m.onnx", "onnxruntime", "fp32", 1, p50_ms, 300});
  one.case_id += gap;
  one.benchmark.params["gap"] = gap;
  one.headline.p50_ns.ci_low = p50_ms * 0.98e6;
  one.headline.p50_ns.ci_high = p50_ms * 1.02e6;
  for (const auto& [name, value] : signs) one.effective_settings[name] = value;
  return one;
}

RunResult run_with_gaps(std::vector<CaseResult> cases) {
  RunResult run;
  run.cases = std::move(cases);
  return run;
}

std::string cause(const Signs& base, const Signs& slow) {
  const auto found = find_idle_gaps(run_with_gaps({after("0", 1, base), after("1s", 3, slow)}));
  if (found.size() != 1) return {};
  const auto at = found[0].text.find("Cause: ");
  return found[0].text.substr(at + 7);
}

TEST(IdleGaps, TheLargestEffectOfAModelIsReported) {
  const auto found =
      find_idle_gaps(run_with_gaps({after("0", 1, {}), after("10ms", 1.5, {}), after("1s", 3, {})}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(
      found[0].text,
      "fp32 onnxruntime m.onnx at batch 1 with 2 threads: p50 is 3.00x as long after a gap of 1s as without "
      "one: 3.00 ms (2.94–3.06 ms) against 1.00 ms (0.980–1.02 ms). Cause: not known; not to be read here: "
      "page faults, the clock, the idle state.");
  EXPECT_EQ(found[0].about.size(), 2U);
  EXPECT_FALSE(found[0].advice.empty());
}

TEST(IdleGaps, TheShortestGapIsTheBaseInAnyOrder) {
  const auto text_of = [](const std::vector<CaseResult>& cases) {
    const auto found = find_idle_gaps(run_with_gaps(cases));
    return found.size() == 1 ? found[0].text : "";
  };
  EXPECT_EQ(text_of({after("50ms", 3, {}), after("0", 1, {})}),
            text_of({after("0", 1, {}), after("50ms", 3, {})}));
  const auto text = text_of({after("1s", 3, {}), after("800us", 1, {}), after("50ms", 1.5, {})});
  EXPECT_NE(text.find("3.00x as long after a gap of 1s as after 800us"), std::string::npos) << text;
}

TEST(IdleGaps, OneProcessIsNamedAndGradeCLeftOut) {
  auto base = after("0", 1, {}), slow = after("1s", 3, {});
  const auto one_process = [&] {
    return find_idle_gaps(run_with_gaps({base, slow})).at(0).text.find("within one process each") !=
           std::string::npos;
  };
  EXPECT_FALSE(one_process());
  base.headline.scope = result::kWithinProcess;
  EXPECT_TRUE(one_process());
  std::swap(base.headline.scope, slow.headline.scope);
  EXPECT_TRUE(one_process());
  slow.grade = result::Grade::kC;
  EXPECT_TRUE(find_idle_gaps(run_with_gaps({base, slow})).empty());
  const auto found = find_idle_gaps(run_with_gaps({base, slow, after("50ms", 2, {})}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("a gap of 50ms"), std::string::npos);
}

TEST(IdleGaps, OverlappingIntervalsAndSmallEffectsAreNone) {
  EXPECT_TRUE(find_idle_gaps(run_with_gaps({after("0", 1, {}), after("1s", 1.03, {})})).empty());
  EXPECT_TRUE(find_idle_gaps(run_with_gaps({after("1s", 3, {})})).empty());
  auto other = after("1s", 3, {});
  other.benchmark.engine = "openvino";
  EXPECT_TRUE(find_idle_gaps(run_with_gaps({after("0", 1, {}), other})).empty());
  auto failed = after("1s", 3, {});
  failed.outcome = result::Outcome::kFailed;
  EXPECT_TRUE(find_idle_gaps(run_with_gaps({after("0", 1, {}), failed})).empty());
}

TEST(IdleGaps, TheCauseIsTheSignThatExplainsHalfOfTheTime) {
  const Signs base{{"page_faults_per_inference", "2.0"}, {"clock_mhz_after_inference", "3600"}};
  EXPECT_EQ(cause(base, {{"page_faults_per_inference", "900.0"},
                         {"page_fault_ns", "1500"},
                         {"clock_mhz_after_inference", "3500"}}),
            "page faults, 900 per inference against 2: its memory was given back.");
  EXPECT_EQ(cause(base, {{"page_faults_per_inference", "20.0"}, {"clock_mhz_after_inference", "1200"}}),
            "the clock, 1200 MHz against 3600.");
  EXPECT_EQ(cause(base, {{"page_faults_per_inference", "2.0"},
                         {"clock_mhz_after_inference", "3600"},
                         {"idle_state", "C6"},
                         {"idle_exit_us", "1800"}}),
            "the idle state C6, which a core leaves in 1800 us.");
  EXPECT_EQ(
      cause(base, {{"page_faults_per_inference", "900.0"},
                   {"page_fault_ns", "500"},
                   {"clock_mhz_after_inference", "3500"}}),
      "not known; explains less than half: page faults, the clock; not to be read here: the idle state.");
}

TEST(IdleGaps, AnIdleStateOfBothSidesIsNoCause) {
  const Signs c6{{"idle_state", "C6"}, {"idle_exit_us", "1800"}};
  const std::string others = "page faults, the clock";
  EXPECT_EQ(cause(c6, c6),
            "not known; the same on both sides: the idle state C6; not to be read here: " + others + ".");
  EXPECT_EQ(cause({{"idle_state", "C1"}, {"idle_exit_us", "2"}}, c6),
            "the idle state C6, which a core leaves in 1800 us.");
  EXPECT_EQ(cause({{"idle_state", "C1E"}, {"idle_exit_us", "900"}}, c6),
            "not known; explains less than half: the idle state; not to be read here: " + others + ".");
}

TEST(IdleGaps, AStateThatSaysNothingIsNotRuledOut) {
  for (const auto* name : {"POLL", "haltpoll"})
    EXPECT_EQ(cause({}, {{"idle_state", name}, {"idle_exit_us", "1"}}),
              "not known; not to be read here: page faults, the clock, the idle state.");
  EXPECT_EQ(cause({}, {{"idle_state", "not known in a virtual machine"}}),
            "not known; not to be read here: page faults, the clock, the idle state (not known in a virtual "
            "machine).");
}

// A case as it is stored: one that sleeps has no throughput.
CaseResult of_engine(const char* engine, const char* gap, double p50_ms) {
  auto one = testing::case_of({"m.onnx", engine, "fp32", 1, p50_ms, 300});
  one.case_id += gap, one.label += std::string(" gap") + gap;
  one.benchmark.params["gap"] = gap;
  if (result::gap_s(one.benchmark) <= 0) return one;
  auto& rate = one.throughput.per_s;
  rate.value = rate.ci_low = rate.ci_high = Number::missing("it sleeps between inferences");
  return one;
}

TEST(IdleGaps, AGapIsNoChoiceThatIsRecommended) {
  const auto alone = run_with_gaps({of_engine("onnxruntime", "0", 1), of_engine("onnxruntime", "1s", 3)});
  EXPECT_TRUE(find_recommendations(alone).empty());
  const auto run = run_with_gaps({of_engine("onnxruntime", "0", 1), of_engine("onnxruntime", "1s", 3),
                                  of_engine("openvino", "0", 2), of_engine("openvino", "1s", 4)});
  std::map<std::string, int> begins;
  for (const auto& found : find_recommendations(run)) {
    ++begins[found.text.substr(0, found.text.find(" for"))];
    EXPECT_NE(found.evidence.find("2 measured configurations"), std::string::npos) << found.evidence;
  }
  EXPECT_EQ(begins["Lowest latency"], 2);
  EXPECT_EQ(begins["Highest throughput"], 1);  // a process that sleeps has none
  EXPECT_EQ(begins["Smallest"], 2);
}

TEST(IdleGaps, TheClosingSentenceComparesCasesOfOneGap) {
  const auto two =
      closing_sentence(run_with_gaps({of_engine("onnxruntime", "0", 1), of_engine("onnxruntime", "1s", 3)}));
  EXPECT_NE(two.find("gap0 takes 1.00 ms"), std::string::npos) << two;
  EXPECT_NE(two.find("gap1s takes 3.00 ms"), std::string::npos) << two;
  EXPECT_EQ(two.find("as fast as"), std::string::npos) << two;
  const auto three =
      closing_sentence(run_with_gaps({of_engine("onnxruntime", "0", 1), of_engine("onnxruntime", "1s", 3),
                                      of_engine("onnxruntime", "2s", 4)}));
  EXPECT_EQ(std::count(three.begin(), three.end(), '\n'), 2) << three;
  const auto four =
      closing_sentence(run_with_gaps({of_engine("onnxruntime", "0", 1), of_engine("onnxruntime", "1s", 3),
                                      of_engine("openvino", "0", 2), of_engine("openvino", "1s", 4)}));
  EXPECT_NE(four.find(" with gap=0"), std::string::npos) << four;
  EXPECT_NE(four.find(" with gap=1s"), std::string::npos) << four;
  EXPECT_EQ(std::count(four.begin(), four.end(), '\n'), 1) << four;
}

TEST(IdleGaps, BatchesThatSleepHaveNoRatesToCompare) {
  auto run = run_with_gaps(
      {of_engine("onnxruntime", "1s", 1), of_engine("onnxruntime", "1s", 2), of_engine("openvino", "1s", 4)});
  run.cases[1].benchmark.batch_per_rank = 8;
  EXPECT_EQ(closing_sentence(run), "");
}

}  // namespace
}  // namespace paceline::analysis
