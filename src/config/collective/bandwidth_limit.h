// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string_view>

namespace paceline::config {

// The least bus bandwidth at a message size, such as `64M:1.5`: 1.5 GB/s (10^9 bytes) at 64 MiB.
struct BandwidthLimit {
  std::int64_t bytes = 0;
  double gb_per_s = 0;
};

// Throws Error(kConfig).
BandwidthLimit parse_bandwidth_limit(std::string_view text);

}  // namespace paceline::config
