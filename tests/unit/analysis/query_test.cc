// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

#include "analysis/case_query.h"
#include "analysis/closing_sentence.h"
#include "analysis/cpu_features.h"
#include "analysis/metric_value.h"
#include "analysis/ratio_verdict.h"
#include "analysis/verdict.h"
#include "base/text.h"
#include "result/figures/summarize.h"
#include "result/judged/reference.h"
#include "support/sample_runs.h"
#include "support/words.h"

namespace paceline::analysis {
namespace {

using ::paceline::testing::sample_run;
using test::says;

TEST(CaseQuery, DifferingAxes) {
  const auto run = sample_run();
  EXPECT_TRUE(differing_axes(run.cases[0].benchmark, run.cases[0].benchmark).empty());
  EXPECT_EQ(differing_axes(run.cases[0].benchmark, run.cases[4].benchmark),
            (std::vector<std::string>{"precision", "batch"}));
  auto other = run.cases[0].benchmark;
  other.params["sequence_length"] = "128";
  EXPECT_EQ(differing_axes(run.cases[0].benchmark, other), std::vector<std::string>{"params"});
}

TEST(CaseQuery, BaselinesAreThoseOthersPointTo) {
  const auto run = sample_run();
  EXPECT_TRUE(is_baseline(run, run.cases[0]));
  EXPECT_FALSE(is_baseline(run, run.cases[1]));
}

TEST(CaseQuery, ARateIsWhatTheCaseCanDo) {
  auto one = sample_run().cases[0];
  one.throughput.item = "images";
  EXPECT_EQ(rate_words(one), "18.5 images/s (18.1–18.9)");
  EXPECT_EQ(p50_words(one), "p50 54.1 ms");
  one.benchmark.scenario = Scenario::kServer;  // its throughput is what was offered
  EXPECT_FALSE(rate_of(one).value);
  one.payload.emplace<result::Load>().saturation_per_s = 120;
  EXPECT_EQ(rate_words(one), "120 requests/s at saturation");
  one.headline.p50_ns.value = Number::missing("not measured");
  EXPECT_EQ(p50_words(one), "p50 unknown");
}

TEST(CaseQuery, ListsAFewLabels) {
  const auto run = sample_run();
  EXPECT_EQ(list_labels({&run.cases[0], &run.cases[1], &run.cases[2]}, 2),
            "resnet50 eager fp32 b1, resnet50 torchscript fp32 b1 and 1 more");
}

TEST(CaseQuery, NeighbouringCasesAreARange) {
  auto run = sample_run();
  run.folder = "out/r1";
  std::vector<std::string> ids;
  for (const auto& one : run.cases) ids.push_back(one.case_id);
  EXPECT_EQ(rerun_command(run, ids), "paceline run --resume out/r1 --only 1-10");
  EXPECT_EQ(rerun_command(run, {ids[4], ids[1], ids[0], ids[2]}),
            "paceline run --resume out/r1 --only 1-3,5");
}

TEST(CaseQuery, OneIsBeatenOnlyWhereTheRatiosSaySo) {
  auto run = sample_run();
  EXPECT_TRUE(beaten(run, run.cases[0]));   // torchscript is 11 % faster at the same batch
  EXPECT_FALSE(beaten(run, run.cases[1]));  // the fastest
  run.cases[0].grade = result::Grade::kC;
  EXPECT_TRUE(beaten(run, run.cases[0]));  // its times are disturbed, the ratio has an interval of its own
  ::paceline::testing::pair_with(run.cases[1], run.cases[0], 0.7, 0.9, 1.4);
  EXPECT_FALSE(beaten(run, run.cases[0]));  // the interval holds 1
}

TEST(RatioVerdict, EqualityNeedsTheWholeIntervalWithinTheMargin) {
  auto run = sample_run();
  run.cases.resize(2);
  auto &a = run.cases[0], &b = run.cases[1];
  const auto judged = [&](double low, double value, double high) {
    ::paceline::testing::pair_with(a, b, low, value, high);
    return judge_ratio(run, Figure::kLatency, a, b).claim;
  };
  EXPECT_EQ(judged(0.99, 1, 1.01), Claim::kEqual);
  EXPECT_EQ(judged(0.8, 1, 1.25), Claim::kOpen);
  EXPECT_EQ(judged(0.5, 1, 2), Claim::kNone);  // the processes differ too much
  EXPECT_EQ(judged(1.2, 1.25, 1.3), Claim::kMore);
  EXPECT_EQ(judged(0.7, 0.75, 0.8), Claim::kLess);
  b.grade = result::Grade::kC;
  EXPECT_EQ(judged(1.2, 1.25, 1.3), Claim::kMore);
  a.repetitions.resize(5);
  EXPECT_EQ(judged(1.2, 1.25, 1.3), Claim::kNone);
}

std::string sentence(const std::function<void(result::RunResult&)>& change) {
  auto run = sample_run();
  run.cases.resize(2);
  run.cases[1].benchmark.precision = "int8";
  change(run);
  return closing_sentence(run);
}

TEST(ClosingSentence, TwoCasesAreComparedInOne) {
  EXPECT_EQ(sentence([](auto& run) {
              run.cases[1].speedup.ratio = {3.71, 3.42, 4.08, 0.95, ""};
              ::paceline::testing::judge_by_answers(run.cases[1], 1, 32);
            }),
            "torchscript int8 is 3.7 times as fast as eager fp32 (3.4–4.1); it keeps 31 of 32 answers.");
  // Between two in fp32 the reference itself says nothing: the other's answers count, whichever is faster.
  for (const std::size_t other : {0U, 1U})
    EXPECT_NE(sentence([&](auto& run) {
                run.cases[1].benchmark.precision = "fp32";
                run.cases[1].speedup.ratio = {1.5, 1.4, 1.6, 0.95, ""};
                ::paceline::testing::judge_by_answers(run.cases[other], 3, 32);
                ::paceline::testing::judge_by_answers(run.cases[1 - other], 0, 32);
              }).find("keeps 29 of 32 answers"),
              std::string::npos)
        << other;
  EXPECT_EQ(sentence([](auto& run) {
              run.cases[1].speedup.ratio = {0.8, 0.75, 0.84, 0.95, ""};
              run.cases[1].speedup.verdict = result::Speed::kSlower;
            }),
            "eager fp32 is 1.25 times as fast as torchscript int8 (1.19–1.33); torchscript int8 passes the "
            "check of "
            "its outputs.");
  EXPECT_EQ(
      sentence([](auto& run) { run.cases[1].speedup.verdict = result::Speed::kInconclusive; }),
      "Which of torchscript int8 and eager fp32 is faster cannot be said (ratio 1.10–1.16); torchscript int8 "
      "passes the check of its outputs.");
  EXPECT_EQ(sentence([](auto& run) {
              run.cases[1].speedup = {};
              run.cases[1].speedup.baseline_case_id = run.cases[0].case_id;
              run.cases[1].speedup.reason = "fewer than six pairs of processes";
              run.cases[1].repetitions_planned = 3;
            }),
            "Which of torchscript int8 and eager fp32 is faster is not claimed: fewer than six pairs of "
            "processes (use --repetitions 6); torchscript int8 passes the check of its outputs.");
}

void take_size(result::SpeedUp& s) {
  s.no_size = "the times of the processes differ too much";
  s.ratio.value = s.ratio.ci_low = s.ratio.ci_high = Number::missing(s.no_size);
}

TEST(ClosingSentence, WithoutASizeTheDirectionIsAll) {
  EXPECT_EQ(sentence([](auto& run) { take_size(run.cases[1].speedup); }),
            "torchscript int8 is faster than eager fp32; by how much cannot be said on this machine now: the "
            "times of the processes differ too much; it passes the check of its outputs.");
  EXPECT_EQ(sentence([](auto& run) {
              take_size(run.cases[1].speedup);
              run.cases[1].speedup.verdict = result::Speed::kSlower;
            }),
            "eager fp32 is faster than torchscript int8; by how much cannot be said on this machine now: the "
            "times of the processes differ too much; torchscript int8 passes the check of its outputs.");
  EXPECT_EQ(sentence([](auto& run) {
              take_size(run.cases[1].speedup);
              run.cases[1].speedup.verdict = result::Speed::kNoClaim;
              run.cases[1].speedup.reason = run.cases[1].speedup.no_size;
            }),
            "Which of torchscript int8 and eager fp32 is faster is not claimed: the times of the processes "
            "differ too much; torchscript int8 passes the check of its outputs.");
}

// Several cases, and batches, are ordered by the repetitions themselves.
TEST(ClosingSentence, WithoutASizeTheFastestIsNamedAlone) {
  auto run = sample_run();
  run.cases.resize(3);
  for (std::size_t r = 0; r < 5; ++r)
    run.cases[0].repetitions[r].p50_ns = 3 * *run.cases[0].repetitions[r].p50_ns;
  const auto fastest = closing_sentence(run);
  EXPECT_EQ(
      fastest,
      "The fastest is torchscript fp32: faster than eager fp32; by how much cannot be said on this machine "
      "now: the times of the processes differ too much; it passes the check of its outputs.");
  run = sample_run();
  run.cases[1].benchmark.batch_per_rank = 8;
  run.cases[1].repetitions[3].mean_ns = *run.cases[1].repetitions[3].mean_ns / 3;
  run.cases.resize(2);
  const auto rates = closing_sentence(run);
  EXPECT_NE(rates.find(" images/s than eager fp32 b1; by how much cannot be said"), std::string::npos)
      << rates;
  EXPECT_EQ(rates.find("–"), std::string::npos) << rates;
}

// An interrupted run has fewer than were asked for.
TEST(ClosingSentence, MoreRepetitionsAreNotAdvisedWhereTheyWereAskedFor) {
  const auto text = [](std::int64_t planned) {
    return sentence([&](auto& run) {
      run.cases[1].speedup = {};
      run.cases[1].speedup.baseline_case_id = run.cases[0].case_id;
      run.cases[1].repetitions_planned = planned;
    });
  };
  EXPECT_NE(text(3).find("(use --repetitions 6)"), std::string::npos);
  for (const auto planned : {6, 8}) EXPECT_EQ(text(planned).find("--repetitions"), std::string::npos);
}

// 99 % needs eight pairs.
TEST(ClosingSentence, TheAdviceHasTheRepetitionsThatTheConfidenceNeeds) {
  const auto text =
      sentence([](auto& run) { result::compare_to_baseline(run.cases[1], run.cases[0], 0.99); });
  EXPECT_NE(text.find("fewer than 8 pairs of processes (use --repetitions 8)"), std::string::npos) << text;
}

TEST(ClosingSentence, AnswersThatWereNotComparedAreNotCalledRight) {
  const auto text = [](const std::function<void(result::Correctness&)>& change) {
    return sentence([&](auto& run) { change(run.cases[1].correctness); });
  };
  EXPECT_TRUE(
      text([](auto& c) { c.checked = false; }).ends_with("; the outputs of torchscript int8 are unchecked."));
  EXPECT_TRUE(text([](auto& c) {
                c.independence = "the reference also ran in torchscript";
              }).ends_with("; no other engine confirms the outputs of torchscript int8."));
  EXPECT_TRUE(text([](auto& c) {
                c.verdict = answer::Verdict::kCannotSay;
              }).ends_with("; the check cannot say whether the outputs of torchscript int8 are right."));
  EXPECT_TRUE(text([](auto&) {}).ends_with("; it passes the check of its outputs."));
}

TEST(ClosingSentence, RatesOfDifferentThingsAreNotCompared) {
  const auto other_work = [](auto& run) { run.cases[1].benchmark.batch_per_rank = 8; };
  EXPECT_NE(sentence(other_work), "");
  EXPECT_EQ(sentence([&](auto& run) {
              other_work(run);
              run.cases[1].throughput.item = "sequences";
            }),
            "");
}

TEST(ClosingSentence, RanksAreNamedAsRanks) {
  const auto text = sentence([](auto& run) {
    for (auto& one : run.cases) one.benchmark.kind = WorkloadKind::kTraining;
    run.cases[1].benchmark.world_size = 4;
  });
  EXPECT_NE(text.find("eager fp32 r1"), std::string::npos) << text;
  EXPECT_NE(text.find("torchscript int8 r4"), std::string::npos) << text;
}

TEST(ClosingSentence, OneCaseIsStated) {
  EXPECT_EQ(sentence([](auto& run) { run.cases.resize(1); }),
            "resnet50 eager fp32 b1 takes 54.1 ms an inference (53.0–55.2 ms), 18.5 images/s.");
}

// The answer of a larger run: fastest, how much, whether its answers are right.
TEST(ClosingSentence, NamesTheFastestOfSeveralCases) {
  using Change = std::function<void(result::RunResult&)>;
  const auto answer = [](const Change& change) {
    auto run = sample_run();
    run.cases.resize(3);
    change(run);
    return closing_sentence(run);
  };
  EXPECT_EQ(
      answer([](auto&) {}),
      "The fastest is torchscript fp32: 1.13 times as fast as eager fp32 (1.13–1.13); it passes the check "
      "of its outputs.");
  const Change int8 = [](auto& run) {
    run.cases[1].benchmark.precision = "int8";
    run.cases[1].grade = result::Grade::kC;
    run.cases[2].benchmark.precision = "fp32", run.cases[2].benchmark.engine = "openvino";
    ::paceline::testing::judge_by_answers(run.cases[1], 1, 32);
    for (auto& r : run.cases[1].repetitions) r.p50_ns = *r.p50_ns / 2;
    run.cases[1].headline.p50_ns.value = *run.cases[1].headline.p50_ns.value / 2;
  };
  EXPECT_EQ(answer(int8),
            "The fastest is torchscript int8: 2.3 times as fast as eager fp32 (2.3–2.3); it keeps 31 of 32 "
            "answers. The times themselves are of grade C.");
  EXPECT_EQ(
      answer([&](auto& run) {
        int8(run);
        run.cases[2] = run.cases[1];
        run.cases[2].benchmark.engine = "openvino";
      }),
      "The fastest is torchscript int8 (not told apart from openvino int8): 2.3 times as fast as eager fp32 "
      "(2.3–2.3); it keeps 31 of 32 answers. The times themselves are of grade C.");
  EXPECT_TRUE(
      answer([&](auto& run) {
        for (auto& one : run.cases) one.repetitions.resize(1), one.repetitions_planned = 1;
      })
          .starts_with("Which of 3 cases is the fastest is not claimed: fewer than six pairs of processes "
                       "(use --repetitions 6). By the figures alone it is torchscript fp32; "));
  EXPECT_TRUE(answer([&](auto& run) {
                run.cases[1].repetitions = run.cases[0].repetitions;
                run.cases[1].headline = run.cases[0].headline;
                run.cases[1].headline.p50_ns.value = 54e6;
              })
                  .starts_with("torchscript fp32 and eager fp32 are the fastest, equal within 5 % (ratio "
                               "1.00–1.00); both pass "
                               "the check of their outputs."));
  const auto open = answer([&](auto& run) {
    run.cases[1].repetitions = run.cases[0].repetitions;
    for (std::size_t i = 0; i < run.cases[1].repetitions.size(); ++i)
      run.cases[1].repetitions[i].p50_ns = *run.cases[1].repetitions[i].p50_ns * (i % 2 == 0 ? 0.87 : 1.12);
    run.cases[1].headline.p50_ns.value = 50e6;
  });
  EXPECT_TRUE(
      open.starts_with("Which case is the fastest cannot be said: torchscript fp32 is 0.89–1.15 times as "
                       "fast as eager fp32; both pass"))
      << open;
  const auto alone = answer([&](auto& run) {
    for (const std::size_t i : {0, 2}) run.cases[i].outcome = result::Outcome::kFailed;
  });
  EXPECT_TRUE(alone.starts_with("resnet50 torchscript fp32 b1 takes ")) << alone;
}

TEST(ClosingSentence, ALowerPrecisionIsNamedWhereItDoesNotWin) {
  auto run = sample_run();
  run.cases.resize(3);
  auto &base = run.cases[0], &eight = run.cases[2];
  eight = base;
  eight.case_id = "eight", eight.benchmark.engine = "openvino", eight.benchmark.precision = "int8";
  for (auto& repetition : eight.repetitions) repetition.p50_ns = *repetition.p50_ns * 2;
  eight.headline.p50_ns.value = 2 * *base.headline.p50_ns.value;
  eight.correctness.checked = true;
  eight.correctness.verdict = answer::Verdict::kCannotSay;
  eight.correctness.verdict_because = "output 'y': words that decide nothing";
  eight.correctness.needs_inputs = true;
  const auto sentence = closing_sentence(run);
  EXPECT_TRUE(says(sentence, " The best in int8 is openvino int8; ")) << sentence;
  EXPECT_TRUE(says(sentence,
                   "whether its outputs are good enough needs your inputs (--load-inputs, "
                   "--calib-data)"))
      << sentence;
}

TEST(ClosingSentence, AProvenCaseIsNamedWhereTheBestIsNot) {
  auto run = sample_run();
  run.cases.resize(3);
  auto &base = run.cases[0], &proven = run.cases[1], &best = run.cases[2];
  best = base;
  best.case_id = "best", best.benchmark.engine = "openvino", best.speedup.baseline_case_id = base.case_id;
  for (std::size_t i = 0; i < best.repetitions.size(); ++i)
    best.repetitions[i].p50_ns = *best.repetitions[i].p50_ns * (i % 2 == 0 ? 0.4 : 1.6);
  best.headline.p50_ns.value = 0.3 * *base.headline.p50_ns.value;
  for (auto& repetition : proven.repetitions) repetition.p50_ns = *repetition.p50_ns / 2;
  proven.headline.p50_ns.value = *proven.headline.p50_ns.value / 2;
  const auto sentence = closing_sentence(run);
  EXPECT_TRUE(sentence.starts_with("Which of 3 cases is the fastest is not claimed: ")) << sentence;
  EXPECT_TRUE(says(sentence, " Proven: torchscript fp32 is 2.3 times as fast as eager fp32 (2.3–2.3)."))
      << sentence;
}

TEST(ClosingSentence, WordsThatAllCasesShareAreLeftOut) {
  auto run = sample_run();
  run.cases.resize(2);
  for (auto& one : run.cases) one.benchmark.params["load_inputs"] = "x:in.npy";
  run.cases[1].benchmark.params["io"] = "pinned";
  const auto sentence = closing_sentence(run);
  EXPECT_TRUE(says(sentence, "torchscript fp32 io=pinned")) << sentence;
  EXPECT_FALSE(says(sentence, "load_inputs")) << sentence;
}

// The best of the fp32 cases is a claim like any other.
TEST(ClosingSentence, TheBestInFp32IsClaimedOnlyWhereItLeads) {
  auto run = sample_run();
  run.cases.resize(3);
  auto &base = run.cases[0], &winner = run.cases[1], &other = run.cases[2];
  const auto times = [](CaseResult& one, double even, double odd, double median) {
    for (std::size_t i = 0; i < one.repetitions.size(); ++i)
      one.repetitions[i].p50_ns = *one.repetitions[i].p50_ns * (i % 2 == 0 ? even : odd);
    one.headline.p50_ns.value = median * *one.headline.p50_ns.value;
  };
  winner.benchmark.precision = "int8";
  times(winner, 0.3, 0.3, 0.3);
  other = base;
  other.case_id = "other", other.benchmark.engine = "openvino";
  const auto same = other;
  times(other, 0.6, 1.4, 0.9);
  EXPECT_TRUE(says(closing_sentence(run),
                   " Which is the best in fp32 cannot be said: openvino fp32 is not told apart from eager "
                   "fp32."))
      << closing_sentence(run);
  other = same;
  times(other, 0.8, 0.8, 0.8);
  EXPECT_TRUE(says(closing_sentence(run),
                   " The best in fp32 is openvino fp32, 1.25 times as fast as eager "
                   "fp32 ("))
      << closing_sentence(run);
}

TEST(ClosingSentence, EachModelHasItsAnswerAndBatchesAreComparedByRate) {
  const auto text = closing_sentence(sample_run());
  EXPECT_TRUE(text.starts_with(
      "The most images/s for resnet50 come from eager bf16 b8 contiguous: 2.0 times the images/s of "
      "eager fp32 b8 contiguous ("))
      << text;
  EXPECT_NE(text.find("\nThe fastest for vit_b_16 is torchscript fp32: 1.05"), std::string::npos) << text;
}

TEST(CpuFeatures, KnownAbsentAndUnknown) {
  const nlohmann::json list = {{"cpu", {{"flags", {"avx2", "amx_bf16"}}}}};
  EXPECT_EQ(cpu_has(list, "amx_bf16"), true);
  EXPECT_EQ(cpu_has(list, "amx"), false);
  EXPECT_EQ(cpu_has({{"cpu", {{"isa", "avx2 avx512_bf16"}}}}, "avx512_bf16"), true);
  EXPECT_EQ(cpu_has({{"cpu", {{"isa", nullptr}}}}, "avx2"), std::nullopt);
  EXPECT_EQ(cpu_has(nlohmann::json::object(), "avx2"), std::nullopt);
  EXPECT_EQ(missing_precision_support({{"cpu", {{"flags", {"avx512_bf16", "amx_bf16"}}}}}, "bf16"), "");
  EXPECT_EQ(missing_precision_support({{"cpu", {{"flags", {"avx512_bf16"}}}}}, "amp_bf16"),
            "this CPU has no AMX");
}

TEST(MetricValue, ACaseThatDidNotRunHasNoZero) {
  const auto run = sample_run();
  const auto& samples = *result::find_metric("samples");
  EXPECT_EQ(metric_value(samples, run.cases[0]).value, 360);
  EXPECT_FALSE(metric_value(samples, run.cases[8]).value.has_value());
  EXPECT_EQ(metric_value(samples, run.cases[8]).reason, "case skipped");
}

TEST(Headline, AnUnfinishedRunComesFirst) {
  auto run = sample_run();
  run.outcome = result::kUnfinished;
  run.folder = "out/r1";
  const auto lines = headline(run);
  ASSERT_GT(lines.size(), 1U);
  EXPECT_EQ(lines[0],
            "This run is unfinished (it was killed, or is still running): 8 of 10 cases have all their "
            "repetitions. Go on with: paceline run --resume out/r1");
}

TEST(MetricValue, SaysWhetherItIsAnEstimate) {
  CaseResult one;
  one.headline.p50_ns.value = one.throughput.per_s.value = one.device_p50_ns.value = 1.0;
  one.stats.mean_ns = 1.0;
  one.memory.rss_peak_above_load_bytes = 1;
  for (const char* name : {"p50_ms", "throughput_per_s", "device_p50_ms"})
    EXPECT_TRUE(result::find_metric(name)->get(one).estimated) << name;
  for (const char* name : {"mean_ms", "memory_mb", "samples"})
    EXPECT_FALSE(result::find_metric(name)->get(one).estimated) << name;
}

// One sentence in every form: that which closes the text of the terminal.
TEST(Headline, IsTheClosingSentence) {
  auto run = sample_run();
  run.cases.resize(2);
  EXPECT_EQ(headline(run), (std::vector<std::string>{closing_sentence(run)}));
  EXPECT_EQ(headline(sample_run()), split(closing_sentence(sample_run()), '\n'));
  EXPECT_EQ(counts_text(sample_run()), "8 of 10 cases measured (7 of grade A, 1 of grade B)");
}

TEST(Headline, WithoutAClosingSentenceItIsTheBestOfEachModelOnAverage) {
  auto run = sample_run();
  for (auto& one : run.cases) one.benchmark.kind = WorkloadKind::kTraining, one.benchmark.world_size = 1;
  const auto lines = headline(run);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(says(lines[0],
                   "resnet50 does 32.0 images/s on average with bf16 eager at batch 8 on 1 rank (its "
                   "median is 2.05 times as fast as its baseline's, 1.99–2.11); vit_b_16 does 6.67"))
      << lines[0];
  for (auto& one : run.cases)
    if (one.benchmark.model == "vit_b_16") one.benchmark.fault = "slow=1ms:rank=0";
  EXPECT_FALSE(says(headline(run)[0], "vit_b_16"));
  std::erase_if(run.cases, [](const auto& one) { return one.benchmark.model != "vit_b_16"; });
  EXPECT_TRUE(says(headline(run)[0], "vit_b_16 does")) << "there is no other case";
  EXPECT_EQ(headline({}), (std::vector<std::string>{"No case gave a valid number."}));
}

TEST(ShellWord, AShellReadsBackWhatWasTyped) {
  for (const auto& [word, written] :
       std::initializer_list<std::pair<std::string, std::string>>{{"1,8", "1,8"},
                                                                  {"model=a.onnx", "model=a.onnx"},
                                                                  {"", "''"},
                                                                  {"two words", "'two words'"},
                                                                  {"it's", "'it'\\''s'"},
                                                                  {"$HOME", "'$HOME'"},
                                                                  {"a\nb'c\\", "$'a\\x0ab\\'c\\\\'"}})
    EXPECT_EQ(shell_word(word), written);
}

}  // namespace
}  // namespace paceline::analysis
