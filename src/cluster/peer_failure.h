// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cluster/roll_call.h"
#include "plugin/rank_group.h"

// Finds out over the store which rank failed first. The others only see that a peer is gone.
namespace paceline::cluster {

// Reports on the store which rank failed by itself, and why; the first report counts. If the store is gone,
// no further error is raised.
void report_failure(plugin::Store& store, const std::string& sentence) noexcept;

// Returns the reported sentence; empty if none came within `patience_s`.
std::string reported_failure(plugin::Store& store, double patience_s) noexcept;

// Runs the work of a rank in its group. What the group throws (Error(kUnavailable)) becomes a PeerFailure
// with the message of the failed rank; any other exception is reported to the others and rethrown. A store
// that does not answer because the network is down delays neither for long.
void work_as_member(const std::shared_ptr<plugin::Store>& store, const Member& self,
                    const std::function<void()>& work);

}  // namespace paceline::cluster
