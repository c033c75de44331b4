// SPDX-License-Identifier: MIT
#include "result/judged/training_scaling.h"

#include <algorithm>
#include <map>
#include <string>

#include "result/figures/pair_ratio.h"
#include "result/figures/step_account.h"
#include "result/judged/noise_rules.h"
#include "result/stored/case_fields.h"

namespace paceline::result {
namespace {

// With strong scaling the ranks share one batch; with weak scaling each has its own.
bool is_strong(const Benchmark& b) {
  const auto scaling = b.params.find("training.scaling");
  return scaling != b.params.end() && scaling->second == "strong";
}

// The ideal step of `one`, relative to that of `base`.
double ideal_step(const CaseResult& one, const CaseResult& base) {
  if (!is_strong(one.benchmark)) return 1;
  return static_cast<double>(base.benchmark.world_size) / static_cast<double>(one.benchmark.world_size);
}

// Equal for cases that differ in nothing but the number of ranks.
std::string work_of_a_rank(const CaseResult& one) {
  Benchmark b = one.benchmark;
  b.id.clear();
  if (is_strong(b)) b.batch_per_rank *= b.world_size;
  b.world_size = 0;
  return Writer::write(b).dump();
}

// The ratio is the ideal step, from `base`, over that of `one`.
void set_interval(Scaling& s, const CaseResult& one, const CaseResult& base,
                  const std::vector<std::string>& resumed_utc) {
  const auto steps = pair_ratio(base, one, Figure::kLatency, resumed_utc, one.headline.p50_ns.confidence,
                                smallest_difference(profile_of(one)));
  const auto& doubt = steps.no_size.empty() ? steps.reason : steps.no_size;
  s.ci_low = s.ci_high = Number::missing(doubt);
  if (!doubt.empty()) return;
  s.efficiency = steps.found->estimate_ratio * ideal_step(one, base);
  s.ci_low = steps.found->ci_ratio->low * ideal_step(one, base);
  s.ci_high = steps.found->ci_ratio->high * ideal_step(one, base);
  s.superlinear = *s.ci_low > 1;
}

Scaling scaling_of(const CaseResult& one, const CaseResult& base,
                   const std::vector<std::string>& resumed_utc) {
  Scaling s;
  s.base_case_id = base.case_id;
  s.base_world = base.benchmark.world_size;
  s.world = one.benchmark.world_size;
  s.efficiency = ideal_step(one, base) * *base.headline.p50_ns.value / *one.headline.p50_ns.value;
  set_interval(s, one, base, resumed_utc);
  s.speedup = *s.efficiency * static_cast<double>(s.world) / static_cast<double>(s.base_world);
  return s;
}

// Equal for cases that differ in nothing but the number of ranks and DDP.
std::string work_without_ddp(const CaseResult& one) {
  CaseResult bare;
  bare.benchmark = one.benchmark;
  bare.benchmark.params.erase("ddp.enabled");
  return work_of_a_rank(bare);
}

bool is_measured_training(const CaseResult& one) {
  return one.outcome == Outcome::kOk && one.training() && one.headline.p50_ns.value;
}

const StepCosts* costs_with(const std::vector<CaseResult*>& cases, const CaseResult& like, std::int64_t world,
                            bool ddp) {
  for (const CaseResult* other : cases)
    if (is_measured_training(*other) && other->benchmark.world_size == world &&
        other->training()->ddp == ddp && work_without_ddp(*other) == work_without_ddp(like))
      return &other->training()->costs;
  return nullptr;
}

std::vector<LossPart> budget_of(const CaseResult& one, const CaseResult& base,
                                const std::vector<CaseResult*>& cases) {
  const Training& mine = *one.training();
  const Training& small = *base.training();
  if (!mine.costs.step_ns.value || !small.costs.step_ns.value) return {};
  BudgetHelp help;
  if (mine.ddp && !small.ddp) help.base_with_ddp = costs_with(cases, base, base.benchmark.world_size, true);
  if (mine.ddp) help.apart = costs_with(cases, one, one.benchmark.world_size, false);
  return loss_budget(mine.costs, small.costs, ideal_step(one, base), help);
}

}  // namespace

std::string scaling_doubt(const CaseResult& one) {
  const Scaling& s = *one.scaling;
  if (s.ci_low && s.ci_high && s.efficiency && s.speedup) return {};
  return s.ci_low || s.ci_low.reason().empty() ? "it has no interval" : s.ci_low.reason();
}

Estimate efficiency_of(const CaseResult& one) {
  const Scaling& s = *one.scaling;
  return {s.efficiency, s.ci_low, s.ci_high, one.headline.p50_ns.confidence, "binomial_processes"};
}

void compare_scaling(const std::vector<CaseResult*>& cases, const std::vector<std::string>& resumed_utc) {
  std::map<std::string, CaseResult*> bases;
  for (CaseResult* one : cases) {
    one->scaling.reset();
    if (!is_measured_training(*one)) continue;
    CaseResult*& base = bases[work_of_a_rank(*one)];
    if (base == nullptr || one->benchmark.world_size < base->benchmark.world_size) base = one;
  }
  for (CaseResult* one : cases) {
    if (!is_measured_training(*one)) continue;
    const CaseResult* base = bases.at(work_of_a_rank(*one));
    if (base->benchmark.world_size < one->benchmark.world_size)
      one->scaling = scaling_of(*one, *base, resumed_utc),
      one->scaling->budget = budget_of(*one, *base, cases);
  }
}

}  // namespace paceline::result
