// SPDX-License-Identifier: MIT
// Checks that the address of the meeting is known, and is this host's own where it serves the store.
#pragma once
#include <atomic>

#include "cluster/launch_place.h"

namespace paceline::cluster {

// To be called before anything is started. Checks that this host knows the host that the place names, and is
// that host itself where this process is to serve the store. Throws Error(kConfig) with what was written. A
// name is looked up again for two seconds, in a pod, where others may still be starting, for `timeout_s`;
// until `interrupt`. In a pod the address may be that of a Service, which no host has.
void check_meeting_point(const LaunchPlace& place, double timeout_s, const std::atomic<bool>& interrupt);

}  // namespace paceline::cluster
