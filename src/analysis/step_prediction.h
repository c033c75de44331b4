// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "result/stored/run_result.h"

// Predicts the step time of data-parallel training at more ranks from measurements at few (methodology:
// prediction). Times are in ns.
namespace paceline::analysis {

struct ReadyBucket {
  double bytes = 0;
  double before_last_ns = 0;  // how long before the last bucket it is ready
  double transfer_ns = 0;     // measured; 0: not
};

// Measurements at one number of ranks.
struct ScalePoint {
  std::int64_t world = 1;
  double own_ns = 0;     // of the typical rank until its last gradient is ready
  double own_sd_ns = 0;  // from step to step
  double straggler_wait_ns = 0;
  double communication_ns = 0;  // exposed
  double half_width_ns = 0;     // of the interval of the mean step
  std::vector<ReadyBucket> buckets{};
  [[nodiscard]] double step_ns() const { return own_ns + straggler_wait_ns + communication_ns; }
};

// A ring all-reduce of b bytes by n ranks takes 2(n-1)·alpha + 2(n-1)/n·b·beta.
struct RingCost {
  double alpha_ns = 0, ns_per_byte = 0;
  [[nodiscard]] double of(double bytes, std::int64_t world) const;
};
// Least squares weighted by 1/t² over all buckets of all points; neither part is negative.
RingCost fit_ring(const std::vector<ScalePoint>& points);

// Communication after the last gradient is ready: buckets are exchanged one after the other, each from when
// it is ready.
double exposed_communication(const std::vector<ReadyBucket>& buckets, const RingCost& link,
                             std::int64_t world);

// Expected largest of n normal numbers, in standard deviations (Blom's approximation; 0 for n = 1).
double expected_largest(std::int64_t n);

struct Prediction {
  std::int64_t world = 0;
  double step_ns = 0, low_ns = 0, high_ns = 0;
  double own_ns = 0, straggler_wait_ns = 0, communication_ns = 0;  // its parts
  bool model_only = false;  // no claim: beyond four times the largest world measured, or a doubtful case
};

struct PredictionStudy {
  std::string refused;  // why nothing is predicted; empty: it is
  std::string doubt;    // why nothing of it is claimed; then every prediction is `model_only`
  double held_out_error =
      0;  // relative, of the largest world measured, predicted from those up to half of it
  std::int64_t held_out_world = 0;
  RingCost link{};
  std::vector<Prediction> predictions{};
};

// Predicts each of `worlds` from points of one or more ranks with the same work per rank. Refuses (with the
// reason in the study) if fewer than two points have several ranks, if the largest world cannot be predicted
// within 10 % from the others, or if no times of buckets are known.
PredictionStudy predict_steps(std::vector<ScalePoint> points, const std::vector<std::int64_t>& worlds);

// Whether the ranks of a case are on several hosts.
bool is_on_hosts(const result::CaseResult& one);

// The point of a measured training case; empty without costs of its steps.
std::vector<ScalePoint> point_of(const result::CaseResult& one);

// Predictions for twice, four and eight times the largest world among a case and those that are compared with
// it. None is claimed where what one of them gains may not be. Refused if some cases have their ranks on
// one host and others on several, because one measured link does not predict another.
PredictionStudy predict_beyond(const result::RunResult& run, const std::string& base_case_id);

}  // namespace paceline::analysis
