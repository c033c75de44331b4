// SPDX-License-Identifier: MIT
// Fits latency and bandwidth of a link to times of messages of many sizes (methodology: communication
// metrics).
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "stats/interval.h"

namespace paceline::stats {

struct MessageTime {
  double bytes = 0;
  double seconds = 0;  // > 0
};

// t = alpha_s + beta_s_per_byte * bytes for sizes from from_bytes to to_bytes. The intervals are Student's t
// of the weighted fit.
struct LinkSegment {
  double from_bytes = 0, to_bytes = 0;
  double alpha_s = 0, beta_s_per_byte = 0;        // neither is below 0
  std::optional<Interval> alpha_ci{}, beta_ci{};  // none where one of the two is held at 0
};

struct LinkFit {
  std::vector<LinkSegment> segments;  // one, or two where the protocol changes (chosen by BIC)
  double rms_error = 0;               // root mean square of (fitted - measured) / measured
  [[nodiscard]] double seconds(double bytes) const;
};

// Least squares weighted by 1 / t^2, which makes an error of 3 % count alike at every size. `points` ascend
// in bytes. None for fewer than three points, or where all have one size.
std::optional<LinkFit> fit_link(std::span<const MessageTime> points, double confidence = 0.95);

}  // namespace paceline::stats
