// SPDX-License-Identifier: MIT
#include "result/figures/summarize_training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "result/figures/aligned_steps.h"
#include "result/metric_table.h"
#include "result/stored/result_json.h"
#include "support/times.h"

namespace paceline::result {
namespace {

using test::kMs;

// A step of 100 ms: wait 2, input 1, forward 30, backward 55, exposed 7, optimizer 5; a little different from
// step to step, and `factor` times as long in its forward pass.
StepRow row(std::int64_t step, double factor = 1) {
  StepRow r;
  r.step = step;
  r.epoch = step / 10;
  r.phase = step < 2 ? StepPhase::kWarmup : StepPhase::kTimed;
  r.start_ns = step * 200 * kMs;
  r.ns[StepPart::kDataWait] = 2 * kMs;
  r.ns[StepPart::kInput] = kMs;
  r.ns[StepPart::kForward] =
      30 * kMs + (step % 5) * 1000 + static_cast<std::int64_t>((factor - 1) * 93 * kMs);
  r.ns[StepPart::kBackward] = 55 * kMs;
  r.ns[StepPart::kExposed] = 7 * kMs;
  r.ns[StepPart::kOptimizer] = 5 * kMs;
  r.step_ns = r.ns.sum();
  r.loss = 7.0 - 0.1 * static_cast<double>(step);
  r.correct = step;
  r.judged = 32;
  r.learning_rate = 0.1;
  r.buckets = {{1 << 20, 40 * kMs, 60 * kMs}, {4 << 20, 70 * kMs, 90 * kMs}};
  return r;
}

RankSteps table(std::int64_t rank, double factor = 1, std::int64_t steps = 32) {
  RankSteps t;
  t.rank.rank = rank;
  t.rank.host = "node";
  t.loader_samples_per_s = 500.0;
  for (std::int64_t s = 0; s < steps; ++s) t.rows.push_back(row(s, factor));
  return t;
}

// Four ranks; rank 2 computes 10 % longer. Each table by itself: the others do not wait for it.
std::vector<RankSteps> one_slow() {
  return {table(0), table(1), table(2, 1.1), table(3)};
}

std::vector<RankSteps> others_wait() {
  auto ranks = one_slow();
  for (const std::size_t waiting : {0, 1, 3})
    for (auto& r : ranks[waiting].rows) r.ns[StepPart::kExposed] += 9'300'000, r.step_ns += 9'300'000;
  return ranks;
}

Training summarized(std::vector<RankSteps> ranks) {
  Training t;
  t.ddp = true;
  summarize_training(t, std::move(ranks), 128);
  return t;
}

std::string text_of(const Training& training) {
  CaseResult c;
  c.payload = training;
  return to_json(c).dump();
}

TEST(SummarizeTraining, OneRankTenPercentSlowIsNamed) {
  const Training t = summarized(others_wait());
  EXPECT_NEAR(*t.straggler_index, 1.10, 0.01);
  ASSERT_TRUE(t.straggler_rank);
  EXPECT_EQ(*t.straggler_rank, 2);
  EXPECT_EQ(t.ranks[2].slowest_steps, 30);
  EXPECT_EQ(t.ranks[0].slowest_steps, 0);
}

TEST(SummarizeTraining, EqualRanksHaveNoStraggler) {
  const Training t = summarized({table(0), table(1)});
  EXPECT_DOUBLE_EQ(*t.straggler_index, 1);
  EXPECT_FALSE(t.straggler_rank);
  EXPECT_EQ(t.straggler_rank.reason(), "no rank is late with certainty");
}

TEST(SummarizeTraining, TheOrderOfRanksDoesNotMatter) {
  auto ranks = one_slow();
  const auto samples = step_samples(ranks, 0);
  const auto text = text_of(summarized(ranks));
  std::reverse(ranks.begin(), ranks.end());
  std::reverse(ranks[1].rows.begin(), ranks[1].rows.end());
  EXPECT_EQ(text_of(summarized(ranks)), text);
  EXPECT_EQ(step_samples(ranks, 0), samples);
}

TEST(SummarizeTraining, AStepTakesAsLongAsItsSlowestRank) {
  const auto samples = step_samples(one_slow(), 3);
  ASSERT_EQ(samples.size(), 30U);
  for (const auto& s : samples) {
    EXPECT_EQ(s.rank, 2);
    EXPECT_EQ(s.repetition, 3);
    EXPECT_EQ(s.host_ns, row(s.index + 2, 1.1).step_ns);
    EXPECT_EQ(s.start_ns, row(s.index + 2).start_ns);
  }
}

void expect_refused(const std::vector<RankSteps>& ranks, const char* words) {
  try {
    step_samples(ranks, 0);
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kData);
    EXPECT_NE(std::string(e.what()).find(words), std::string::npos) << e.what();
  }
}

TEST(SummarizeTraining, StepsThatDoNotFitTogetherAreRefused) {
  auto lacking = one_slow();
  lacking[1].rows.erase(lacking[1].rows.begin() + 5);
  expect_refused(lacking, "rank 1 lacks step 5");
  auto first_lacks = one_slow();
  first_lacks[0].rows.pop_back();
  expect_refused(first_lacks, "rank 0 lacks step 31");
  auto several = one_slow();
  several[1].rows.erase(several[1].rows.begin() + 5, several[1].rows.begin() + 8);
  several[1].rows.erase(several[1].rows.begin() + 9);
  several[3].rows.clear();
  expect_refused(several, "rank 1 lacks steps 5 to 7, 12; rank 3 lacks steps 0 to 31;");
  std::vector<RankSteps> many;
  for (std::int64_t rank = 0; rank < 12; ++rank) many.push_back(table(rank));
  for (std::size_t rank = 2; rank < 12; ++rank) many[rank].rows.pop_back();
  expect_refused(many, "rank 6 lacks step 31 and 5 more ranks;");
  auto twice = one_slow();
  twice[3].rows[8].step = 7;
  expect_refused(twice, "rank 3 has two rows of step 7");
  auto phases = one_slow();
  phases[2].rows[4].phase = StepPhase::kWarmup;
  expect_refused(phases, "rank 2 counts differently step 4");
  expect_refused({}, "without a single step");
}

TEST(SummarizeTraining, RanksOfAWorldThatAreNotThereAreNamed) {
  const auto words_of = [](const std::vector<RankSteps>& ranks, std::int64_t world) {
    try {
      require_ranks(ranks, world);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(words_of({table(1), table(0)}, 2), "");
  const auto words = words_of({table(1), table(1), table(7)}, 3);
  for (const auto* part :
       {"rank 0 sent no steps", "rank 1 sent its steps twice", "rank 2 sent no steps", "rank 7 is none of 3"})
    EXPECT_NE(words.find(part), std::string::npos) << words;
}

TEST(SummarizeTraining, PartsAreMediansOfTheMeanOverRanks) {
  const Training t = summarized({table(0), table(1)});
  EXPECT_DOUBLE_EQ(*t.parts.ns[StepPart::kDataWait], 2.0 * kMs);
  EXPECT_DOUBLE_EQ(*t.parts.ns[StepPart::kBackward], 55.0 * kMs);
  EXPECT_DOUBLE_EQ(*t.parts.ns[StepPart::kExposed], 7.0 * kMs);
  EXPECT_NEAR(*t.exposed_share, 0.07, 1e-4);
  EXPECT_NEAR(*t.data_wait_share, 0.02, 1e-4);
  EXPECT_DOUBLE_EQ(*t.overlap_ratio, 0.5);
  EXPECT_DOUBLE_EQ(*t.sync_variation, 1);
  EXPECT_DOUBLE_EQ(*t.loader_samples_per_s, 1000);
  EXPECT_EQ(*t.collectives_per_step, 2);
  ASSERT_EQ(t.buckets.size(), 2U);
  EXPECT_EQ(t.buckets[1].bytes, 4 << 20);
  EXPECT_DOUBLE_EQ(*t.buckets[1].launched_ns, 70.0 * kMs);
}

double sum_of(const StepShares& s) {
  double sum = 0;
  for (const Number& share : s.values) sum += share.value().value_or(0);
  return sum;
}

// Long forward passes in some steps, long backward passes in others: medians of the parts do not add up.
RankSteps uneven(std::int64_t rank) {
  auto t = table(rank);
  for (auto& r : t.rows) {
    r.ns[StepPart::kForward] = (r.step % 3 == 0 ? 10 : 80) * kMs;
    r.ns[StepPart::kBackward] = (r.step % 3 == 1 ? 10 : 80) * kMs;
    r.step_ns = r.ns.sum();
  }
  return t;
}

TEST(SummarizeTraining, SharesOfUnevenStepsAddUpToOne) {
  const Training t = summarized({uneven(0)});
  EXPECT_GT((*t.parts.ns[StepPart::kForward] + *t.parts.ns[StepPart::kBackward]) / *t.parts.step_ns, 1.5);
  EXPECT_NEAR(sum_of(t.shares), 1, 1e-12);
  // 30 timed steps: each pass is short in 10 of them.
  EXPECT_NEAR(*t.shares[StepPart::kForward], (20 * 80 + 10 * 10) / (20 * 105. + 10 * 175), 1e-9);
  EXPECT_EQ(*t.exposed_share, *t.shares[StepPart::kExposed]);
  EXPECT_EQ(*t.data_wait_share, *t.shares[StepPart::kDataWait]);
}

// The table of parts and the list of what a step loses time to.
TEST(SummarizeTraining, EveryShareIsThatOfTheTypicalRank) {
  const Training t = summarized(one_slow());
  const double step = *t.costs.step_ns.value;
  EXPECT_DOUBLE_EQ(*t.exposed_share, *t.straggler_wait_share + *t.communication_share);
  EXPECT_DOUBLE_EQ(*t.data_wait_share, *t.costs.own_ns[OwnPart::kDataWait].value / step);
  EXPECT_DOUBLE_EQ(*t.shares[StepPart::kBackward], *t.costs.own_ns[OwnPart::kBackward].value / step);
  EXPECT_LE(sum_of(t.shares), 1 + 1e-12);
}

TEST(CombinedTraining, SharesAddUpOverRepetitionsToo) {
  std::vector<Repetition> repetitions(3);
  for (std::size_t i = 0; i < 3; ++i) {
    auto ranks = std::vector{table(0)};
    for (auto& r : ranks[0].rows) {
      (i == 0   ? r.ns[StepPart::kForward]
       : i == 1 ? r.ns[StepPart::kBackward]
                : r.ns[StepPart::kOptimizer]) += 50 * kMs;
      r.step_ns += 50 * kMs;
    }
    repetitions[i].payload = summarized(ranks);
  }
  const auto all = combined_training(repetitions);
  EXPECT_NEAR(sum_of(all.value().shares), 1, 1e-12);
  EXPECT_EQ(*all->exposed_share, *all->shares[StepPart::kExposed]);
}

TEST(SummarizeTraining, EpochsHoldLossAccuracyAndRate) {
  const Training t = summarized({table(0), table(1)});
  ASSERT_EQ(t.epochs.size(), 4U);
  const EpochFigures& second = t.epochs[1];
  EXPECT_EQ(second.steps, 10);
  EXPECT_EQ(second.samples, 1280);
  EXPECT_NEAR(*second.loss, 7 - 0.1 * 14.5, 1e-12);
  EXPECT_NEAR(*second.accuracy, 14.5 / 32, 1e-12);
  EXPECT_NEAR(*second.seconds, 1.9, 0.001);
  EXPECT_NEAR(*second.samples_per_s, 1280 / 1.9, 1);
  EXPECT_EQ(t.epochs[3].steps, 2);
  EXPECT_EQ(*t.steps, 32);
  EXPECT_NEAR(*t.last_loss, 7 - 3.1, 1e-12);
  EXPECT_NEAR(*t.total_ns, 31 * 200e6 + 100e6, 1e5);
}

TEST(SummarizeTraining, OneRankAloneHasNeitherCommunicationNorStraggler) {
  Training t;
  summarize_training(t, {table(0)}, 32);
  EXPECT_EQ(t.exposed_share.reason(), "one rank without DDP");
  EXPECT_EQ(t.straggler_index.reason(), "one rank without DDP");
  EXPECT_FALSE(t.straggler_rank);
}

TEST(SummarizeTraining, RanksWithoutDdpAreNotCalledOne) {
  Training t;
  summarize_training(t, {table(0), table(1)}, 32);
  EXPECT_EQ(t.exposed_share.reason(), "ranks without DDP do not communicate");
  EXPECT_EQ(t.overlap_ratio.reason(), "ranks without DDP do not communicate");
}

TEST(SummarizeTraining, ALossThatIsNoNumberIsMissing) {
  auto ranks = one_slow();
  for (auto& rank : ranks) rank.rows.back().loss.reset();
  EXPECT_FALSE(summarized(ranks).last_loss);
}

TEST(RankStepsText, ComesBackAsItWas) {
  auto t = table(1);
  t.rows[3].skipped = true;
  const auto text = rank_steps_text(t);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const auto back = rank_steps_from_json(nlohmann::json::parse(text));
  EXPECT_EQ(rank_steps_text(back), text);
  EXPECT_EQ(back.rank.host, "node");
  EXPECT_TRUE(back.rows[3].skipped);
  EXPECT_EQ(back.rows[0].phase, StepPhase::kWarmup);
  EXPECT_THROW(rank_steps_from_json(nlohmann::json::parse(R"({"rows": [{"phase": "lunch"}]})")), Error);
}

TEST(EpochLines, HoldFiguresOfHeldOutDataWhereThereAreAny) {
  std::vector<EpochFigures> epochs(2);
  epochs[1].epoch = 1;
  epochs[1].eval_samples = 40, epochs[1].eval_loss = 1.5;
  epochs[1].eval_accuracy = Number::missing("no labels to judge by");
  const auto lines = epochs_jsonl(epochs, 3);
  const auto end = lines.find('\n');
  const auto first = nlohmann::json::parse(lines.substr(0, end)),
             second = nlohmann::json::parse(lines.substr(end));
  EXPECT_FALSE(first.contains("eval_loss"));
  EXPECT_FALSE(first.contains("eval_loss_reason"));
  EXPECT_EQ(second.at("epoch"), 1);
  EXPECT_EQ(second.at("repetition"), 3);
  EXPECT_EQ(second.at("eval_loss"), 1.5);
  EXPECT_EQ(second.at("eval_samples"), 40);
  EXPECT_TRUE(second.at("eval_accuracy").is_null());
  EXPECT_EQ(second.at("eval_accuracy_reason"), "no labels to judge by");
}

TEST(EpochTable, HasARowPerEpochAndEmptyCells) {
  const auto t = summarized({table(0), table(1)});
  const auto names = split(epochs_csv_header(), ','),
             cells = split(split(epochs_csv(t.epochs, 2), '\n').at(1), ',');
  ASSERT_EQ(names.size(), cells.size());
  std::map<std::string, std::string> row;
  for (std::size_t i = 0; i < names.size(); ++i) row[std::string(trim(names[i]))] = cells[i];
  EXPECT_EQ(row.at("repetition"), "2");
  EXPECT_EQ(row.at("epoch"), "1");
  EXPECT_EQ(row.at("steps"), "10");
  EXPECT_EQ(row.at("samples"), "1280");
  EXPECT_NEAR(std::stod(row.at("step_mean_ms")), *t.epochs[1].step_mean_ns * 1e-6, 1e-3);
  EXPECT_LE(std::stod(row.at("step_p50_ms")), std::stod(row.at("step_p95_ms")));
  EXPECT_NEAR(std::stod(row.at("throughput_per_s")), 1280 / 1.9, 1);
  EXPECT_EQ(row.at("eval_accuracy"), "");
}

// In result.json and among the metrics: of the last epoch that was followed by a look at held-out data.
TEST(SummarizeTraining, HeldOutFiguresStandWithTheirEpoch) {
  auto ranks = std::vector{table(0), table(1)};
  for (const std::int64_t epoch : {0, 2}) {
    HeldOutFigures& seen = ranks[0].held_out.emplace_back();
    seen.epoch = epoch, seen.samples = 40, seen.loss = 1.5 - 0.1 * static_cast<double>(epoch);
    seen.accuracy = 0.25 * static_cast<double>(epoch + 1), seen.seconds = 0.1;
  }
  const Training t = summarized(ranks);
  EXPECT_EQ(t.epochs.at(2).eval_accuracy, Number(0.75));
  EXPECT_EQ(t.epochs[0].eval_loss, Number(1.5));
  EXPECT_EQ(t.epochs[1].eval_loss.reason(), "no held-out data were looked at after this epoch");
  CaseResult one;
  one.payload = t;
  EXPECT_EQ(to_json(one).at("training").at(0).at("epochs").at(2).at("eval_accuracy"), 0.75);
  const auto* metric = find_metric("eval_accuracy");
  ASSERT_NE(metric, nullptr);
  EXPECT_EQ(metric->get(one).value, 0.75);
  one.payload = summarized({table(0)});
  EXPECT_FALSE(metric->get(one).value);
}

TEST(RankStepsText, OneLineAStep) {
  const auto lines = rank_steps_jsonl(table(1), 2);
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 32);
  const auto first = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
  EXPECT_EQ(first.at("rank"), 1);
  EXPECT_EQ(first.at("repetition"), 2);
  EXPECT_EQ(first.at("backward_ns"), 55 * kMs);
}

TEST(CombinedTraining, SpeedIsTheMedianOverRepetitions) {
  std::vector<Repetition> repetitions(3);
  for (std::size_t i = 0; i < 3; ++i) {
    Training t = summarized(one_slow());
    t.last_loss = static_cast<double>(i);
    if (i == 1) t.straggler_rank = 0;
    repetitions[i].payload = t;
  }
  const auto all = combined_training(repetitions);
  ASSERT_TRUE(all);
  EXPECT_DOUBLE_EQ(*all->exposed_share, *summarized(one_slow()).exposed_share);
  EXPECT_DOUBLE_EQ(*all->last_loss, 2);
  EXPECT_FALSE(all->straggler_rank);
  EXPECT_FALSE(combined_training({}));
}

}  // namespace
}  // namespace paceline::result
