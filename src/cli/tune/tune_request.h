// SPDX-License-Identifier: MIT
// Request of a search: kind of its cases, objective, limits, budget, and the words of their command.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/gates.h"
#include "base/workload_kind.h"
#include "cli/tune/objectives.h"
#include "config/flag_set.h"
#include "tune/search.h"

namespace paceline::cli {

// A limit that an arm must meet.
struct Limit {
  std::string written;                 // "p99<=20ms"
  std::optional<analysis::Gate> gate;  // none: on the change of top-1
  bool is_exact = false;               // found by the check of outputs, which no round repeats
};

struct TuneRequest {
  WorkloadKind kind = WorkloadKind::kInference;
  bool names_kind = false;         // by its command: tune train
  config::FlagSet own;             // flags of tune itself
  std::vector<std::string> words;  // of the command that runs the cases, as typed
  const Objective* objective = nullptr;
  std::vector<Limit> limits;
  double budget_s = 0;
  std::vector<std::string> axes;           // of --axes; empty: chosen by the model and the machine
  std::optional<double> most_top1_change;  // share; from --min-accuracy 'top1>=-0.5%'
};

// Throws Error(kUsage) for values that cannot be read, and for those that the kind does not have.
TuneRequest tune_request(const std::vector<std::string>& arguments);

// "p99<=20ms", "p50 <= 800us" or a gate. Throws Error(kUsage).
Limit parse_limit(const std::string& flag, const std::string& text);

// Samples of a process that the percentiles above the median among objective and limits need; 0: there is
// none.
std::int64_t samples_for_percentiles(const TuneRequest& request);

// Judges one repetition of an arm, with its limits by all repetitions so far.
tune::Outcome outcome_of(const TuneRequest& request, const MeasuredArm& arm, std::int64_t repetition);

}  // namespace paceline::cli
