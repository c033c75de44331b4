// SPDX-License-Identifier: MIT
#include "nvml/metrics.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/text.h"

namespace paceline::nvml_plugin {
namespace {

using nvml::Device;
using nvml::Wide;
using Code = int;

constexpr unsigned kDieSensor = 0;                                             // nvmlTemperatureSensors_t
constexpr unsigned kPcieSent = 0, kPcieReceived = 1;                           // nvmlPcieUtilCounter_t
constexpr unsigned kPowerNow = 186, kNvlinkSent = 138, kNvlinkReceived = 139;  // fields
constexpr unsigned kAllLinks = ~0U;
constexpr int kUnsignedInt = 1, kSignedInt = 5, kNoData = 21;  // nvmlValueType_t, nvmlReturn_t
constexpr Wide kNarrow = 1ULL << 32U;                          // a counter of 32 bits begins again here

// A whole number behind a function of a device, times `scale`.
template <class Number, class... Arguments>
bool number(Source& source, Values& into, double scale, const char* name, Arguments... arguments) {
  Number value{};
  const auto result =
      source.library.code<Code(Device, Arguments..., Number*)>(name, source.device, arguments..., &value);
  if (!source.succeeds(name, result)) return false;
  if (nvml::is_no_value(value)) return source.refuses(kNoData, nvml::kNoValue);
  into.emplace_back(static_cast<double>(value) * scale);
  return true;
}

bool field(Source& source, Values& into, double scale, unsigned id, unsigned scope = 0) {
  nvml::FieldValue value{};
  value.field = id, value.scope = scope;
  auto result = source.library.code<Code(Device, int, nvml::FieldValue*)>("nvmlDeviceGetFieldValues",
                                                                          source.device, 1, &value);
  if (result == nvml::kSuccess) result = value.code;
  if (!source.succeeds("nvmlDeviceGetFieldValues", result)) return false;
  const bool narrow = value.type == kUnsignedInt || value.type == kSignedInt;
  if (narrow ? nvml::is_no_value(value.value.narrow) : nvml::is_no_value(value.value.wide))
    return source.refuses(kNoData, nvml::kNoValue);
  const auto whole = narrow ? Wide{value.value.narrow} : value.value.wide;
  into.emplace_back(static_cast<double>(whole) * scale);
  return true;
}

bool sm_clock(Source& s, Values& into) {
  return number<unsigned>(s, into, 1, "nvmlDeviceGetClockInfo", nvml::kSmClock);
}

bool memory_clock(Source& s, Values& into) {
  return number<unsigned>(s, into, 1, "nvmlDeviceGetClockInfo", nvml::kMemoryClock);
}

// At this moment; nvmlDeviceGetPowerUsage is the mean of the last second on newer GPUs.
bool power(Source& s, Values& into) {
  return field(s, into, 1e-3, kPowerNow) || number<unsigned>(s, into, 1e-3, "nvmlDeviceGetPowerUsage");
}

// Since the driver was loaded. What was used while the counter went back is not known.
bool energy(Source& s, Values& into) {
  constexpr const char* kName = "nvmlDeviceGetTotalEnergyConsumption";
  Wide now = 0;
  if (!s.succeeds(kName, s.library.code<Code(Device, Wide*)>(kName, s.device, &now))) return false;
  if (nvml::is_no_value(now)) return s.refuses(kNoData, nvml::kNoValue);
  const Wide before = std::exchange(s.energy_mj, now).value_or(now);
  if (now < before) {
    if (before >= kNarrow || before - now < kNarrow / 2)
      return s.refuses(nvml::kNotSupported,
                       fmt::format("its counter went back from {} to {} mJ", before, now));
    s.energy_wrapped_mj += kNarrow;
  }
  into.emplace_back(static_cast<double>(s.energy_wrapped_mj + now) * 1e-3);
  return true;
}

bool temperature(Source& s, Values& into) {
  return number<unsigned>(s, into, 1, "nvmlDeviceGetTemperature", kDieSensor);
}

bool utilization(Source& s, Values& into) {
  constexpr const char* kName = "nvmlDeviceGetUtilizationRates";
  nvml::Utilization rates{};
  if (!s.succeeds(kName, s.library.code<Code(Device, nvml::Utilization*)>(kName, s.device, &rates)))
    return false;
  if (nvml::is_no_value(rates.gpu) || nvml::is_no_value(rates.memory))
    return s.refuses(kNoData, nvml::kNoValue);
  into.emplace_back(static_cast<double>(rates.gpu));
  into.emplace_back(static_cast<double>(rates.memory));
  return true;
}

bool bytes(Source& s, Values& into, Wide used) {
  if (nvml::is_no_value(used)) return s.refuses(kNoData, nvml::kNoValue);
  into.emplace_back(static_cast<double>(used));
  return true;
}

bool memory_used(Source& s, Values& into) {
  nvml::MemoryV2 newer{};
  const int result =
      s.library.code<Code(Device, nvml::MemoryV2*)>("nvmlDeviceGetMemoryInfo_v2", s.device, &newer);
  if (result == nvml::kSuccess) return bytes(s, into, newer.used);
  if (result != nvml::kFunctionNotFound) return s.succeeds("nvmlDeviceGetMemoryInfo_v2", result);
  nvml::Memory older{};
  constexpr const char* kName = "nvmlDeviceGetMemoryInfo";
  if (!s.succeeds(kName, s.library.code<Code(Device, nvml::Memory*)>(kName, s.device, &older))) return false;
  return bytes(s, into, older.used);
}

bool slowdown(Source& s, Values& into) {
  std::vector<std::string> words;
  if (!s.succeeds("nvmlDeviceGetCurrentClocksEventReasons", nvml::slowdowns_of(s.library, s.device, words)))
    return false;
  into.emplace_back(words.empty() ? "none" : join(words, ", "));
  return true;
}

bool nvlink(Source& s, Values& into) {
  return field(s, into, 1024, kNvlinkSent, kAllLinks) && field(s, into, 1024, kNvlinkReceived, kAllLinks);
}

bool pcie(Source& s, Values& into) {
  constexpr const char* kName = "nvmlDeviceGetPcieThroughput";
  return number<unsigned>(s, into, 1000, kName, kPcieSent) &&
         number<unsigned>(s, into, 1000, kName, kPcieReceived);
}

// Where not even our own are listed, process ids are those of another namespace, or kept back.
bool other_processes(Source& s, Values& into) {
  constexpr const char* kName = "nvmlDeviceGetComputeRunningProcesses_v3";
  std::vector<nvml::ProcessInfo> listed(64);
  const auto list = [&] {
    auto count = static_cast<unsigned>(listed.size());
    const int result =
        s.library.code<Code(Device, unsigned*, nvml::ProcessInfo*)>(kName, s.device, &count, listed.data());
    listed.resize(count);
    return result;
  };
  int result = list();
  if (result == nvml::kInsufficientSize) listed.resize(2 * listed.size()), result = list();
  if (!s.succeeds(kName, result)) return false;
  std::size_t others = 0;
  for (const auto& one : listed) others += s.own.has(static_cast<pid_t>(one.pid)) ? 0 : 1;
  if (others == listed.size())
    return s.refuses(kNoData, "the driver does not list this case's own processes, as in a container");
  into.emplace_back(static_cast<double>(others));
  return true;
}

// Utilization is a mean of up to a second in the driver. The energy counter of an H200 takes 3.5 ms of a
// core.
constexpr std::array kProbes{
    Probe{{"sm_clock", "MHz", 1e5}, {}, sm_clock},
    Probe{{"power", "W", 1e5}, {}, power},
    Probe{{"slowdown", ""}, {}, slowdown},
    Probe{{"energy", "J"}, {}, energy, Period::kTenSeconds},
    Probe{{"memory_clock", "MHz", 1e5}, {}, memory_clock, Period::kOneSecond},
    Probe{{"temperature", "°C", 250}, {}, temperature, Period::kOneSecond},
    Probe{{"utilization", "%", 100}, {"memory_utilization", "%", 100}, utilization, Period::kOneSecond},
    Probe{{"memory_used", "B", 1e16}, {}, memory_used, Period::kOneSecond},
    Probe{{"nvlink_tx", "B"}, {"nvlink_rx", "B"}, nvlink, Period::kOneSecond},
    Probe{{"other_processes", "1"}, {}, other_processes, Period::kOneSecond},
    Probe{{"pcie_tx", "B/s", 1e13}, {"pcie_rx", "B/s", 1e13}, pcie, Period::kOneSecond, true},
};

}  // namespace

bool Source::succeeds(const char* name, int result) {
  code = result;
  if (result == nvml::kSuccess) return true;
  why = result == nvml::kFunctionNotFound ? library.failure(name, result) : library.words(result);
  return false;
}

bool Source::refuses(int reason_code, std::string words) {
  code = reason_code, why = std::move(words);
  return false;
}

std::span<const Probe> all_probes() {
  return kProbes;
}

}  // namespace paceline::nvml_plugin
