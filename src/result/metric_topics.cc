// SPDX-License-Identifier: MIT
#include "result/metric_topics.h"

#include "result/figures/device_figures.h"

namespace paceline::result::topics {

bool has_load(const CaseResult& c) {
  return c.load() != nullptr;
}

bool is_trained(const CaseResult& c) {
  return c.outcome == Outcome::kOk && c.training();
}

bool is_checked(const CaseResult& c) {
  return traits_of(c.benchmark.kind).checks_outputs;
}

bool reads_model(const CaseResult& c) {
  return traits_of(c.benchmark.kind).runs_engine;
}

bool has_device_time(const CaseResult& c) {
  return c.device_p50_ns.value.value().has_value();
}

bool has_devices(const CaseResult& c) {
  return !device_states(c).empty();
}

bool has_cpu_power(const CaseResult& c) {
  return !c.cpu_power.empty();
}

bool is_cross_checked(const CaseResult& c) {
  return c.cross_check.asked;
}

}  // namespace paceline::result::topics
