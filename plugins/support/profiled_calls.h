// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "plugin/trainer.h"

namespace paceline::plugin_support {

// One call that a profiler saw.
struct ProfiledCall {
  std::string name;
  std::uint64_t thread = 0;
  std::int64_t start_ns = 0, end_ns = 0;
  bool scope = false;   // of Profiler::open
  bool beside = false;  // no work of its thread: a collective under way, a kernel of a device
};

// The calls as sums by name. What a call does not spend in calls inside it, on its thread, is its self time;
// so the self times of a thread add up to the time it was in any call. Calls beside their thread have none,
// and are inside nothing.
plugin::StepProfile profile_of(std::vector<ProfiledCall> calls);

}  // namespace paceline::plugin_support
