// SPDX-License-Identifier: MIT
// Figures that a search can optimise.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/maybe.h"
#include "base/workload_kind.h"
#include "result/stored/case_result.h"
#include "result/stored/samples.h"

namespace paceline::cli {

// Samples of a process of which one lies above a percentile, which exists from there on.
constexpr std::int64_t fewest_samples(int percent) {
  return 100 / (100 - percent);
}

// A case with what its passes brought beside its result.
struct MeasuredArm {
  const result::CaseResult* one = nullptr;
  const std::vector<result::Sample>* samples = nullptr;         // null: not known
  const std::vector<result::SampledWindow>* sampled = nullptr;  // likewise
  double items_per_iteration = 1;                               // pictures or sequences
};

struct Objective {
  WorkloadKind kind;
  std::string_view name;    // as in --objective
  std::string_view words;   // "median latency"
  std::string_view metric;  // of the whole case, in the table of metrics
  // Figure of one process, lower is better; for throughput the time per item.
  Number (*cost)(const MeasuredArm& arm, std::int64_t repetition);
};

// Throws Error(kUsage) for one that the kind does not have, with those that it has.
const Objective& find_objective(WorkloadKind kind, std::string_view name);

// The value of a metric with its unit: "3.21 ms"; empty where there is none.
std::string metric_words(std::string_view metric, const result::CaseResult& one);
// Its interval in the same unit: "3.15–3.30"; empty where there is none.
std::string metric_range(std::string_view metric, const result::CaseResult& one);

}  // namespace paceline::cli
