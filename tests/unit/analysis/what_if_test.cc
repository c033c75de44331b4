// SPDX-License-Identifier: MIT
#include "analysis/what_if.h"

#include <gmock/gmock.h>

#include "analysis/cause_words.h"
#include "analysis/setting_words.h"
#include "base/error.h"
#include "result/figures/summarize_training.h"
#include "result/stored/rank_evidence.h"
#include "result/stored/result_json.h"
#include "support/simulated_training.h"

namespace paceline::analysis {
namespace {

using result::CaseResult;
using result::OwnPart;
using result::RunResult;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::SimulatedTraining;

CaseResult case_of(const SimulatedTraining& world, std::int64_t batch = 8) {
  CaseResult one;
  one.case_id = "b" + std::to_string(batch);
  one.outcome = result::Outcome::kOk;
  one.benchmark.kind = WorkloadKind::kTraining;
  one.benchmark.world_size = world.ranks;
  one.benchmark.batch_per_rank = batch;
  auto& t = one.payload.emplace<result::Training>();
  t.ddp = true;
  result::summarize_training(t, testing::simulate(world).ranks, 8);
  return one;
}

RunResult simulated_run(const SimulatedTraining& world) {
  RunResult run;
  run.cases = {case_of(world)};
  return run;
}

double step_of(const SimulatedTraining& world) {
  return testing::simulate(world).truth.step_ms;
}

std::vector<std::int64_t> buckets(std::size_t count, std::int64_t bytes) {
  std::vector<std::int64_t> all(count, bytes);
  all.push_back(bytes / 8);
  return all;
}

std::string mistake(const std::string& text) {
  try {
    parse_changes(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
    return e.what();
  }
  return {};
}

TEST(WhatIf, WordsAreParsedAndMistakesNamed) {
  const auto changes = parse_changes("link=2x, bucket_cap_mb=50");
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[1].text(), "bucket_cap_mb=50");
  EXPECT_THAT(mistake("ling=2x"), HasSubstr("--what-if ling: unknown; use link=2x"));
  EXPECT_THAT(mistake("link=2"), HasSubstr("--what-if link=2: write it like link=2x"));
  EXPECT_THAT(mistake("link=0x"), HasSubstr("link=2x"));
  EXPECT_THAT(mistake("batch=big"), HasSubstr("batch=64"));
  EXPECT_THAT(mistake("link=2x,link=3x"), HasSubstr("twice"));
  EXPECT_THAT(mistake(""), HasSubstr("unknown"));
}

TEST(WhatIf, TheRangeHoldsWhatTheSimulationDoesInNineOfTen) {
  int asked = 0, inside = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const CounterRng random(seed, 5);
    const SimulatedTraining world{
        .ranks = 2 + static_cast<std::int64_t>(random.below(0, 7)),
        .steps = 64,
        .jitter = 0.002 + 0.01 * random.uniform(1),
        .bucket_bytes = buckets(4 + random.below(2, 8), 4 << 20),
        .alpha_ms = 0.02 + 0.2 * random.uniform(3),
        .gb_per_s = 0.2 + 2 * random.uniform(4),
        .delays = {{.rank = 1, .where = OwnPart::kForward, .ms = 10 * random.uniform(5)},
                   {.where = OwnPart::kDataWait, .ms = 10 * random.uniform(6)}},
        .seed = seed};
    SimulatedTraining faster = world, smaller = world, on_time = world, fed = world;
    faster.gb_per_s *= 2;
    for (auto& bytes : smaller.bucket_bytes) bytes /= 2;
    on_time.delays.erase(on_time.delays.begin());
    fed.delays[1].ms = 0, fed.data_ms = 0;
    const auto run = simulated_run(world);
    const std::pair<const char*, const SimulatedTraining*> questions[] = {
        {"link=2x", &faster},
        {"comm_hook=fp16_compress", &smaller},
        {"stragglers=none", &on_time},
        {"loader=fast", &fed}};
    for (const auto& [words, truth] : questions) {
      const auto answer = what_if(run, run.cases[0], parse_changes(words)).at(0);
      ASSERT_EQ(answer.refused, "") << words;
      const double saving = (step_of(world) - step_of(*truth)) * 1e6;
      ++asked;
      inside += answer.low_ns <= saving && saving <= answer.high_ns;
    }
  }
  EXPECT_GE(inside, asked * 9 / 10);
}

TEST(WhatIf, LargerBucketsSaveMessages) {
  SimulatedTraining many{.steps = 64, .jitter = 0, .bucket_bytes = buckets(32, 1 << 20), .alpha_ms = 1};
  SimulatedTraining few = many;
  few.bucket_bytes = buckets(8, 4 << 20);
  const auto run = simulated_run(many);
  const auto answer = what_if(run, run.cases[0], parse_changes("bucket_cap_mb=4")).at(0);
  const double saving = (step_of(many) - step_of(few)) * 1e6;
  EXPECT_NEAR(answer.saving_ns, saving, 0.1 * saving);
  EXPECT_GT(answer.low_ns, 0);
}

TEST(WhatIf, ABatchIsAnsweredFromTwo) {
  const SimulatedTraining small{.steps = 64, .jitter = 0};
  SimulatedTraining large = small, larger = small;
  large.forward_ms *= 2, large.backward_ms *= 2;
  larger.forward_ms *= 4, larger.backward_ms *= 4;
  RunResult run = simulated_run(small);
  EXPECT_THAT(what_if(run, run.cases[0], parse_changes("batch=32")).at(0).refused, HasSubstr("second batch"));
  run.cases.push_back(case_of(large, 16));
  const auto answer = what_if(run, run.cases[0], parse_changes("batch=32")).at(0);
  ASSERT_EQ(answer.refused, "");
  EXPECT_NEAR(answer.step_ns * 1e-6, step_of(larger), 0.03 * step_of(larger));
  EXPECT_NEAR(answer.speed_up, 4 * step_of(small) / step_of(larger), 0.1);
}

// A table of answers must add up: what is saved is taken off the step that was measured.
TEST(WhatIf, TheStepIsTheMeasuredOneLessTheSaving) {
  const auto run = simulated_run({.gb_per_s = 0.2, .delays = {{.rank = 1, .ms = 9}}});
  const double measured = *run.cases[0].training()->costs.step_ns.value;
  for (const auto& answer : what_if(run, run.cases[0], parse_changes("link=2x,stragglers=none"))) {
    ASSERT_EQ(answer.refused, "");
    EXPECT_NEAR(answer.step_ns + answer.saving_ns, measured, 1);
    EXPECT_NEAR(answer.speed_up, measured / answer.step_ns, 1e-9);
  }
}

TEST(WhatIf, SeveralChangesAreAnsweredTogetherToo) {
  const auto run = simulated_run({.gb_per_s = 0.2});
  const auto answers = what_if(run, run.cases[0], parse_changes("link=2x,comm_hook=bf16_compress"));
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_EQ(answers[2].change, "link=2x,comm_hook=bf16_compress");
  EXPECT_GT(answers[2].saving_ns, answers[0].saving_ns);
}

TEST(WhatIf, RefusesChangesOfUnknownCosts) {
  const auto run = simulated_run({.bucket_bytes = {4 << 20, 4 << 20}});
  EXPECT_THAT(what_if(run, run.cases[0], parse_changes("link=2x")).at(0).refused, HasSubstr("one size"));
  EXPECT_EQ(what_if(run, run.cases[0], parse_changes("loader=fast")).at(0).refused, "");
  RunResult both = run;
  both.cases.push_back(case_of({.bucket_bytes = {8 << 20}}));
  both.cases[1].benchmark.params["ddp.bucket_cap_mb"] = "8";
  EXPECT_EQ(what_if(both, both.cases[0], parse_changes("link=2x")).at(0).refused, "");
  const auto alone = simulated_run({.ranks = 1});
  EXPECT_THAT(what_if(alone, alone.cases[0], parse_changes("link=2x")).at(0).refused,
              HasSubstr("several ranks"));
}

// First advice for a run that was written to a file and read again; empty: none.
std::string first_advice(const SimulatedTraining& world) {
  RunResult run;
  const auto text = result::to_json(case_of(world)).dump();
  run.cases = {result::case_from_json(nlohmann::json::parse(text), "a test")};
  const auto found = recommendations(run, run.cases[0]);
  return found.empty() ? "" : found.front().change;
}

TEST(Recommendations, KnownAnswers) {
  EXPECT_EQ(first_advice({.gb_per_s = 20}), "") << "computing takes all the time";
  EXPECT_EQ(first_advice({.jitter = 0.004, .gb_per_s = 10, .seed = 3}), "");
  EXPECT_EQ(first_advice({.gb_per_s = 10, .delays = {{.rank = 2, .where = OwnPart::kBackward, .ms = 20}}}),
            "stragglers=none");
  EXPECT_EQ(first_advice({.gb_per_s = 10, .delays = {{.where = OwnPart::kDataWait, .ms = 20}}}),
            "loader=fast");
  EXPECT_EQ(first_advice({.bucket_bytes = buckets(6, 16 << 20), .gb_per_s = 0.8}), "comm_hook=fp16_compress");
  EXPECT_THAT(first_advice({.bucket_bytes = buckets(64, 1 << 20), .alpha_ms = 1, .gb_per_s = 20}),
              HasSubstr("bucket_cap_mb="))
      << "messages cost more than bytes";
  EXPECT_THAT(first_advice({.bucket_bytes = {1 << 20, 50 << 20}, .gb_per_s = 2}), HasSubstr("bucket_cap_mb="))
      << "one bucket holds all, and nothing overlaps";
  EXPECT_EQ(first_advice({.ranks = 1}), "");
}

TEST(Recommendations, AnAttachedJobHasSettingsOfItsScript) {
  auto run = simulated_run({.gb_per_s = 10, .delays = {{.where = OwnPart::kDataWait, .ms = 20}}});
  EXPECT_THAT(recommendations(run, run.cases[0]).front().advice,
              HasSubstr("raise data.workers or data.prefetch"));
  run.cases[0].benchmark.params[result::kTraces] = "true";
  EXPECT_THAT(recommendations(run, run.cases[0]).front().advice,
              HasSubstr("raise num_workers or prefetch_factor of its DataLoader"));
  EXPECT_EQ(what_if(run, run.cases[0], parse_changes("link=2x")).front().refused,
            "the gradient buckets of a job of another program are not known");
}

TEST(SettingWords, APlanAndAScriptHaveOther) {
  CaseResult planned, attached;
  attached.benchmark.params[result::kTraces] = "true";
  const char* const advice = "set {bucket_cap_mb} to 5, use fewer {threads}, {workers}.";
  EXPECT_EQ(advice_to(planned, advice), "set ddp.bucket_cap_mb to 5, use fewer threads, data.workers.");
  EXPECT_EQ(advice_to(attached, advice),
            "set bucket_cap_mb of DistributedDataParallel to 5, use fewer threads (torch.set_num_threads, "
            "OMP_NUM_THREADS), num_workers.");
  EXPECT_THROW(advice_to(planned, "set {no_such_setting}"), Error);
}

TEST(SettingWords, AdviceAboutEachCauseNamesKnownSettings) {
  for (const auto* cause : {result::late_cause::kForeignProcess, result::late_cause::kCpuWait,
                            result::late_cause::kLoader, kLargerInputs})
    for (const char* params : {"", result::kTraces}) {
      CaseResult one;
      if (*params != 0) one.benchmark.params[params] = "true";
      const auto advice = advice_to(one, words_of_cause(cause).advice);
      EXPECT_FALSE(advice.empty());
      EXPECT_EQ(advice.find('{'), std::string::npos);
      EXPECT_TRUE(*params == 0 || advice.find("data.") == std::string::npos) << advice;
    }
}

}  // namespace
}  // namespace paceline::analysis
