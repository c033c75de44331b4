// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "result/stored/training.h"

// Measurements of one rank, step by step: raw data, stored in a step file (step_file.h) and, of small runs,
// as rank<k>.jsonl.
namespace paceline::result {

inline constexpr const char* kEndUnknown = "its end was not heard of within the step";

enum class StepPhase { kWarmup, kTimed, kAfter };  // kAfter: steps that finish an epoch, in no statistic

// One all-reduce; times count from the start of the step.
struct BucketTimes {
  std::int64_t bytes = 0;
  std::int64_t launch_ns = 0;
  std::optional<std::int64_t> finish_ns{};  // missing: kEndUnknown
};

// One optimizer step of one rank. step_ns lasts from taking the batch to the end of the optimizer.
struct StepRow {
  std::int64_t step = 0;  // counted since training began, before a resume too; equal on all ranks
  std::int64_t epoch = 0;
  StepPhase phase = StepPhase::kTimed;
  std::int64_t start_ns = 0;  // on this rank's monotonic clock
  std::int64_t step_ns = 0;
  PerPart<StepPart, std::int64_t> ns{};
  std::optional<double> loss{};  // mean over the rank's samples; missing: not finite
  std::int64_t correct = 0;      // correct first answers among `judged`
  std::int64_t judged = 0;
  double learning_rate = 0;
  bool skipped = false;                // by the GradScaler
  std::vector<BucketTimes> buckets{};  // by number
  std::optional<std::int64_t>
      waited_ns{};  // of exposed communication, for other ranks, where it is known; not stored

  // The part of the step that other ranks may have to wait for.
  [[nodiscard]] std::int64_t compute_ns() const { return step_ns - ns[StepPart::kExposed]; }
};

// Figures of all ranks on data that are not trained on, after an epoch.
struct HeldOutFigures {
  std::int64_t epoch = 0;
  Count samples;
  Number loss;      // mean over batches
  Number accuracy;  // share of correct first answers
  Number seconds;
};

struct RankSteps {
  RankFigures rank;  // who and where the rank is, and its memory; figures of its steps are not filled in
  Number loader_samples_per_s;
  std::vector<StepRow> rows;
  std::vector<HeldOutFigures> held_out{};  // in the table of rank 0 only
};

// A table as one line of JSON, and back. Ranks exchange tables without rows in this form.
// rank_steps_from_json throws Error(kData).
std::string rank_steps_text(const RankSteps& table);
RankSteps rank_steps_from_json(const nlohmann::json& json);

// One JSON object per line and step. `interrupted`: the repetition was, and each line says so.
std::string rank_steps_jsonl(const RankSteps& table, std::int64_t repetition, bool interrupted = false);
// One JSON object per line and epoch, with eval_… where there are figures of held-out data.
std::string epochs_jsonl(const std::vector<EpochFigures>& epochs, std::int64_t repetition);

// The figures of every epoch as CSV: the line of names, and a row per epoch; empty cells where none is known.
std::string epochs_csv_header();
std::string epochs_csv(const std::vector<EpochFigures>& epochs, std::int64_t repetition);

}  // namespace paceline::result
