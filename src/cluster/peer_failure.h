// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cluster/roll_call.h"
#include "plugin/rank_group.h"

// Who failed first? The others only see that a peer is gone.
namespace paceline::cluster {

// This rank failed because another had. The message names the other where it could be found out.
class PeerFailure : public Error {
 public:
  explicit PeerFailure(const std::string& message) : Error(ErrorCode::kUnavailable, message) {}
};

// Says on the store which rank failed by itself, and why; the first to do so is believed. A store that is
// gone is no reason to fail once more. `prefix`: of the keys of the group, where `store` has them below
// others.
void tell_failure(plugin::Store& store, const std::string& sentence, const std::string& prefix = "") noexcept;

// What was told, in words; empty when nobody did within `patience_s`.
std::string told_failure(plugin::Store& store, double patience_s) noexcept;

// Does a rank's work in its group. What the group throws (Error(kUnavailable)) becomes a PeerFailure with the
// culprit's own words; any other exception is told to the others and passed on. A store that does not answer,
// because the network is down, holds neither up for long.
void work_as_member(const std::shared_ptr<plugin::Store>& store, const Member& self,
                    const std::function<void()>& work);

}  // namespace paceline::cluster
