// SPDX-License-Identifier: MIT
#include "cluster/meeting.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "base/ask_until.h"
#include "base/error.h"
#include "cluster/local_address.h"

namespace paceline::cluster {
namespace {

constexpr double kTwinS = 3;
constexpr Pauses kTwinPauses{std::chrono::milliseconds(20), std::chrono::milliseconds(200)};

bool all_here(const std::vector<Member>& roster) {
  return std::all_of(roster.begin(), roster.end(),
                     [&](const Member& member) { return member.host == roster.front().host; });
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// Where another rank 0 has taken the port, returns its store, so that the roll call there names both ranks.
// Null when something else has taken it.
std::shared_ptr<plugin::Store> store_of_a_twin(const plugin::BackendEntry& backend,
                                               plugin::Rendezvous where) {
  if (!where.serve || where.listen_fd >= 0) return nullptr;
  where.serve = false, where.timeout_s = std::min(where.timeout_s, kTwinS);
  try {
    auto store = backend.connect(where);
    const bool twin =
        ask_until(deadline_in(kTwinS), kTwinPauses, [&] { return registered(*store, 0).has_value(); });
    return twin ? store : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

std::shared_ptr<plugin::Store> reach_store(const plugin::BackendEntry& backend,
                                           const plugin::Rendezvous& where) {
  try {
    return backend.connect(where);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kUnavailable)
      throw Error(ErrorCode::kTimeout, e.what());  // the peer is missing: this is not a case to skip
    if (auto store = store_of_a_twin(backend, where)) return store;
    throw;
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
