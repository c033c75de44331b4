// SPDX-License-Identifier: MIT
#include "result/training_scaling.h"

#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "result/case_fields.h"

namespace paceline::result {
namespace {

// Equal for cases that differ in nothing but the number of ranks.
std::string work_of_a_rank(const CaseResult& one) {
  Benchmark b = one.benchmark;
  b.id.clear();
  b.world_size = 0;
  return Writer::write(b).dump();
}

struct LogInterval {
  double value = 0;
  std::optional<double> low, high;
};

LogInterval log_of(const Estimate& e) {
  const auto log = [](const Number& n) { return n ? std::optional(std::log(*n)) : std::nullopt; };
  return {std::log(*e.value), log(e.ci_low), log(e.ci_high)};
}

// MOVER on logs: a the base, b this.
void set_interval(Scaling& s, const LogInterval& a, const LogInterval& b) {
  if (!a.low || !a.high || !b.low || !b.high) {
    s.ci_low = s.ci_high = Number::missing("a step time of the two has no interval");
    return;
  }
  const double d = a.value - b.value;
  s.ci_low = std::exp(d - std::hypot(a.value - *a.low, *b.high - b.value));
  s.ci_high = std::exp(d + std::hypot(*a.high - a.value, b.value - *b.low));
  s.superlinear = *s.ci_low > 1;
}

Scaling scaling_of(const CaseResult& one, const CaseResult& base) {
  Scaling s;
  s.base_case_id = base.case_id;
  s.base_world = base.benchmark.world_size;
  s.world = one.benchmark.world_size;
  const LogInterval a = log_of(base.headline.p50_ns), b = log_of(one.headline.p50_ns);
  s.efficiency = std::exp(a.value - b.value);
  s.speedup = *s.efficiency * static_cast<double>(s.world) / static_cast<double>(s.base_world);
  set_interval(s, a, b);
  return s;
}

bool is_measured_training(const CaseResult& one) {
  return one.outcome == Outcome::kOk && !one.training.empty() && one.headline.p50_ns.value;
}

}  // namespace

void compare_scaling(const std::vector<CaseResult*>& cases) {
  std::map<std::string, CaseResult*> bases;
  for (CaseResult* one : cases) {
    one->scaling.clear();
    if (!is_measured_training(*one)) continue;
    CaseResult*& base = bases[work_of_a_rank(*one)];
    if (base == nullptr || one->benchmark.world_size < base->benchmark.world_size) base = one;
  }
  for (CaseResult* one : cases) {
    if (!is_measured_training(*one)) continue;
    const CaseResult* base = bases.at(work_of_a_rank(*one));
    if (base->benchmark.world_size < one->benchmark.world_size)
      one->scaling.push_back(scaling_of(*one, *base));
  }
}

}  // namespace paceline::result
