// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string_view>

namespace paceline::config {

// A latency objective such as `p99=50ms`: the p-quantile of latency is at most this long.
struct Slo {
  double p = 0.99;
  double bound_s = 0;
};

// "50ms", "2s" or "800us" in seconds, "0" as well; none for other text.
std::optional<double> seconds_in(std::string_view text);

// "p99=50ms", "p99.9=2s", "p50=800us". Throws Error(kConfig).
Slo parse_slo(std::string_view text);

}  // namespace paceline::config
