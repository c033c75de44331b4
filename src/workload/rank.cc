// SPDX-License-Identifier: MIT
#include "workload/rank.h"

#include <algorithm>

#include "base/device.h"
#include "cluster/peer_failure.h"
#include "host/machine/heap.h"

namespace paceline::workload {

Rank::Rank(const pass::PassSpec& spec, TaggedSink& sink) : spec_(spec), sink_(sink) {
  for (const auto& one : spec.plugins)
    if (one.role != plugin::Role::kSampler) plugins_.try_emplace(one.role, one.file);
}

const plugin::BackendEntry& Rank::backend() const {
  return plugin(plugin::Role::kBackend)
      .entry<plugin::Role::kBackend>(spec_.plugin(plugin::Role::kBackend).name);
}

void Rank::run(const Membership& membership, const std::function<void()>& work) {
  heap_ = host::keep_freed_memory();
  timed_.emplace(spec_, sink_);
  const WindowScope ends_before_what_it_observes(timed_->window);
  if (spec_.world_size == 1 && !membership.even_alone) return work();
  meet();
  cluster::work_as_member(met_.store, met_.self, [&] {
    met_.group.deterministic = membership.deterministic;
    group_ = backend().join(met_.store, met_.group);
    work();
  });
}

void Rank::meet() {
  sink_.phase("rendezvous");
  cluster::Invitation invitation;
  invitation.rank = static_cast<int>(spec_.rank), invitation.world = static_cast<int>(spec_.world_size);
  invitation.where = spec_.ranks.rendezvous;
  invitation.plan_hash = spec_.ranks.plan_hash;
  invitation.device = device_named(spec_.ranks.device);
  invitation.group_timeout_s = spec_.ranks.group_timeout_s;
  met_ = cluster::meet(backend(), invitation);
}

void Rank::observe() {
  timed_->observe(processes_of_host(), first_of_host());
}

void Rank::report_window(double typical_ns) {
  timed_->window.report(repetition(), typical_ns);
  const auto mine = pass::sampled_text(timed_->sampled);
  const auto of_ranks = group_ ? group_->gather(mine) : std::vector<std::string>{mine};
  if (!leads()) return;
  const auto record = pass::sampled_record(of_ranks);
  if (!record.at("windows").empty()) sink_.emit(record);
}

bool Rank::first_of_host() const {
  const auto first = std::ranges::find(met_.roster, met_.self.host, &cluster::Member::host);
  return first == met_.roster.end() || first->rank == spec_.rank;
}

std::vector<int> Rank::processes_of_host() const {
  std::vector<int> ids;
  for (const auto& one : met_.roster)
    if (one.host == met_.self.host) ids.push_back(one.process_id);
  return ids;
}

}  // namespace paceline::workload
