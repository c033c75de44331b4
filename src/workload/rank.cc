// SPDX-License-Identifier: MIT
#include "workload/rank.h"

#include <ctime>

#include "base/clock.h"
#include "base/device.h"
#include "base/units.h"
#include "cluster/peer_failure.h"
#include "host/affinity.h"
#include "host/heap.h"
#include "host/process_clock.h"

namespace paceline::workload {

void Rank::run(const Membership& membership, const std::function<void()>& work) {
  start();
  if (spec_.world_size == 1 && !membership.even_alone) return work();
  meet();
  cluster::work_as_member(met_.store, met_.self, [&] {
    met_.group.deterministic = membership.deterministic;
    group_ = plugin_.backend(spec_.ranks.backend).join(met_.store, met_.group);
    work();
  });
}

void Rank::start() {
  repetition_.index = spec_.repetition;
  repetition_.process_start_ns = host::since_process_start_ns();
  repetition_.started_utc = format_utc(std::time(nullptr));
  heap_ = host::keep_freed_memory();
  if (!spec_.pin_cpus.empty()) host::pin_process(spec_.pin_cpus);
  sink_.phase("calibrate");
  calibration_ = measure::calibrate(SteadyClock{});
}

void Rank::meet() {
  sink_.phase("rendezvous");
  cluster::Invitation invitation;
  invitation.rank = static_cast<int>(spec_.rank), invitation.world = static_cast<int>(spec_.world_size);
  invitation.where = spec_.ranks.rendezvous;
  invitation.plan_hash = spec_.ranks.plan_hash;
  invitation.device = device_named(spec_.ranks.device);
  invitation.group_timeout_s = spec_.ranks.group_timeout_s;
  met_ = cluster::meet(plugin_.backend(spec_.ranks.backend), invitation);
}

std::vector<int> Rank::processes_of_host() const {
  std::vector<int> ids;
  for (const auto& one : met_.roster)
    if (one.host == met_.self.host) ids.push_back(one.process_id);
  return ids;
}

}  // namespace paceline::workload
