// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "monitor/snapshot.h"

namespace paceline::monitor {

inline constexpr const char* kExpositionType = "text/plain; version=0.0.4; charset=utf-8";

// The text that Prometheus scrapes (its exposition format 0.0.4).
std::string exposition(const Snapshot& snapshot);

}  // namespace paceline::monitor
