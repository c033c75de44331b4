// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "base/maybe.h"

namespace paceline::result {

// An estimate with its two-sided interval.
struct Estimate {
  Number value;
  Number ci_low;
  Number ci_high;
  double confidence = 0.95;
  // binomial | binomial_neff | binomial_processes | t_log_processes | batch_means
  // | clopper_pearson | clopper_pearson_samples | tango_score | t_weighted_fit | t_processes.
  // A ratio's binomial_processes is cut by Student's t below nine pairs.
  std::string ci_method;
};

}  // namespace paceline::result
