// SPDX-License-Identifier: MIT
#include "cluster/meeting_point.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/ask_until.h"
#include "base/error.h"
#include "base/resolve.h"
#include "cluster/local_address.h"

namespace paceline::cluster {
namespace {

constexpr double kNameS = 2;
constexpr Pauses kNamePauses{std::chrono::milliseconds(500), std::chrono::milliseconds(500)};

bool in_a_pod() {
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  return host && *host;
}

void check_name(const LaunchPlace& place, double timeout_s, const std::atomic<bool>& interrupt) {
  std::string problem;
  const bool known = ask_until(deadline_in(timeout_s), kNamePauses, [&] {
    return interrupt || resolve(place.address, place.port, SOCK_STREAM, problem) != nullptr;
  });
  if (known) return;
  const bool from_slurm = place.written.starts_with("SLURM");
  throw Error(
      ErrorCode::kConfig,
      fmt::format("{}: the host '{}' is unknown here: {}; {} a name or address that this host resolves",
                  place.written, place.address, problem, from_slurm ? "set MASTER_ADDR to" : "give"));
}

// Refuses a name of rank 0 that leads to this host, where ranks are on several hosts. A process on the host
// of rank 0 has that host's name. Some launchers do not report how many ranks share a host: 127.0.0.1 may
// then be right.
void check_other(const LaunchPlace& place) {
  if (place.world == place.local_world) return;
  const auto loopback = misleading_loopback(place.address);
  if (loopback.empty() || (place.launcher == "environment" && loopback == "127.0.0.1")) return;
  throw Error(ErrorCode::kConfig,
              fmt::format("{}: '{}' is {} here, which is this host itself and not the one of rank 0; correct "
                          "that line in /etc/hosts, or give an address",
                          place.written, place.address, loopback));
}

void check_own(const LaunchPlace& place) {
  if (is_this_host(place.address)) return;
  const auto* self = place.launcher == "by hand" ? "--node-rank 0" : "rank 0";
  throw Error(ErrorCode::kConfig,
              fmt::format("{}: the host of {} keeps the store, and this one does not have that address; it "
                          "has {}; correct the address, or start {} on the host that has it",
                          place.written, self, own_interfaces(), self));
}

}  // namespace

void check_meeting_point(const LaunchPlace& place, double timeout_s, const std::atomic<bool>& interrupt) {
  const bool pod = in_a_pod();
  check_name(place, pod ? timeout_s : std::min(timeout_s, kNameS), interrupt);
  if (pod || interrupt) return;
  place.serves() ? check_own(place) : check_other(place);
}

}  // namespace paceline::cluster
