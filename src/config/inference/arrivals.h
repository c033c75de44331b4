// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "config/settings.h"

namespace paceline::config {

// The file of a recorded schedule that server.arrival names; empty: arrivals are drawn.
std::string schedule_file(const Settings& settings);

}  // namespace paceline::config
