// SPDX-License-Identifier: MIT
#include "config/case_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "config/engine_of_model.h"
#include "config/kind_in_plan.h"
#include "config/plan_reader.h"
#include "config/value.h"

namespace paceline::config {
namespace {

using Coordinates = std::map<std::string, std::string>;

Coordinates coordinates_of(const Case& item) {
  Coordinates at;
  const unsigned kind = kind_bit(item.kind);
  for (const auto& [name, values] : item.settings.all()) {
    const Option* option = row_of(name, kind);
    if (option && option->form == OptionForm::kAxis) at[name] = value_text(values.front());
  }
  for (const auto& [name, value] : item.env) at["env." + name] = value;
  return at;
}

// The baseline that the plan names; else the first engine and the first precision, and for training the first
// DDP options. Scaling over ranks has its own base (result/judged/training_scaling.h).
Coordinates baseline_of(const Workload& workload) {
  Coordinates at;
  for (const auto& [name, values] : workload.settings.all())
    if (name.starts_with("baseline.")) at[name.substr(9)] = value_text(values.front());
  if (!at.empty()) return at;
  for (const auto& [axis, option] : {std::pair{"engine", "engines"},
                                     {"precision", "precisions"},
                                     {"ddp.enabled", "ddp.enabled"},
                                     {"ddp.comm_hook", "ddp.comm_hook"},
                                     {"ddp.bucket_cap_mb", "ddp.bucket_cap_mb"}})
    if (workload.settings.has(option) &&
        (axis != std::string_view("engine") || workload.settings.texts(option).front() != kEngineOfModel))
      at[axis] = value_text(workload.settings.list(option).front());
  return at;
}

// Names the replacement of an option that is not available.
std::string_view instead_of(std::string_view option) {
  return option == "profiling.enabled" ? "; layer_profile: true times the layers of an inference" : "";
}

void add_option_reasons(const Case& item, std::vector<std::string>& reasons) {
  for (const auto& [name, values] : item.settings.all()) {
    const Option* option = row_of(name, kind_bit(item.kind));
    if (!option || name == "kind") continue;
    if (!option->available && !is_default(*option, values))
      reasons.push_back(
          fmt::format("'{}: {}' is not available yet{}", name, value_text(values.front()), instead_of(name)));
    if (!option->identity) continue;  // the case is measured; what is missing beside it says why
    for (const auto& choice : option->choices)
      for (const auto& value : values)
        if (!choice.available && value_text(value) == choice.name)
          reasons.push_back(fmt::format("{} '{}' is not available yet", singular(*option), choice.name));
  }
}

}  // namespace

void set_baselines(const Plan& plan, std::vector<Case>& cases) {
  std::map<std::pair<std::size_t, Coordinates>, std::size_t> by_coordinates;
  for (std::size_t i = 0; i < cases.size(); ++i)
    by_coordinates[{cases[i].workload, coordinates_of(cases[i])}] = i;
  std::vector<Coordinates> baselines;
  baselines.reserve(plan.workloads.size());
  for (const auto& workload : plan.workloads) baselines.push_back(baseline_of(workload));
  std::vector<int> followers(cases.size(), 0);
  std::vector<std::size_t> base(cases.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Coordinates at = coordinates_of(cases[i]);
    for (const auto& [axis, value] : baselines[cases[i].workload])
      if (at.count(axis)) at[axis] = value;
    const auto found = by_coordinates.find({cases[i].workload, at});
    if (found == by_coordinates.end()) continue;
    base[i] = found->second;
    ++followers[found->second];
  }
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (base[i] < cases.size() && followers[base[i]] > 1) cases[i].baseline_id = cases[base[i]].id;
}

bool waits_for_a_version(const Case& item) {
  std::vector<std::string> reasons;
  add_option_reasons(item, reasons);
  return !reasons.empty();
}

std::string not_available_reason(const Case& item) {
  auto reasons = in_plan(item.kind).reasons(item);
  add_option_reasons(item, reasons);
  return join(reasons, "; ");
}

}  // namespace paceline::config
