// SPDX-License-Identifier: MIT
// Rough times of the parts of a case, from stored runs of this host, or from its kind of CPU and the size of
// the model. Only for --dry-run.
#pragma once
#include <optional>

#include "config/case.h"

namespace paceline::run {

enum class Times { kSteady, kUnsteady };  // kUnsteady: measured until the time limit
enum class End { kLow, kHigh };           // of the range of an estimate

// Medians of a case in a stored run.
struct StoredSpeed {
  double iteration_s = 0;  // of an inference with its batch, or of a training step
  double start_s = 0;      // from the start of a worker to its loaded model
};

// Facts that an estimate uses.
struct Pace {
  Times times = Times::kSteady;
  End end = End::kHigh;
  std::optional<StoredSpeed> stored{};
};

// Time of a case outside its workers' loops: a look for a quiet machine, the peak, inputs, the report.
double seconds_beside(End end);
// Start of a worker with its library and model.
double worker_start_s(const Pace& pace);
// Seconds of an iteration or step where a stored run has them.
std::optional<double> stored_iteration_s(const Pace& pace);
// A forward pass of one batch, from the size of the model.
double forward_seconds(const config::Case& c, End end);
// Whether the estimate is from the size of a model file alone.
bool is_guessed(const config::Case& c);

// Timed iterations under the stop rule.
double seconds_by_the_rule(const config::Settings& s, double iteration, Times times);

}  // namespace paceline::run
