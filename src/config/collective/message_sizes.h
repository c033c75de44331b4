// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <vector>

#include "config/settings.h"

namespace paceline::config {

// The sizes of a sweep in bytes from min_bytes to max_bytes, as nccl-tests steps through them. Throws
// Error(kConfig) when there are more than anybody waits for.
std::vector<std::int64_t> message_sizes(const Settings& settings);

}  // namespace paceline::config
