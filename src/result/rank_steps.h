// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "result/training.h"

// What one rank measured, step by step: raw data, kept as rank<k>.jsonl.
namespace paceline::result {

enum class StepPhase { kWarmup, kTimed, kAfter };  // kAfter: to finish an epoch, in no statistic

// One all-reduce; times from the start of the step.
struct BucketTimes {
  std::int64_t bytes = 0;
  std::int64_t launch_ns = 0;
  Count finish_ns = Count::missing("its end was not heard of within the step");
};

// One optimizer step of one rank. step_ns is from taking the batch to the end of the optimizer.
struct StepRow {
  std::int64_t step = 0;  // since training began, also before a resume; the same on every rank
  std::int64_t epoch = 0;
  StepPhase phase = StepPhase::kTimed;
  std::int64_t start_ns = 0;  // on this rank's monotonic clock
  std::int64_t step_ns = 0;
  std::int64_t data_wait_ns = 0, input_ns = 0, forward_ns = 0, backward_ns = 0, exposed_ns = 0,
               optimizer_ns = 0;
  Number loss;               // mean over the rank's samples
  std::int64_t correct = 0;  // right first answers of `judged`
  std::int64_t judged = 0;
  double learning_rate = 0;
  bool skipped = false;                // by the GradScaler
  std::vector<BucketTimes> buckets{};  // by number

  // What the others may have to wait for.
  [[nodiscard]] std::int64_t compute_ns() const { return step_ns - exposed_ns; }
};

// Of all ranks on data that are not trained on, after an epoch.
struct HeldOutFigures {
  std::int64_t epoch = 0;
  Count samples;
  Number loss;      // mean over batches
  Number accuracy;  // share of right first answers
  Number seconds;
};

struct RankSteps {
  RankFigures rank;  // who and where it is, and its memory; figures of its steps are not filled in
  Number loader_samples_per_s;
  std::vector<StepRow> rows;
  std::vector<HeldOutFigures> held_out{};  // of rank 0's table only
};

// As it travels from rank to rank (one line of text) and to the coordinator. Reading throws Error(kData).
std::string rank_steps_text(const RankSteps& table);
RankSteps rank_steps_from_json(const nlohmann::json& json);

// One JSON object a line and step. `interrupted`: the repetition was, and each line says so.
std::string rank_steps_jsonl(const RankSteps& table, std::int64_t repetition, bool interrupted = false);
// One JSON object a line and epoch, with eval_… where there are figures of held-out data.
std::string epochs_jsonl(const std::vector<EpochFigures>& epochs, std::int64_t repetition);

}  // namespace paceline::result
