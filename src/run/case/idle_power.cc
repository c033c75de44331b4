// SPDX-License-Identifier: MIT
#include "run/case/idle_power.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bounded_json.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "result/stored/case_fields.h"
#include "result/stored/result_json.h"

namespace paceline::run {
namespace {

constexpr const char* kFile = "idle.json";

bool is_meter(const pass::PluginUse& use) {
  return use.role == plugin::Role::kSampler && !use.file.empty() &&
         (use.name == result::kDeviceSampler || use.name == result::kCpuSampler);
}

// Every GPU that is visible: nvml leaves out numbers that are not there.
void ask_for_all_devices(pass::PassSpec& spec) {
  constexpr int kMostDevices = 16;
  spec.settings.options["device"] = "cuda";
  spec.inference.load.instances = kMostDevices, spec.inference.load.instances_per_device = 1;
}

void use_meters(const CaseRun& c, pass::PassSpec& spec) {
  for (const auto& use : c.base.plugins)
    if (is_meter(use) &&
        std::ranges::find(spec.plugins, use.name, &pass::PluginUse::name) == spec.plugins.end())
      spec.plugins.push_back(use);
}

}  // namespace

std::vector<result::SampledWindow> kept_idle_power(const std::filesystem::path& run) {
  pass::PassReport report;
  try {
    if (std::filesystem::exists(run / kFile))
      pass::apply_record(report, {{"type", "sampled"},
                                  {"windows", parsed_json(read_stored(run / kFile, Foreign::kResult))}});
  } catch (const std::exception&) {
    report.sampled.clear();  // it is read again
  }
  return report.sampled;
}

std::vector<result::SampledWindow> idle_power_of(const config::Case& c,
                                                 std::vector<result::SampledWindow> read) {
  for (const auto* name : {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}) {
    if (!c.env.contains(name)) continue;
    for (auto& window : read) {
      if (window.sampler != result::kDeviceSampler) continue;
      window.series.clear();
      window.problem = fmt::format("the case sets {}, and idle power is read without it", name);
    }
  }
  return read;
}

void read_idle_power(CaseRuns& cases, const PassRunner& runner, const std::filesystem::path& run) {
  pass::PassSpec spec;
  spec.kind = pass::PassKind::kIdle;
  const CaseRun* first = nullptr;
  for (const auto& c : cases) {
    if (c.ended || !c.selected || !c.idle.empty()) continue;
    use_meters(c, spec);
    if (!first && !spec.plugins.empty()) first = &c;
  }
  if (!first) return;
  spec.case_id = first->result.case_id;
  ask_for_all_devices(spec);
  CaseRun bare;  // whose meters no variable of a case hides
  bare.definition = first->definition;
  bare.definition.env.clear();
  bare.dir = first->dir;
  const auto outcome = runner.run(bare, spec);
  if (!outcome.ok) return;
  for (auto& c : cases) c.idle = idle_power_of(c.definition, outcome.report.sampled);
  replace_file(run / kFile, result::json_text(archive::Writer::write(outcome.report.sampled)));
}

}  // namespace paceline::run
