// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>

#include "config/settings.h"

// Facts about the recorded schedule that server.arrival names, before it is replayed.
namespace paceline::run {

struct RecordedSchedule {
  double times = 0, rate_per_s = 0;  // number of them, and their mean rate
  std::string digest;                // of the times as the settings scale them
};

// None: arrivals are drawn, or the file cannot be read now.
std::optional<RecordedSchedule> recorded_schedule(const config::Settings& s);

}  // namespace paceline::run
