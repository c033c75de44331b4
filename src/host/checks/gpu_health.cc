// SPDX-License-Identifier: MIT
#include "host/checks/gpu_health.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "host/machine/accelerators.h"

namespace paceline::host {
namespace {

using nvml::Device;
using nvml::Library;
using result::Count;
using result::Maybe;
using Code = int;

constexpr unsigned kDieSensor = 0, kSlowdownLimit = 1;      // nvmlTemperatureSensors_t, …Thresholds_t
constexpr std::array<unsigned, 2> kRetirementCauses{0, 1};  // nvmlPageRetirementCause_t
constexpr std::int64_t kCloseToLimit = 5;                   // degrees
constexpr std::int64_t kManyPages = 60;                     // of 64 that a GPU can retire
constexpr const char* kReplace = "have the GPU replaced, and leave it out of runs until then";

Count temperature_of(const Library& nvml, const char* name, Device device, unsigned which) {
  unsigned celsius = 0;
  auto reason = nvml.call<Code(Device, unsigned, unsigned*)>(name, device, which, &celsius);
  if (reason.empty() && nvml::is_no_value(celsius)) reason = nvml::kNoValue;
  return reason.empty() ? Count(celsius) : Count::missing(reason);
}

Count margin_of(const Library& nvml, Device device) {
  nvml::Margin margin;
  const auto reason =
      nvml.call<Code(Device, nvml::Margin*)>("nvmlDeviceGetMarginTemperature", device, &margin);
  return reason.empty() ? Count(margin.celsius) : Count::missing(reason);
}

Maybe<std::vector<std::string>> slowdowns_of(const Library& nvml, Device device) {
  std::vector<std::string> words;
  const auto reason =
      nvml.failure("nvmlDeviceGetCurrentClocksEventReasons", nvml::slowdowns_of(nvml, device, words));
  return reason.empty() ? Maybe(words) : Maybe<std::vector<std::string>>::missing(reason);
}

// Asked for none of them, the driver says how many there are.
Count retired_pages_of(const Library& nvml, Device device) {
  constexpr const char* kName = "nvmlDeviceGetRetiredPages";
  std::int64_t all = 0;
  for (const auto cause : kRetirementCauses) {
    unsigned count = 0;
    const int code = nvml.code<Code(Device, unsigned, unsigned*, nvml::Wide*)>(
        kName, device, cause, &count, static_cast<nvml::Wide*>(nullptr));
    if (code != nvml::kSuccess && code != nvml::kInsufficientSize)
      return Count::missing(nvml.failure(kName, code));
    all += count;
  }
  return all;
}

void read_memory(const Library& nvml, Device device, GpuHealth& gpu) {
  gpu.retired_pages = retired_pages_of(nvml, device);
  unsigned pending = 0;
  auto reason =
      nvml.call<Code(Device, unsigned*)>("nvmlDeviceGetRetiredPagesPendingStatus", device, &pending);
  gpu.retirement_pending = reason.empty() ? Maybe(pending != 0) : Maybe<bool>::missing(reason);
  unsigned corrected = 0, uncorrected = 0, failed = 0;
  reason = nvml.call<Code(Device, unsigned*, unsigned*, unsigned*, unsigned*)>(
      "nvmlDeviceGetRemappedRows", device, &corrected, &uncorrected, &pending, &failed);
  gpu.remapped_rows = reason.empty() ? Count(std::int64_t{corrected} + uncorrected) : Count::missing(reason);
  gpu.remapping_pending = reason.empty() ? Maybe(pending != 0) : Maybe<bool>::missing(reason);
  gpu.remapping_failed = reason.empty() ? Maybe(failed != 0) : Maybe<bool>::missing(reason);
}

Maybe<Fabric> fabric_of(const Library& nvml, Device device) {
  constexpr std::array kStates{Fabric::kNone, Fabric::kNotStarted, Fabric::kInProgress, Fabric::kReady};
  nvml::FabricInfo info{};
  const auto reason = nvml.call<Code(Device, nvml::FabricInfo*)>("nvmlDeviceGetGpuFabricInfo", device, &info);
  if (!reason.empty()) return Maybe<Fabric>::missing(reason);
  if (info.state >= kStates.size())
    return Maybe<Fabric>::missing(fmt::format("the driver gives state {}, which is not known", info.state));
  const auto state = kStates[info.state];
  return state == Fabric::kReady && info.status != nvml::kSuccess ? Fabric::kFailed : state;
}

GpuHealth without_values(const std::string& reason) {
  GpuHealth gpu;
  gpu.celsius = gpu.remapped_rows = Count::missing(reason);
  gpu.slowdowns = Maybe<std::vector<std::string>>::missing(reason);
  gpu.fabric = Maybe<Fabric>::missing(reason);
  return gpu;
}

// The part of one GPU in a row; `missing` has the reason where it reports nothing.
struct Word {
  CheckStatus status = CheckStatus::kPass;
  std::string text, fix{}, missing{};
};
using HealthJudge = Word (*)(const GpuHealth&, std::size_t index);

// "0, 1: 38 °C; 2: 91 °C, 2 °C below its limit": GPUs that say the same stand together, problems alone.
CheckResult row_of(const SystemFiles& files, const std::string& library, HealthJudge judge) {
  if (const auto absent = no_nvidia_device_reason(files); !absent.empty())
    return {CheckStatus::kSkip, absent, {}};
  const auto gpus = read_gpu_health(library);
  std::vector<Word> words;
  for (std::size_t i = 0; i < gpus.size(); ++i) words.push_back(judge(gpus[i], i));
  if (std::ranges::all_of(words, [](const Word& one) { return !one.missing.empty(); }))
    return {CheckStatus::kSkip, words.empty() ? "the driver lists no GPU" : words.front().missing, {}};
  auto worst = CheckStatus::kPass;
  for (const auto& one : words) worst = std::max(worst, one.status);
  std::vector<std::pair<std::string, std::string>> groups;  // what is said, and by which
  std::vector<std::string> fixes;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& [status, text, fix, missing] = words[i];
    if (!missing.empty() || (worst != CheckStatus::kPass && status == CheckStatus::kPass)) continue;
    auto group = std::ranges::find(groups, text, [](const auto& one) { return one.first; });
    if (group == groups.end())
      groups.emplace_back(text, std::to_string(i));
    else
      group->second += fmt::format(", {}", i);
    if (!fix.empty() && std::ranges::find(fixes, fix) == fixes.end()) fixes.push_back(fix);
  }
  std::vector<std::string> said;
  for (const auto& [text, by] : groups) said.push_back(fmt::format("{}: {}", by, text));
  return {worst, join(said, "; "), join(fixes, "; ")};
}

Word temperature_word(const GpuHealth& gpu, std::size_t) {
  if (!gpu.celsius) return {.text = {}, .missing = gpu.celsius.reason()};
  auto text = fmt::format("{} °C", *gpu.celsius);
  if (!gpu.margin_celsius && !gpu.limit_celsius) return {.text = std::move(text)};
  const auto margin = gpu.margin_celsius ? *gpu.margin_celsius : *gpu.limit_celsius - *gpu.celsius;
  text += margin < 0 ? fmt::format(", {} °C above its limit", -margin)
                     : fmt::format(", {} °C below its limit", margin);
  if (margin > kCloseToLimit) return {.text = std::move(text)};
  return {CheckStatus::kWarn, std::move(text), "cool it: look at fans, air flow and neighbours"};
}

// A power cap is no fault.
Word slowdown_word(const GpuHealth& gpu, std::size_t index) {
  if (!gpu.slowdowns) return {.text = {}, .missing = gpu.slowdowns.reason()};
  const auto& words = *gpu.slowdowns;
  auto text = words.empty() ? std::string("not slowed down") : join(words, ", ");
  if (words.empty() || words.front() == nvml::kPowerCapWords) return {.text = std::move(text)};
  return {
      CheckStatus::kWarn, std::move(text),
      fmt::format("nvidia-smi -i {} -q -d PERFORMANCE,TEMPERATURE: check cooling and power supply", index)};
}

std::string memory_text(const GpuHealth& gpu) {
  std::vector<std::string> words;
  const auto some = [&](const Count& count, const char* done, const char* what) {
    if (count)
      words.push_back(*count == 0 ? fmt::format("no {} {}s", done, what)
                                  : fmt::format("{} {}", *count, done) +
                                        (*count == 1 ? fmt::format(" {}", what) : fmt::format(" {}s", what)));
  };
  some(gpu.retired_pages, "retired", "page");
  some(gpu.remapped_rows, "remapped", "row");
  return join(words, ", ");
}

Word memory_word(const GpuHealth& gpu, std::size_t index) {
  if (!gpu.retired_pages && !gpu.remapped_rows) return {.text = {}, .missing = gpu.remapped_rows.reason()};
  auto text = memory_text(gpu);
  const auto is = [](const Maybe<bool>& flag) { return flag && *flag; };
  if (is(gpu.remapping_failed))
    return {CheckStatus::kFail, text + ", and a row could not be remapped", kReplace};
  if (is(gpu.remapping_pending) || is(gpu.retirement_pending))
    return {CheckStatus::kWarn, text + ", and bad memory is in use until the GPU is reset",
            fmt::format("end what runs on it, then nvidia-smi -i {} --gpu-reset", index)};
  if (gpu.retired_pages.value().value_or(0) >= kManyPages)
    return {CheckStatus::kWarn, text + " of at most 64", kReplace};
  return {.text = std::move(text)};
}

Word fabric_word(const GpuHealth& gpu, std::size_t) {
  constexpr const char* kStart =
      "systemctl start nvidia-fabricmanager, of the driver's version; until then CUDA does not start "
      "(error 802)";
  if (!gpu.fabric) return {.text = {}, .missing = gpu.fabric.reason()};
  switch (*gpu.fabric) {
    case Fabric::kNone:
      return {.text = {}, .missing = "these GPUs have no NVSwitch"};
    case Fabric::kNotStarted:
      return {CheckStatus::kFail, "not registered: the fabric manager has not begun", kStart};
    case Fabric::kInProgress:
      return {CheckStatus::kFail, "not registered: the fabric manager has not finished", kStart};
    case Fabric::kFailed:
      return {CheckStatus::kFail, "its registration failed",
              "journalctl -u nvidia-fabricmanager shows why; then restart it"};
    case Fabric::kReady:
      break;
  }
  return {.text = "registered"};
}

std::string gpu_in_words(const NvidiaGpu& gpu) {
  if (!gpu.lost.empty()) return fmt::format("does not answer ({})", gpu.lost);
  std::string text = gpu.name ? *gpu.name : fmt::format("unknown ({})", gpu.name.reason());
  return gpu.memory_bytes ? fmt::format("{} {}", text, format_bytes(static_cast<double>(*gpu.memory_bytes)))
                          : text;
}

// Whether CUDA shows none of the lost GPUs to this process. A lost one has no name: it is taken for alike.
bool are_hidden(const std::vector<NvidiaGpu>& gpus, const nvml::Variable& variable) {
  if (!variable || !variable("CUDA_VISIBLE_DEVICES")) return false;
  std::vector<nvml::GpuName> names;
  const auto named = std::ranges::find_if(gpus, [](const auto& gpu) { return bool(gpu.name); });
  for (const auto& gpu : gpus)
    names.push_back({gpu.name              ? *gpu.name
                     : named != gpus.end() ? *named->name
                                           : "",
                     gpu.uuid.value().value_or("")});
  return std::ranges::all_of(nvml::visible_gpus(names, variable), [&](const nvml::VisibleGpu& one) {
    return !one.mig.empty() || (one.place && gpus[*one.place].lost.empty());
  });
}

CheckResult answering_gpus(const NvidiaDriver& driver, const nvml::Variable& variable) {
  auto text = fmt::format("driver {}", *driver.version);
  if (driver.cuda_version) text += fmt::format(", CUDA up to {}", *driver.cuda_version);
  bool lost = false;
  for (std::size_t i = 0; i < driver.gpus.size(); ++i) {
    text += fmt::format("; {}: {}", i, gpu_in_words(driver.gpus[i]));
    lost = lost || !driver.gpus[i].lost.empty();
  }
  if (!lost) return {CheckStatus::kPass, std::move(text), {}};
  if (are_hidden(driver.gpus, variable))
    return {CheckStatus::kWarn, text + ", hidden by CUDA_VISIBLE_DEVICES", "reset it, or restart the host"};
  return {CheckStatus::kFail, std::move(text),
          "dmesg | grep Xid shows why; reset the GPU (nvidia-smi --gpu-reset -i N) or restart the host; "
          "until then CUDA_VISIBLE_DEVICES can leave it out"};
}

}  // namespace

std::vector<GpuHealth> read_gpu_health(const std::string& library) {
  const Library nvml(library);
  unsigned count = 0;
  if (!nvml.reason().empty() || !nvml.call<Code(unsigned*)>("nvmlDeviceGetCount_v2", &count).empty())
    return {};
  std::vector<GpuHealth> gpus(count);
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    const auto reason = nvml.call<Code(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2", i, &device);
    if (!reason.empty()) {
      gpus[i] = without_values(reason);
      continue;
    }
    auto& gpu = gpus[i];
    gpu.celsius = temperature_of(nvml, "nvmlDeviceGetTemperature", device, kDieSensor);
    gpu.limit_celsius = temperature_of(nvml, "nvmlDeviceGetTemperatureThreshold", device, kSlowdownLimit);
    gpu.margin_celsius = margin_of(nvml, device);
    gpu.slowdowns = slowdowns_of(nvml, device);
    read_memory(nvml, device, gpu);
    gpu.fabric = fabric_of(nvml, device);
  }
  return gpus;
}

CheckResult check_gpu_temperature(const SystemFiles& files, const std::string& library) {
  return row_of(files, library, temperature_word);
}

CheckResult check_gpu_slowdown(const SystemFiles& files, const std::string& library) {
  return row_of(files, library, slowdown_word);
}

CheckResult check_gpu_memory(const SystemFiles& files, const std::string& library) {
  return row_of(files, library, memory_word);
}

CheckResult check_gpu_fabric(const SystemFiles& files, const std::string& library) {
  return row_of(files, library, fabric_word);
}

CheckResult check_gpus(const SystemFiles& files, const std::string& library, const nvml::Variable& variable) {
  if (const auto absent = no_nvidia_device_reason(files); !absent.empty())
    return {CheckStatus::kSkip, absent, {}};
  const auto driver = read_nvidia_driver(library);
  constexpr const char* kFix =
      "nvidia-smi must work here: install the driver, or start the container with its libraries";
  if (!driver.refusal.empty())
    return {CheckStatus::kFail, "a GPU, but its driver does not answer: " + driver.refusal,
            "nvidia-smi must work here: load the driver's module, or restart the host after its update"};
  if (!driver.version)
    return {CheckStatus::kWarn, fmt::format("a GPU, but no word of its driver: {}", driver.version.reason()),
            kFix};
  if (driver.gpus.empty())
    return {files.exists("dev/nvidia0") ? CheckStatus::kFail : CheckStatus::kWarn,
            fmt::format("driver {} lists no GPU", *driver.version),
            "nvidia-smi -L must list one: look at dmesg, or start the container with access to it"};
  return answering_gpus(driver, variable);
}

}  // namespace paceline::host
