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
  bool scope = false;            // of Profiler::open
  bool beside = false;           // no work of its thread: a collective under way
  std::uint64_t number = 0;      // of a call on the host; 0: it has none
  bool on_device = false;        // a kernel or a copy
  std::uint64_t started_by = 0;  // number of the call that handed it to the device; 0: not known
};

// The calls as sums by name. What a call does not spend in calls inside it, on its thread, is its self time;
// so the self times of a thread add up to the time it was in any call. Calls beside their thread have none,
// and are inside nothing.
// Where a device worked, self times are the device's: what a call itself handed over. Threads of the host
// that wait for each other would count one moment twice. Work that no call is known for has a row of its own.
plugin::StepProfile profile_of(std::vector<ProfiledCall> calls);

}  // namespace paceline::plugin_support
