// SPDX-License-Identifier: MIT
#include "cluster/meeting.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "cluster/local_address.h"

namespace paceline::cluster {
namespace {

constexpr double kNameS = 2;

bool all_here(const std::vector<Member>& roster) {
  return std::all_of(roster.begin(), roster.end(),
                     [&](const Member& member) { return member.host == roster.front().host; });
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::shared_ptr<plugin::Store> reach_store(const plugin::BackendEntry& backend,
                                           const plugin::Rendezvous& where) {
  // The name of a pod that is starting may be unknown for a while; elsewhere a wrong name stays wrong.
  const bool pods = !variable("KUBERNETES_SERVICE_HOST").empty();
  check_resolves(where.address, pods ? where.timeout_s : std::min(where.timeout_s, kNameS));
  try {
    return backend.connect(where);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kUnavailable) throw;
    throw Error(ErrorCode::kTimeout, e.what());  // it is a failure, no skipped case
  }
}

Meeting meet(const plugin::BackendEntry& backend, const Invitation& invitation) {
  Meeting meeting;
  meeting.store = reach_store(backend, invitation.where);
  meeting.self = this_process(invitation.rank, invitation.world, invitation.plan_hash);
  meeting.roster = roll_call(*meeting.store, meeting.self, invitation.where.timeout_s);
  meeting.group.rank = invitation.rank, meeting.group.world = invitation.world;
  meeting.group.timeout_s = invitation.group_timeout_s;
  meeting.group.device = invitation.device;
  meeting.group.local_address = !invitation.local_address.empty()
                                    ? invitation.local_address
                                    : local_address(invitation.where.address, invitation.where.port,
                                                    variable("GLOO_SOCKET_IFNAME"), all_here(meeting.roster));
  return meeting;
}

}  // namespace paceline::cluster
