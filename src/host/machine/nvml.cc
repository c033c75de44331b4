// SPDX-License-Identifier: MIT
#include "host/machine/nvml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/lower_case.h"
#include "base/nvml_library.h"

namespace paceline::host {
namespace {

using Text = Maybe<std::string>;
using Code = int;  // nvmlReturn_t; 0: success
using nvml::Device;
using NvmlLibrary = nvml::Library;

template <class... Arguments>
Text text_of(const NvmlLibrary& nvml, const char* name, Arguments... arguments) {
  std::string reason;
  auto text = nvml.text(name, reason, arguments...);
  return reason.empty() ? Text(std::move(text)) : Text::missing(reason);
}

Text cuda_version(const NvmlLibrary& nvml) {
  int version = 0;
  const auto reason = nvml.call<Code(int*)>("nvmlSystemGetCudaDriverVersion_v2", &version);
  if (!reason.empty()) return Text::missing(reason);
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

// "00000000:1B:00.0" is "0000:1b:00.0" in /sys.
Text bus_id_of(const NvmlLibrary& nvml, Device device) {
  nvml::PciInfo info{};
  const auto reason = nvml.call<Code(Device, nvml::PciInfo*)>("nvmlDeviceGetPciInfo_v3", device, &info);
  if (!reason.empty()) return Text::missing(reason);
  const auto id = lower_case({info.bus_id.data(), ::strnlen(info.bus_id.data(), info.bus_id.size())});
  return id.starts_with("0000") && id.find(':') == 8 ? id.substr(4) : id;
}

Count memory_of(const NvmlLibrary& nvml, Device device) {
  nvml::Memory memory{};
  const auto reason = nvml.call<Code(Device, nvml::Memory*)>("nvmlDeviceGetMemoryInfo", device, &memory);
  if (!reason.empty()) return Count::missing(reason);
  if (nvml::is_no_value(memory.total)) return Count::missing(nvml::kNoValue);
  return static_cast<std::int64_t>(memory.total);
}

// Asks for what every GPU has. Empty: one call succeeds, and none says that the GPU is lost.
std::string loss_of(const NvmlLibrary& nvml, Device device) {
  nvml::Memory memory{};
  nvml::PciInfo info{};
  unsigned number = 0;
  const std::array codes{
      nvml.code<Code(Device, unsigned, unsigned*)>("nvmlDeviceGetTemperature", device, 0U, &number),
      nvml.code<Code(Device, nvml::Memory*)>("nvmlDeviceGetMemoryInfo", device, &memory),
      nvml.code<Code(Device, unsigned, unsigned*)>("nvmlDeviceGetClockInfo", device, nvml::kSmClock, &number),
      nvml.code<Code(Device, nvml::PciInfo*)>("nvmlDeviceGetPciInfo_v3", device, &info)};
  for (const int code : codes)
    if (nvml::is_loss(code)) return nvml.words(code);
  return std::ranges::find(codes, nvml::kSuccess) == codes.end() ? nvml.words(codes.front()) : "";
}

NvidiaGpu gpu_of(const NvmlLibrary& nvml, unsigned index) {
  Device device = nullptr;
  constexpr const char* kName = "nvmlDeviceGetHandleByIndex_v2";
  const int code = nvml.code<Code(unsigned, Device*)>(kName, index, &device);
  if (const auto reason = nvml.failure(kName, code); !reason.empty())
    return {Text::missing(reason), Text::missing(reason), Text::missing(reason), Count::missing(reason),
            nvml.words(code)};
  return {text_of(nvml, "nvmlDeviceGetName", device), text_of(nvml, "nvmlDeviceGetUUID", device),
          bus_id_of(nvml, device), memory_of(nvml, device), loss_of(nvml, device)};
}

}  // namespace

NvidiaDriver read_nvidia_driver(const std::string& library) {
  const NvmlLibrary nvml(library);
  if (!nvml.reason().empty())
    return {
        Text::missing(nvml.reason()), Text::missing(nvml.reason()), {}, nvml.is_open() ? nvml.reason() : ""};
  NvidiaDriver driver{text_of(nvml, "nvmlSystemGetDriverVersion"), cuda_version(nvml), {}};
  unsigned count = 0;
  driver.refusal = nvml.call<Code(unsigned*)>("nvmlDeviceGetCount_v2", &count);
  if (!driver.refusal.empty()) count = 0;
  for (unsigned i = 0; i < count; ++i) driver.gpus.push_back(gpu_of(nvml, i));
  return driver;
}

struct GpuSensor::Parts {
  explicit Parts(const std::string& library) : nvml(library), reason(nvml.reason()) {}
  NvmlLibrary nvml;
  std::string reason;  // why there is no device
  Device device = nullptr;
};

GpuSensor::GpuSensor(const std::string& uuid, const std::string& library)
    : parts_(std::make_unique<Parts>(library)) {
  if (parts_->reason.empty())
    parts_->reason = parts_->nvml.call<Code(const char*, Device*)>("nvmlDeviceGetHandleByUUID", uuid.c_str(),
                                                                   &parts_->device);
}

GpuSensor::~GpuSensor() = default;

GpuState GpuSensor::now() const {
  if (!parts_->reason.empty()) return {Number::missing(parts_->reason), Text::missing(parts_->reason)};
  GpuState state;
  unsigned mhz = 0;
  auto reason = parts_->nvml.call<Code(Device, unsigned, unsigned*)>("nvmlDeviceGetClockInfo", parts_->device,
                                                                     nvml::kSmClock, &mhz);
  if (reason.empty() && nvml::is_no_value(mhz)) reason = nvml::kNoValue;
  state.sm_mhz = reason.empty() ? Number(mhz) : Number::missing(reason);
  std::vector<std::string> slowdowns;
  reason = parts_->nvml.failure("nvmlDeviceGetCurrentClocksEventReasons",
                                nvml::slowdowns_of(parts_->nvml, parts_->device, slowdowns));
  if (slowdowns.empty()) slowdowns.emplace_back();
  state.slowed_by = reason.empty() ? Text(slowdowns.front()) : Text::missing(reason);
  return state;
}

}  // namespace paceline::host
