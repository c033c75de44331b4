// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

#include "cluster/launch_place.h"

namespace paceline::cluster {

// Before anything is started: the host that the place names is known here, and is this one where this process
// is to serve the store. Throws Error(kConfig) with what was written. A name is asked for again for two
// seconds, in a pod, where others may still be starting, for `timeout_s`; until `interrupt`. In a pod the
// address may be that of a Service, which no host has.
void check_meeting_point(const LaunchPlace& place, double timeout_s, const std::atomic<bool>& interrupt);

}  // namespace paceline::cluster
