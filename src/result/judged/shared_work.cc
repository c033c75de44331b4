// SPDX-License-Identifier: MIT
#include "result/judged/shared_work.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/device.h"
#include "base/text.h"
#include "base/units.h"
#include "result/figures/pair_ratio.h"
#include "result/judged/noise_rules.h"
#include "result/stored/benchmark_params.h"
#include "result/stored/case_fields.h"
#include "result/stored/outcome.h"
#include "stats/median.h"

namespace paceline::result {
namespace {

// Instance i is on device i / instances_per_device, or on that one of `devices` (pass/load_spec.h).
std::string part_name(const Benchmark& benchmark, std::int64_t instance) {
  if (benchmark.device != kind_name(DeviceKind::kCuda)) return fmt::format("process {}", instance + 1);
  const auto gpu = gpu_at(benchmark, instance / instances_per_gpu(benchmark));
  return device_name({DeviceKind::kCuda, static_cast<int>(gpu)});
}

// Without rates.
std::vector<WorkPart> unrated_parts(const Benchmark& benchmark, const std::vector<InstanceLoad>& instances) {
  std::vector<WorkPart> parts;
  for (const auto& one : instances) {
    const auto name = part_name(benchmark, one.index);
    if (parts.empty() || parts.back().name != name) parts.push_back({name, {}, 0, {}});
    auto& part = parts.back();
    part.cpus += (part.cpus.empty() ? "" : "; ") + one.cpus;
    part.completed += one.completed;
  }
  return parts;
}

// Equal for cases that differ in nothing but the number of processes.
std::string work_of_each(const CaseResult& one) {
  Benchmark b = one.benchmark;
  b.gpus.reset(), b.instances.reset(), b.id.clear();
  return Writer::write(b).dump() + (replicas_of(one.benchmark)->gpus ? " GPUs" : " instances");
}

Number sustained_rate(const CaseResult& one) {
  if (!traits_of(one.benchmark.scenario).rate_is_offered) return one.throughput.per_s.value;
  return one.load() ? one.load()->saturation_per_s : Number::missing("no load");
}

bool is_measured_sharing(const CaseResult& one) {
  return one.outcome == Outcome::kOk && replicas_of(one.benchmark) && sustained_rate(one);
}

Scaling shared_scaling(const CaseResult& one, const CaseResult& base,
                       const std::vector<std::string>& resumed_utc) {
  Scaling s;
  s.base_case_id = base.case_id;
  s.base_world = replicas_of(base.benchmark)->count;
  s.world = replicas_of(one.benchmark)->count;
  const double ideal = static_cast<double>(s.world) / static_cast<double>(s.base_world);
  const auto rates = pair_ratio(one, base, Figure::kRate, resumed_utc, one.headline.p50_ns.confidence,
                                smallest_difference(profile_of(one)));
  s.efficiency = *sustained_rate(one) / *sustained_rate(base) / ideal;
  const auto& doubt = rates.no_size.empty() ? rates.reason : rates.no_size;
  s.ci_low = s.ci_high = Number::missing(doubt);
  if (doubt.empty()) {
    s.efficiency = rates.found->estimate_ratio / ideal;
    s.ci_low = rates.found->ci_ratio->low / ideal;
    s.ci_high = rates.found->ci_ratio->high / ideal;
    s.superlinear = *s.ci_low > 1;
  }
  s.speedup = *s.efficiency * ideal;
  return s;
}

// Work of every part over the median of the others: 1 where those did nothing. Empty if nobody did anything.
std::vector<double> beside_others(const std::vector<WorkPart>& parts) {
  std::vector<double> ratios;
  for (const auto& part : parts) {
    std::vector<double> others;
    for (const auto& other : parts)
      if (&other != &part) others.push_back(static_cast<double>(other.completed));
    const double usual = others.empty() ? 0 : stats::median(others);
    if (usual <= 0 && part.completed <= 0) return {};
    ratios.push_back(usual > 0 ? static_cast<double>(part.completed) / usual : 1);
  }
  return ratios;
}

}  // namespace

std::optional<Replicas> replicas_of(const Benchmark& benchmark) {
  if (benchmark.gpus.value_or(0) > 0) return Replicas{*benchmark.gpus, true};
  if (benchmark.instances.value_or(0) > 0) return Replicas{*benchmark.instances, false};
  return std::nullopt;
}

std::string replicas_text(std::int64_t count, bool gpus) {
  return plural(count, gpus ? "GPU" : "process");
}

std::vector<WorkPart> work_parts(const CaseResult& one) {
  if (!one.load()) return {};
  auto parts = unrated_parts(one.benchmark, one.load()->instances);
  double all = 0;
  for (const auto& part : parts) all += static_cast<double>(part.completed);
  const auto& rate = one.throughput.per_s.value;
  for (auto& part : parts)
    part.per_s = rate && all > 0 ? Number(*rate * static_cast<double>(part.completed) / all)
                                 : Number::missing("no throughput");
  return parts;
}

std::optional<SlowestReplica> slowest_replica(const CaseResult& one) {
  if (traits_of(one.benchmark.scenario).open_loop) return std::nullopt;
  std::vector<std::vector<double>> ratios;  // by part, of every repetition
  for (const auto& r : one.repetitions) {
    const auto now =
        r.load() ? beside_others(unrated_parts(one.benchmark, r.load()->instances)) : std::vector<double>();
    ratios.resize(std::max(ratios.size(), now.size()));
    for (std::size_t i = 0; i < now.size(); ++i) ratios[i].push_back(now[i]);
  }
  std::optional<SlowestReplica> slowest;
  // The worst of them is picked: each has the confidence with which all hold together (Bonferroni).
  const double in_doubt = 1 - one.headline.p50_ns.confidence;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const auto found = stats::over_processes(ratios[i], 1 - in_doubt / static_cast<double>(ratios.size()));
    if (!slowest || found.value < slowest->of_others.value) slowest = SlowestReplica{i, found};
  }
  return slowest;
}

void compare_replicas(const std::vector<CaseResult*>& cases, const std::vector<std::string>& resumed_utc) {
  std::map<std::string, const CaseResult*> bases;  // with the fewest
  for (const CaseResult* one : cases) {
    if (!is_measured_sharing(*one)) continue;
    const CaseResult*& base = bases[work_of_each(*one)];
    if (!base || replicas_of(one->benchmark)->count < replicas_of(base->benchmark)->count) base = one;
  }
  for (CaseResult* one : cases) {
    one->scaling.reset();
    if (!is_measured_sharing(*one)) continue;
    const CaseResult& base = *bases.at(work_of_each(*one));
    if (replicas_of(base.benchmark)->count < replicas_of(one->benchmark)->count)
      one->scaling = shared_scaling(*one, base, resumed_utc);
  }
}

}  // namespace paceline::result
