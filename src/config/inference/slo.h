// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

namespace paceline::config {

// A latency objective such as `p99=50ms`: the p-quantile of latency is at most this long.
struct Slo {
  double p = 0.99;
  double bound_s = 0;
};

// "p99=50ms", "p99.9=2s", "p50=800us". Throws Error(kConfig).
Slo parse_slo(std::string_view text);

}  // namespace paceline::config
