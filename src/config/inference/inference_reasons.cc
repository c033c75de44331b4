// SPDX-License-Identifier: MIT
// Finds out why an inference case cannot run as asked.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/device.h"
#include "config/inference/inference_in_plan.h"
#include "config/option_table.h"
#include "config/value.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

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
  if (s.has("gap")) reasons.emplace_back("'gap' is for timing: sync");
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

}  // namespace

std::vector<std::string> inference_reasons(const Case& item) {
  std::vector<std::string> reasons;
  for (const auto add : {add_model_reasons, add_device_reasons, add_cache_reasons, add_timing_reasons,
                         add_overlap_reasons, add_copy_reasons, add_library_reasons, add_feedback_reasons})
    add(item, reasons);
  return reasons;
}

}  // namespace paceline::config
