// SPDX-License-Identifier: MIT
#include "config/case_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "config/device.h"
#include "config/engine_of_model.h"
#include "config/plan_reader.h"
#include "config/training/training_rules.h"
#include "config/value.h"
#include "config/vocabulary.h"

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
// DDP options. Scaling over ranks has its own base (result/training_scaling.h).
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

// What to use instead of an option that is not available, in words.
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

// Engines of plug-ins of the plan may read any file.
void add_reader_reason(const std::string& file, const std::string& engine,
                       std::vector<std::string>& reasons) {
  const FileType* type = find_file_type(file);
  if (!type || !find_engine(engine)) return;
  const auto& readers = type->readers;
  if (std::find(readers.begin(), readers.end(), engine) == readers.end())
    reasons.push_back(fmt::format("engine '{}' reads no {} files; those that do: {}", engine, type->suffix,
                                  fmt::join(readers, ", ")));
}

void add_model_reasons(const Case& item, std::vector<std::string>& reasons) {
  const auto& name = item.settings.text("model");
  const Model* model = find_model(name);
  if (!model) return add_reader_reason(name, item.settings.text("engine"), reasons);
  if (!item.settings.has("sequence_length")) return;
  const auto length = item.settings.integer("sequence_length");
  if (length > model->max_sequence_length)
    reasons.push_back(fmt::format("{} takes at most {} tokens, and sequence_length is {}", name,
                                  model->max_sequence_length, length));
}

// Adds reasons against what needs a device other than the CPU.
void add_device_reasons(const Case& item, std::vector<std::string>& reasons) {
  const bool apart = item.settings.has("instances_per_device");
  if (apart && item.settings.text("device").find(':') != std::string::npos)
    reasons.push_back(
        fmt::format("'device: {}' is one device for all instances, so there are no instances_per_device; "
                    "write device: cuda",
                    item.settings.text("device")));
  if (!runs_on_cpu(item.settings.text("engine"), parse_device(item.settings.text("device")))) return;
  if (item.settings.text("precision") == "tf32")
    reasons.emplace_back("precision 'tf32' is a mode of NVIDIA GPUs; add device: cuda, or use fp32 or bf16");
  if (apart) reasons.emplace_back("'instances_per_device' is for device: cuda");
  for (const Option* option : options_of(kInference)) {
    const auto name = singular(*option);
    const auto values = option->gpu_only ? item.settings.list(name) : std::vector<Value>{};
    if (is_default(*option, values)) continue;
    const auto value = option->fallback.empty() ? "" : ": " + value_text(values.front());
    reasons.push_back(fmt::format("'{}{}' is for device: cuda", name, value));
  }
}

void add_cache_reasons(const Case& item, std::vector<std::string>& reasons) {
  const auto& s = item.settings;
  if (s.text("cache_mode") != "cold") return;
  if (runs_on_cpu(s.text("engine"), parse_device(s.text("device"))))
    reasons.emplace_back("'cache_mode: cold' is for device: cuda");
  if (!traits_of(scenario_of(s)).one_at_a_time)
    reasons.emplace_back("'cache_mode: cold' is for scenario: sync");
}

// Within a block nothing happens between two inferences.
void add_timing_reasons(const Case& item, std::vector<std::string>& reasons) {
  const auto& s = item.settings;
  if (s.text("timing") != "pipelined") return;
  if (s.text("cache_mode") == "cold") reasons.emplace_back("'cache_mode: cold' is for timing: sync");
  if (s.has("feedback")) reasons.emplace_back("'feedback' is for timing: sync");
}

// Copies are hidden behind the models of other inferences.
void add_overlap_reasons(const Case& item, std::vector<std::string>& reasons) {
  const auto& s = item.settings;
  if (!s.flag("overlap")) return;
  if (s.text("timing") != "pipelined") reasons.emplace_back("'overlap: true' is for timing: pipelined");
  if (s.text("io") == "none")
    reasons.emplace_back("'io: none' copies nothing that could overlap; use io: pinned");
  if (s.text("io") == "pageable")
    reasons.emplace_back(
        "'io: pageable' keeps the host waiting for copies, so that none overlaps; use io: pinned");
}

// Only LibTorch lets loaded libraries register operators.
void add_library_reasons(const Case& item, std::vector<std::string>& reasons) {
  const auto& engine = item.settings.text("engine");
  const auto* row = find_engine(engine);
  if (!item.settings.texts("load_libraries").empty() && row && row->plugin != "torch")
    reasons.push_back(
        fmt::format("'load_libraries' is for TorchScript files, and {} is no engine of LibTorch", engine));
}

// With feedback an inference needs the answer of the one before.
void add_feedback_reasons(const Case& item, std::vector<std::string>& reasons) {
  if (!item.settings.has("feedback")) return;
  if (!traits_of(scenario_of(item.settings)).one_at_a_time)
    reasons.emplace_back("'feedback' is for scenario: sync");
  if (item.settings.text("io") == "none")
    reasons.emplace_back(
        "'io: none' leaves the outputs on the device, and feedback needs them; use io: pinned");
}

// Requests of a server take their outputs away.
void add_copy_reasons(const Case& item, std::vector<std::string>& reasons) {
  if (item.settings.text("io") == "none" && traits_of(scenario_of(item.settings)).has_queue)
    reasons.emplace_back(
        "'io: none' leaves the outputs on the device, and the requests of a server wait for theirs; use io: "
        "pinned");
}

void add_inference_reasons(const Case& item, std::vector<std::string>& reasons) {
  add_model_reasons(item, reasons);
  add_device_reasons(item, reasons);
  add_cache_reasons(item, reasons);
  add_timing_reasons(item, reasons);
  add_overlap_reasons(item, reasons);
  add_copy_reasons(item, reasons);
  add_library_reasons(item, reasons);
  add_feedback_reasons(item, reasons);
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
  std::vector<std::string> reasons;
  if (item.kind == WorkloadKind::kTraining) reasons = training_reasons(item);
  if (item.kind == WorkloadKind::kInference) add_inference_reasons(item, reasons);
  add_option_reasons(item, reasons);
  return join(reasons, "; ");
}

}  // namespace paceline::config
