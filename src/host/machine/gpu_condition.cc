// SPDX-License-Identifier: MIT
#include "host/machine/gpu_condition.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "base/units.h"

namespace paceline::host {
namespace {

using nvml::Device;
using nvml::Library;
using nvml::Wide;
using Code = int;

constexpr unsigned kUncorrected = 1, kSinceDriverLoad = 0;  // nvmlMemoryErrorType_t, nvmlEccCounterType_t
constexpr double kInUseBytes = 1e9;                         // more than a display or a driver takes

// A whole number that a function writes behind its other arguments.
template <class Whole, class... Arguments>
Count count_of(const Library& library, const char* name, Device device, Arguments... arguments) {
  Whole value{};
  const auto reason = library.call<Code(Device, Arguments..., Whole*)>(name, device, arguments..., &value);
  if (reason.empty() && nvml::is_no_value(value)) return Count::missing(nvml::kNoValue);
  return reason.empty() ? Count(static_cast<std::int64_t>(value)) : Count::missing(reason);
}

Number number_of(const Count& count, double scale = 1) {
  return count ? Number(static_cast<double>(*count) * scale) : Number::missing(count.reason());
}

Maybe<bool> switch_of(const Count& count) {
  return count ? Maybe<bool>(*count != 0) : Maybe<bool>::missing(count.reason());
}

// Calls functions that write the current and the next setting.
Maybe<bool> current_of(const Library& library, const char* name, Device device) {
  unsigned current = 0, pending = 0;
  const auto reason = library.call<Code(Device, unsigned*, unsigned*)>(name, device, &current, &pending);
  return reason.empty() ? Maybe<bool>(current != 0) : Maybe<bool>::missing(reason);
}

// All but this one.
Count processes_on(const Library& library, Device device) {
  constexpr const char* kName = "nvmlDeviceGetComputeRunningProcesses_v3";
  std::vector<nvml::ProcessInfo> listed(64);
  auto count = static_cast<unsigned>(listed.size());
  const int code =
      library.code<Code(Device, unsigned*, nvml::ProcessInfo*)>(kName, device, &count, listed.data());
  if (code == nvml::kInsufficientSize) return static_cast<std::int64_t>(count);
  if (code != nvml::kSuccess) return Count::missing(library.failure(kName, code));
  listed.resize(count);
  return std::ranges::count_if(
      listed, [](const nvml::ProcessInfo& one) { return static_cast<pid_t>(one.pid) != ::getpid(); });
}

Count memory_used_on(const Library& library, Device device) {
  nvml::MemoryV2 memory{};
  const auto reason =
      library.call<Code(Device, nvml::MemoryV2*)>("nvmlDeviceGetMemoryInfo_v2", device, &memory);
  if (reason.empty() && nvml::is_no_value(memory.used)) return Count::missing(nvml::kNoValue);
  return reason.empty() ? Count(static_cast<std::int64_t>(memory.used)) : Count::missing(reason);
}

GpuCondition condition_of(const Library& library, Device device) {
  const auto whole = [&](const char* name) { return count_of<unsigned>(library, name, device); };
  const auto sm_clock = [&](const char* name) {
    return number_of(count_of<unsigned>(library, name, device, nvml::kSmClock));
  };
  GpuCondition gpu;
  gpu.power_limit_w = number_of(whole("nvmlDeviceGetPowerManagementLimit"), 1e-3);
  gpu.default_power_limit_w = number_of(whole("nvmlDeviceGetPowerManagementDefaultLimit"), 1e-3);
  gpu.max_sm_mhz = sm_clock("nvmlDeviceGetMaxClockInfo");
  gpu.application_sm_mhz = sm_clock("nvmlDeviceGetApplicationsClock");
  gpu.default_application_sm_mhz = sm_clock("nvmlDeviceGetDefaultApplicationsClock");
  gpu.ecc = current_of(library, "nvmlDeviceGetEccMode", device);
  gpu.uncorrected_errors =
      count_of<Wide>(library, "nvmlDeviceGetTotalEccErrors", device, kUncorrected, kSinceDriverLoad);
  gpu.pcie_generation = whole("nvmlDeviceGetCurrPcieLinkGeneration");
  gpu.max_pcie_generation = whole("nvmlDeviceGetMaxPcieLinkGeneration");
  gpu.pcie_width = whole("nvmlDeviceGetCurrPcieLinkWidth");
  gpu.max_pcie_width = whole("nvmlDeviceGetMaxPcieLinkWidth");
  gpu.mig = current_of(library, "nvmlDeviceGetMigMode", device);
  gpu.persistence = switch_of(whole("nvmlDeviceGetPersistenceMode"));
  gpu.processes = processes_on(library, device);
  gpu.memory_used_bytes = memory_used_on(library, device);
  return gpu;
}

template <class T>
bool below(const Maybe<T>& value, const Maybe<T>& other) {
  return value && other && *value < *other;
}

// A possible problem; an empty text: it is not there.
struct Rule {
  std::string (*problem)(const GpuCondition&);
  std::string (*fix)(const GpuCondition&, std::size_t index);
};
constexpr std::array kRules{
    Rule{[](const GpuCondition& gpu) {
           return below(gpu.power_limit_w, gpu.default_power_limit_w)
                      ? fmt::format("its power limit is {:.0f} W, {:.0f} W by default", *gpu.power_limit_w,
                                    *gpu.default_power_limit_w)
                      : std::string();
         },
         [](const GpuCondition& gpu, std::size_t index) {
           return fmt::format("nvidia-smi -i {} -pl {:.0f}", index, *gpu.default_power_limit_w);
         }},
    Rule{[](const GpuCondition& gpu) {
           return below(gpu.application_sm_mhz, gpu.default_application_sm_mhz)
                      ? fmt::format("its SM clock is set to {:.0f} MHz, {:.0f} MHz by default",
                                    *gpu.application_sm_mhz, *gpu.default_application_sm_mhz)
                      : std::string();
         },
         [](const GpuCondition&, std::size_t index) {
           return fmt::format("nvidia-smi -i {} --reset-applications-clocks", index);
         }},
    Rule{[](const GpuCondition& gpu) {
           return gpu.uncorrected_errors && *gpu.uncorrected_errors > 0
                      ? fmt::format("its memory had {} that could not be corrected",
                                    plural(*gpu.uncorrected_errors, "error"))
                      : std::string();
         },
         [](const GpuCondition&, std::size_t index) {
           return fmt::format("use another GPU, and look at nvidia-smi -i {} -q -d ECC", index);
         }},
    Rule{[](const GpuCondition& gpu) {
           return below(gpu.pcie_width, gpu.max_pcie_width)
                      ? fmt::format("its PCIe link has {} of {} lanes", *gpu.pcie_width, *gpu.max_pcie_width)
                      : std::string();
         },
         [](const GpuCondition&, std::size_t) {
           return std::string("copies to and from the host are slower: check slot, riser and BIOS");
         }},
    Rule{[](const GpuCondition& gpu) {
           return std::string(gpu.mig && *gpu.mig ? "MIG is on, and its parts share clock and power" : "");
         },
         [](const GpuCondition&, std::size_t index) {
           return fmt::format("leave its other parts idle, or nvidia-smi -i {} -mig 0", index);
         }},
    Rule{[](const GpuCondition& gpu) {
           return std::string(gpu.persistence && !*gpu.persistence ? "its persistence mode is off" : "");
         },
         [](const GpuCondition&, std::size_t index) {
           return fmt::format("nvidia-smi -i {} -pm 1, or each process waits for the driver to start", index);
         }},
    Rule{[](const GpuCondition& gpu) {
           if (gpu.processes && *gpu.processes > 0)
             return fmt::format("{} on it", *gpu.processes == 1
                                                ? "1 process computes"
                                                : fmt::format("{} processes compute", *gpu.processes));
           const double used = static_cast<double>(gpu.memory_used_bytes.value().value_or(0));
           return used > kInUseBytes
                      ? fmt::format("{} of its memory are in use by processes that are not visible here",
                                    format_bytes(used))
                      : std::string();
         },
         [](const GpuCondition&, std::size_t) {
           return std::string("end them, or choose another GPU with CUDA_VISIBLE_DEVICES");
         }},
};

}  // namespace

std::vector<GpuCondition> read_gpu_conditions(const std::string& library) {
  const Library nvml(library);
  unsigned count = 0;
  if (!nvml.reason().empty() || !nvml.call<Code(unsigned*)>("nvmlDeviceGetCount_v2", &count).empty())
    return {};
  std::vector<GpuCondition> gpus;
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    const auto reason = nvml.call<Code(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2", i, &device);
    gpus.push_back(reason.empty() ? condition_of(nvml, device) : GpuCondition{});
  }
  return gpus;
}

std::vector<GpuProblem> problems_of(const GpuCondition& gpu, std::size_t index) {
  std::vector<GpuProblem> problems;
  for (const auto& rule : kRules)
    if (auto text = rule.problem(gpu); !text.empty())
      problems.push_back({std::move(text), rule.fix(gpu, index)});
  return problems;
}

std::string in_words(const GpuCondition& gpu) {
  std::vector<std::string> words;
  if (gpu.power_limit_w) words.push_back(fmt::format("{:.0f} W", *gpu.power_limit_w));
  if (gpu.max_sm_mhz) words.push_back(fmt::format("up to {:.0f} MHz", *gpu.max_sm_mhz));
  if (gpu.ecc) words.emplace_back(*gpu.ecc ? "ECC on" : "ECC off");
  if (gpu.pcie_width) words.push_back(fmt::format("PCIe x{}", *gpu.pcie_width));
  return words.empty() ? "the driver does not report its state" : join(words, ", ");
}

}  // namespace paceline::host
