// SPDX-License-Identifier: MIT
// Sums up calls that a profiler saw as self and total times by name.
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
  bool scope = false;            // opened by Profiler::open
  bool beside = false;           // not work of its thread: a collective in flight
  std::uint64_t number = 0;      // of a call on the host; 0: it has none
  bool on_device = false;        // a kernel or a copy
  std::uint64_t started_by = 0;  // number of the call that launched it on the device; 0: not known
  bool launches = false;     // a call of the device's API, as cudaLaunchKernel; inside the call that made it
  std::uint64_t launch = 0;  // equal for such a call and its work on the device; 0: not known
};

// Sums of the calls by name. The self time of a call is what it does not spend in calls inside it on its
// thread, so the self times of a thread add up to the time that it was in any call. Calls beside their thread
// have no self time and are inside nothing. Where a device worked, self times are the device's: the work that
// a call itself launched, because host threads that wait for each other would count the same moment twice.
// Work without a known call is a separate row. Calls of the device's API do not count.
plugin::StepProfile profile_of(std::vector<ProfiledCall> calls);

// How long a device was busy with those of the calls that are work on it; streams may overlap.
double busy_time(const std::vector<ProfiledCall>& calls);

}  // namespace paceline::plugin_support
