// SPDX-License-Identifier: MIT
// Loads each plug-in in a worker.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/units.h"
#include "config/device.h"
#include "host/machine/accelerators.h"
#include "plugin/registry.h"
#include "result/stored/cpu_power.h"
#include "run/case/plugin_choice.h"
#include "run/checks/machine_checks.h"

namespace paceline::run {
namespace {

using answer::Verdict;
using host::CheckResult;
using Facts = std::vector<host::Fact>;

std::string description_text(const PluginDescription& description) {
  std::string text;
  for (const auto& [library, version] : description.versions)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", library, version);
  text += (text.empty() ? "" : "; ") + plugin::summary_of(description.capabilities);
  if (description.first_op_ns)
    text += fmt::format("; first op {}", format_duration_ns(*description.first_op_ns));
  return text;
}

constexpr double kTimeoutS = 120;
constexpr const char* kCudaFix =
    "where CUDA's libraries are missing, install torch with pip in full and build with "
    "PACELINE_TORCH_ROOT=<its torch folder>";
constexpr const char* kGpuFix =
    "nvidia-smi must list the GPU; the rows above on GPUs, and dmesg, show why it cannot compute";

bool all_on(const plugin::Manifest& manifest, const char* device) {
  return std::all_of(manifest.capabilities.begin(), manifest.capabilities.end(),
                     [&](const auto& one) { return one.device == device; });
}

bool brings(const plugin::Manifest& manifest, plugin::Role role) {
  return !plugin::names_of(manifest.capabilities, role).empty();
}

// None of its engines runs on the CPU, or it has none. The CPUs' own meter has a check of the host.
bool needs_a_gpu(const plugin::Manifest& manifest) {
  const auto samplers = plugin::names_of(manifest.capabilities, plugin::Role::kSampler);
  return std::ranges::find(samplers, result::kCpuSampler) == samplers.end() &&
         std::ranges::none_of(plugin::names_of(manifest.capabilities, plugin::Role::kEngine),
                              [](const auto& engine) { return config::runs_on_cpu(engine, Device{}); });
}

// Purposes that need a plug-in, by what it brings.
std::vector<host::Purpose> purposes_of(const plugin::Manifest& manifest) {
  std::vector<host::Purpose> purposes;
  if (brings(manifest, plugin::Role::kTrainer)) purposes.push_back(host::Purpose::kMultiRankTraining);
  if (brings(manifest, plugin::Role::kEngine)) purposes.push_back(host::Purpose::kInference);
  return purposes;
}

// A library that two plug-ins bring in two versions has a second name.
void add_libraries(const plugin::Manifest& manifest, const PluginDescription& found, Facts& facts) {
  for (const auto& [library, version] : found.versions) {
    auto name = "library " + library;
    const auto known = std::ranges::find(facts, name, &host::Fact::name);
    if (known != facts.end() && known->value == version) continue;
    if (known != facts.end()) name += " of plug-in " + manifest.name;
    facts.push_back({name, version, {}});
  }
}

// Loads the plug-in in a separate worker and runs a first operation there. A machine without a CUDA device is
// not at fault; one that shows a device on which nothing runs is. `state` becomes what machines are compared
// by.
CheckResult check_plugin(const plugin::Manifest& manifest, nlohmann::json& state, Facts& facts,
                         const std::atomic<bool>& interrupt) {
  state = "not built";
  const bool on_cuda = all_on(manifest, "cuda"), on_any = all_on(manifest, "any");
  const host::SystemFiles files;
  const auto absent = on_cuda ? host::no_visible_device_reason(files) : "";
  if (!manifest.not_built_because.empty()) {
    const bool idles = manifest.lacks_library && on_cuda && absent.empty();  // a GPU that could be used
    return {idles ? Verdict::kReservedly : Verdict::kNotAsked, plugin::absence(manifest), manifest.fix};
  }
  state = "not loaded";
  if (!absent.empty()) return {Verdict::kNotAsked, fmt::format("built, not loaded: {}", absent), {}};
  try {
    const auto found = describe_plugin(manifest.file, interrupt, kTimeoutS, on_cuda ? "cuda:0" : "cpu");
    const auto text = description_text(found);
    state = "loaded";
    add_libraries(manifest, found, facts);
    if (on_cuda && brings(manifest, plugin::Role::kEngine) && !found.first_op_ns)
      return {Verdict::kNo, fmt::format("loaded, but {}", found.first_op_ns.reason()), kGpuFix};
    if (on_any && needs_a_gpu(manifest) && !host::no_nvidia_device_reason(files).empty())
      return brings(manifest, plugin::Role::kSampler)
                 ? CheckResult{Verdict::kNotAsked, text + "; no NVIDIA GPU here to watch", {}}
                 : CheckResult{Verdict::kReservedly, text + "; no NVIDIA GPU here to run on", {}};
    return {Verdict::kYes, text, {}};
  } catch (const Error& e) {
    if (!on_cuda && !on_any) throw;
    return on_cuda ? CheckResult{Verdict::kNo, e.what(), kCudaFix}
                   : CheckResult{Verdict::kReservedly, e.what(), {}};
  }
}

// Checks and adds a fact: a plug-in that throws cannot be loaded.
CheckResult check_and_note(const plugin::Manifest& manifest, Facts& facts,
                           const std::atomic<bool>& interrupt) {
  const auto place = facts.size();
  facts.push_back({"plug-in " + manifest.name, "cannot be loaded", {}});
  nlohmann::json state;
  auto result = check_plugin(manifest, state, facts, interrupt);
  facts[place].value = state;
  return result;
}

}  // namespace

std::vector<host::Check> plugin_checks(Facts& facts, const std::atomic<bool>& interrupt) {
  std::vector<host::Check> checks;
  const auto manifests = plugin::read_manifests(plugin::plugin_dir());
  for (const auto& manifest : manifests)
    checks.push_back({"plug-in " + manifest.name, purposes_of(manifest),
                      [manifest, &facts, &interrupt] { return check_and_note(manifest, facts, interrupt); }});
  if (manifests.empty())
    checks.push_back({"plug-ins", {host::Purpose::kInference, host::Purpose::kMultiRankTraining}, [] {
                        return CheckResult{Verdict::kNo,
                                           fmt::format("none found in {}", plugin::plugin_dir().string()),
                                           "reinstall paceline"};
                      }});
  return checks;
}

}  // namespace paceline::run
