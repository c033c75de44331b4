// SPDX-License-Identifier: MIT
#include "run/device_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/rapl.h"
#include "base/units.h"
#include "config/case_rules.h"
#include "config/device.h"
#include "host/machine/accelerators.h"
#include "host/machine/cpu_choice.h"
#include "run/case/case_settings.h"
#include "run/case/kind_rules.h"
#include "run/case/sampler_choice.h"

namespace paceline::run {
namespace fs = std::filesystem;
namespace {

using config::Case;
using config::WorkloadKind;

constexpr double kAskS = 120;

// A reason without what it advises after a semicolon: "; use device: cpu".
std::string without_advice(const std::string& reason) {
  return reason.substr(0, reason.find("; "));
}

std::string refusal_of_plugin(const fs::path& file, const std::atomic<bool>& interrupt) {
  try {
    const auto found = describe_plugin(file, interrupt, kAskS, "cuda:0");
    const bool answered = !plugin::names_of(found.capabilities, plugin::Role::kEngine).empty();
    return found.first_op_ns || !answered ? std::string() : found.first_op_ns.reason();
  } catch (const Error& e) {
    const std::string words = e.what();
    return words.substr(0, words.find('\n'));
  }
}

// Instances are on devices of their own.
std::string too_many_instances(const Case& c, const GpusHere& here) {
  const auto instances = instances_of(c.settings);
  if (instances == 0 || here.count == 0) return {};
  const auto each = c.settings.has("instances_per_device") ? c.settings.integer("instances_per_device") : 1;
  const auto needed = (instances + each - 1) / each;
  if (needed <= here.count) return {};
  return fmt::format(
      "{} instances need {} devices, and {} visible; instances_per_device or device: cuda:0 "
      "shares them",
      instances, needed, here.count == 1 ? "1 is" : fmt::format("{} are", here.count));
}

// Whether cases can use the GPU here.
class Chooser {
 public:
  Chooser(const EngineDirectory& engines, const GpusHere& here) : engines_(engines), here_(here) {}

  // Why auto is the CPU although there is a GPU; empty: it is the GPU.
  std::string against(const Case& c) {
    const auto& engine = c.settings.text("engine");
    const auto home = engines_.find(plugin::Role::kEngine, engine, "cuda:0");
    if (home.file.empty()) return home.unavailable;
    const bool only_gpu = !config::runs_on_cpu(engine, Device{});
    if (!only_gpu && engines_.find(plugin::Role::kEngine, engine, "cpu").file == home.file)
      return fmt::format("plug-in '{}' does not say where it runs; device: cuda asks it to",
                         home.file.filename().string());
    if (auto many = too_many_instances(c, here_); !many.empty()) return many;
    return only_gpu ? std::string() : refusal_of(home.file);
  }

  // Why a plug-in cannot use the GPU; empty: it can.
  std::string refusal_of(const fs::path& file) {
    if (!here_.refusal) return {};
    const auto [known, fresh] = refusals_.try_emplace(file);
    if (fresh) known->second = here_.refusal(file);
    return known->second;
  }

 private:
  const EngineDirectory& engines_;
  const GpusHere& here_;
  std::map<fs::path, std::string> refusals_;
};

std::string gpu_words(const std::string& device, const GpusHere& here) {
  const auto name = here.name.empty() ? "" : fmt::format(" ({})", here.name);
  return fmt::format("{}{}: auto takes a GPU where one can be used", device, name);
}

std::string cpu_words(const std::string& against, const GpusHere& here) {
  if (!here.absent.empty()) return "cpu: " + without_advice(here.absent);
  return "cpu: the GPU here is not used: " + against;
}

// Describes a device that was written.
std::string asked_words(const std::string& device, const GpusHere& here) {
  const bool idle = is_cpu(device) && here.absent.empty();
  return device + ", as asked" + (idle ? "; the GPU here is not used" : "");
}

// Returns where the case runs.
std::string settle_inference(Case& c, Chooser& chooser, const GpusHere& here) {
  std::string asked = c.settings.text("device");
  if (asked != config::kAutoDevice) {
    if (config::runs_on_cpu(c.settings.text("engine"), parse_device(asked)) || !is_cpu(asked))
      c.where = asked_words(asked, here);
    return asked;
  }
  const auto against = here.absent.empty() ? chooser.against(c) : here.absent;
  std::string device = against.empty() ? "cuda" : "cpu";
  c.settings.set("device", device);
  if (c.not_available.empty()) c.not_available = config::not_available_reason(c);
  if (against.empty())
    c.where = gpu_words("cuda", here);
  else if (config::runs_on_cpu(c.settings.text("engine"), Device{}))
    c.where = cpu_words(against, here);
  return device;
}

// With auto the plug-in is asked before its ranks take the GPU.
std::string settle_ranks(Case& c, const EngineDirectory& engines, Chooser& chooser, const GpusHere& here) {
  const auto& asked = c.settings.text("device");
  auto home = kind_rules(c.kind).rank_home(c, engines);
  if (asked == config::kAutoDevice && !is_cpu(home.ranks.device)) {
    c.gpu_refusal = chooser.refusal_of(home.plugin.file);
    home = kind_rules(c.kind).rank_home(c, engines);
  }
  c.where = asked != config::kAutoDevice ? asked_words(asked, here)
            : is_cpu(home.ranks.device)  ? cpu_words(home.no_cuda, here)
                                         : gpu_words(home.ranks.device, here);
  return home.ranks.device;
}

// Divides the CPUs by the most processes that a workload has, so that one device has no more threads than
// each of several.
void share_threads(std::vector<Case>& cases, int cpus) {
  std::map<std::size_t, std::int64_t> most;  // processes, by workload
  for (const auto& c : cases) most[c.workload] = std::max(most[c.workload], instances_of(c.settings));
  for (auto& c : cases) {
    if (!c.settings.has("gpus") || c.settings.has("threads_per_instance") ||
        c.settings.integer("threads") > 0)
      continue;
    const auto lanes =
        most[c.workload] * (c.settings.has("concurrency") ? c.settings.integer("concurrency") : 1);
    c.settings.set("threads_per_instance", std::max<std::int64_t>(1, cpus / lanes));
  }
}

// Within a workload only auto brings different devices together.
void part_baselines(std::vector<Case>& cases) {
  std::map<std::string, std::string> devices;  // by id
  for (const auto& c : cases) devices.emplace(c.id, optional_text(c.settings, "device"));
  for (auto& c : cases)
    if (c.baseline_id && devices[*c.baseline_id] != devices[c.id]) c.baseline_id.reset();
}

}  // namespace

GpusHere gpus_here(const host::SystemFiles& files, const std::function<host::GpuPlaces()>& places) {
  GpusHere here;
  here.absent = host::no_visible_device_reason(files);
  if (!here.absent.empty()) return here;
  const auto found = places();
  if (found.driver.version && found.driver.gpus.empty()) {
    here.absent = "NVIDIA's driver is here and lists no GPU";
    return here;
  }
  here.count = host::visible_device_count(found);
  here.name = host::gpu_at_index(found, 0).name.value().value_or("");
  return here;
}

GpusHere gpus_here(const std::atomic<bool>& interrupt) {
  auto here = gpus_here(host::SystemFiles(), host::gpu_places);
  here.cpus = static_cast<int>(host::allowed_cpus().size());
  auto counters = rapl::counters(rapl::powercap_folder());
  here.cpu_energy = rapl::refusal(counters).empty();
  here.refusal = [&interrupt](const fs::path& file) { return refusal_of_plugin(file, interrupt); };
  return here;
}

void settle_devices(std::vector<Case>& cases, const EngineDirectory& engines, const GpusHere& here) {
  Chooser chooser(engines, here);
  if (here.cpus > 0) share_threads(cases, here.cpus);
  for (auto& c : cases) {
    std::string device;
    if (config::traits_of(c.kind).runs_engine)
      device = settle_inference(c, chooser, here);
    else if (config::traits_of(c.kind).by_ranks)
      device = settle_ranks(c, engines, chooser, here);
    watch(c, engines, {is_cuda(device), here.cpu_energy});
  }
  part_baselines(cases);
}

std::string missing_devices(const Case& c, const GpusHere& here) {
  if (!here.absent.empty() || here.count == 0 || !c.settings.has("gpus")) return {};
  const auto there =
      fmt::format("{} {} visible here", plural(here.count, "device"), here.count == 1 ? "is" : "are");
  for (const int number : device_numbers(c.settings))
    if (number >= here.count) return fmt::format("there is no device {}; {}, from 0 on", number, there);
  const auto asked = c.settings.integer("gpus");
  return asked > here.count && device_numbers(c.settings).empty()
             ? fmt::format("{} are asked for, and {}", plural(asked, "device"), there)
             : std::string();
}

std::vector<std::string> device_lines(const std::vector<Case>& cases) {
  std::vector<std::pair<std::string, std::int64_t>> lines;  // in the order of the cases
  for (const auto& c : cases) {
    if (c.where.empty() || !c.not_available.empty()) continue;
    const auto same = [&](const auto& line) { return line.first == c.where; };
    const auto found = std::find_if(lines.begin(), lines.end(), same);
    if (found == lines.end())
      lines.emplace_back(c.where, 1);
    else
      ++found->second;
  }
  std::vector<std::string> texts;
  for (const auto& [words, count] : lines)
    texts.push_back(lines.size() == 1 ? words : fmt::format("{} ({})", words, plural(count, "case")));
  return texts;
}

}  // namespace paceline::run
