// SPDX-License-Identifier: MIT
#include "analysis/bottlenecks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/findings.h"
#include "analysis/trained_cases.h"

namespace paceline::analysis {
namespace {

using result::CaseResult;
using result::Estimate;
using result::OwnPart;
using result::StepCosts;

Estimate missing(const char* reason) {
  const auto none = Number::missing(reason);
  return {none, none, none, 0.95, {}};
}

Number share_of(const Number& part, const Number& whole) {
  if (!part) return part;
  if (!whole || *whole <= 0) return Number::missing("the step was not measured");
  return *part / *whole;
}

template <Estimate StepCosts::*Cost>
Estimate cost(const CaseResult& one) {
  return one.training()->costs.*Cost;
}

template <OwnPart Part>
Estimate cost(const CaseResult& one) {
  return one.training()->costs.own_ns[Part];
}

// Waiting for the rank that is named, whose interval is not that of all waiting; else for whichever is last.
Estimate waiting_cost(const CaseResult& one) {
  auto cost = one.training()->costs.straggler_wait_ns;
  if (!names_straggler(one) || !cost.value || *cost.value <= 0) return cost;
  const auto& named = one.training()->late.front().cost_ns;
  if (!named || *named >= *cost.value) return cost;
  auto own = missing("of one rank among all waiting");
  own.value = named;
  return own;
}

// A share of the profiled steps, of a step that nobody watched.
Estimate of_profile(const CaseResult& one, const Number& share) {
  const auto& step = one.training()->costs.step_ns.value;
  if (!share || !step) return missing("the step was not profiled");
  auto estimate = missing("one profile");
  estimate.value = *share * *step;
  return estimate;
}

// Which findings are bottlenecks, and what they cost a step.
struct Kind {
  std::string_view finding, target;
  Estimate (*cost)(const CaseResult&);
};
constexpr std::array<Kind, 8> kKinds{
    {{"straggler", "sync_stalls", waiting_cost},
     {"exposed_communication", "sync_stalls", cost<&StepCosts::communication_ns>},
     {"uneven_sync", "sync_stalls", [](const CaseResult&) { return missing("a variation has no cost"); }},
     {"data_bound", "input", cost<OwnPart::kDataWait>},
     {"host_bound", "host", cost<OwnPart::kHost>},
     {"memory_operators", "memory", [](const CaseResult& one) { return of_profile(one, memory_share(one)); }},
     {"outside_onednn", "operators",
      [](const CaseResult& one) { return of_profile(one, outside_onednn_share(one)); }},
     {"top_operator", "operators", [](const CaseResult& one) {
        const auto& profile = one.operator_profile;
        if (!profile || profile->top.empty()) return missing("the step was not profiled");
        return of_profile(one, profile->top.front().share);
      }}}};

}  // namespace

Estimate cost_of(std::string_view finding, const CaseResult& one) {
  const auto* const kind = std::ranges::find(kKinds, finding, &Kind::finding);
  return kind == kKinds.end() ? missing("the finding is no bottleneck") : kind->cost(one);
}

std::vector<Bottleneck> bottlenecks_of(const CaseResult& one, const std::vector<result::Finding>& findings,
                                       std::string_view target) {
  std::vector<Bottleneck> found;
  if (!one.training()) return found;
  const Number& step = one.training()->costs.step_ns.value;
  for (const auto& finding : findings) {
    const auto* const kind = std::ranges::find(kKinds, finding.id, &Kind::finding);
    const bool mine = std::ranges::find(finding.about, one.case_id) != finding.about.end();
    if (kind == kKinds.end() || !mine || (target != "all" && target != kind->target)) continue;
    const Estimate cost = kind->cost(one);
    found.push_back({std::string(kind->target), finding, cost, share_of(cost.value, step)});
  }
  std::ranges::stable_sort(found, std::ranges::greater{},
                           [](const Bottleneck& b) { return b.cost_ns.value.value().value_or(-1); });
  return found;
}

StepShape shape_of(const CaseResult& one) {
  StepShape shape;
  if (!one.training()) return shape;
  const auto& t = *one.training();
  shape.step_ns = t.costs.step_ns.value;
  shape.communication_share = t.communication_share;
  shape.straggler_wait_share = t.straggler_wait_share;
  shape.overlap_ratio = t.overlap_ratio;
  shape.input_wait_share = t.data_wait_share;
  shape.host_share = share_of(t.costs.own_ns[OwnPart::kHost].value, shape.step_ns);
  shape.stall_share = t.communication_share;
  if (t.communication_share && t.straggler_wait_share)
    shape.stall_share = *t.communication_share + *t.straggler_wait_share;
  shape.stall_ns =
      shape.stall_share && shape.step_ns ? Number(*shape.stall_share * *shape.step_ns) : shape.stall_share;
  return shape;
}

std::string no_communication(const CaseResult& one) {
  if (one.outcome != result::Outcome::kOk || !one.training()) return {};
  const auto& t = *one.training();
  if (!t.ddp || one.benchmark.world_size < 2) return {};
  if (t.collectives_per_step && *t.collectives_per_step > 0) return {};
  return fmt::format("{}: no exchange of gradients was heard of among {} ranks, so sync stalls are not known",
                     one.label, one.benchmark.world_size);
}

}  // namespace paceline::analysis
