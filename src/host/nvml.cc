// SPDX-License-Identifier: MIT
#include "host/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/lower_case.h"

namespace paceline::host {

// The library while it is in use.
class NvmlLibrary {
 public:
  explicit NvmlLibrary(const std::string& file) : handle_(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_)
      reason_ = fmt::format("NVIDIA's management library cannot be opened: {}", ::dlerror());
    else if (reason_ = call<int()>("nvmlInit_v2"); reason_.empty())
      initialised_ = true;
  }
  ~NvmlLibrary() {
    if (initialised_) (void)call<int()>("nvmlShutdown");
    if (handle_) ::dlclose(handle_);
  }
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;
  [[nodiscard]] const std::string& reason() const { return reason_; }  // empty: the library can be called

  // Why the call failed; empty when it succeeded.
  template <class Signature, class... Arguments>
  [[nodiscard]] std::string call(const char* name, Arguments... arguments) const {
    const auto function = find<Signature>(name);
    if (!function) return fmt::format("this driver has no {}", name);
    const int code = function(arguments...);
    return code == 0 ? std::string() : fmt::format("{}: {}", name, error_text(code));
  }

 private:
  template <class Signature>
  [[nodiscard]] Signature* find(const char* name) const {
    return reinterpret_cast<Signature*>(::dlsym(handle_, name));
  }
  [[nodiscard]] std::string error_text(int code) const {
    const auto words = find<const char*(int)>("nvmlErrorString");
    const char* text = words ? words(code) : nullptr;
    return text ? text : fmt::format("error {}", code);
  }

  void* handle_;
  bool initialised_ = false;
  std::string reason_;
};

namespace {

using Text = result::Maybe<std::string>;
using Code = int;  // nvmlReturn_t; 0: success
using Device = void*;

// Layouts and names of nvml.h, a header that building this tool must not need.
struct Memory {
  unsigned long long total, free, used;  // NOLINT(google-runtime-int): as declared there
};
struct PciInfo {  // of nvmlDeviceGetPciInfo_v3
  std::array<char, 16> legacy_bus_id;
  unsigned domain, bus, device, device_id, subsystem_id;
  std::array<char, 32> bus_id;
};
constexpr std::size_t kTextBytes = 96;  // the longest that the library writes

Text text_or(const std::array<char, kTextBytes>& text, std::string reason) {
  if (reason.empty() && text[0] == '\0') reason = "the driver gives an empty text";
  if (!reason.empty()) return Text::missing(reason);
  return std::string(text.data(), ::strnlen(text.data(), text.size()));
}

Text driver_version(const NvmlLibrary& nvml) {
  std::array<char, kTextBytes> text{};
  return text_or(text, nvml.call<Code(char*, unsigned)>("nvmlSystemGetDriverVersion", text.data(),
                                                        static_cast<unsigned>(text.size())));
}

Text cuda_version(const NvmlLibrary& nvml) {
  int version = 0;
  const auto reason = nvml.call<Code(int*)>("nvmlSystemGetCudaDriverVersion_v2", &version);
  if (!reason.empty()) return Text::missing(reason);
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

Text text_of(const NvmlLibrary& nvml, const char* name, Device device) {
  std::array<char, kTextBytes> text{};
  return text_or(text, nvml.call<Code(Device, char*, unsigned)>(name, device, text.data(),
                                                                static_cast<unsigned>(text.size())));
}

// "00000000:1B:00.0" is "0000:1b:00.0" in /sys.
Text bus_id_of(const NvmlLibrary& nvml, Device device) {
  PciInfo info{};
  const auto reason = nvml.call<Code(Device, PciInfo*)>("nvmlDeviceGetPciInfo_v3", device, &info);
  if (!reason.empty()) return Text::missing(reason);
  const auto id = lower_case({info.bus_id.data(), ::strnlen(info.bus_id.data(), info.bus_id.size())});
  return id.starts_with("0000") && id.find(':') == 8 ? id.substr(4) : id;
}

result::Count memory_of(const NvmlLibrary& nvml, Device device) {
  Memory memory{};
  const auto reason = nvml.call<Code(Device, Memory*)>("nvmlDeviceGetMemoryInfo", device, &memory);
  if (!reason.empty()) return result::Count::missing(reason);
  return static_cast<std::int64_t>(memory.total);
}

constexpr unsigned kSmClock = 1;  // NVML_CLOCK_SM

// Bits of nvmlClocksEventReasons that keep a busy GPU below the clock that it was set to.
constexpr std::array<std::pair<unsigned, std::string_view>, 5> kSlowdowns{{{0x40, "thermal slowdown"},
                                                                           {0x20, "thermal slowdown"},
                                                                           {0x80, "power brake"},
                                                                           {0x08, "hardware slowdown"},
                                                                           {0x04, "power cap"}}};

// The gravest one.
std::string slowdown_words(unsigned long long bits) {  // NOLINT(google-runtime-int): as declared there
  for (const auto& [bit, words] : kSlowdowns)
    if (bits & bit) return std::string(words);
  return {};
}

NvidiaGpu gpu_of(const NvmlLibrary& nvml, unsigned index) {
  Device device = nullptr;
  const auto reason = nvml.call<Code(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2", index, &device);
  if (!reason.empty())
    return {Text::missing(reason), Text::missing(reason), Text::missing(reason),
            result::Count::missing(reason)};
  return {text_of(nvml, "nvmlDeviceGetName", device), text_of(nvml, "nvmlDeviceGetUUID", device),
          bus_id_of(nvml, device), memory_of(nvml, device)};
}

}  // namespace

NvidiaDriver read_nvidia_driver(const std::string& library) {
  const NvmlLibrary nvml(library);
  if (!nvml.reason().empty()) return {Text::missing(nvml.reason()), Text::missing(nvml.reason()), {}};
  NvidiaDriver driver{driver_version(nvml), cuda_version(nvml), {}};
  unsigned count = 0;
  if (!nvml.call<Code(unsigned*)>("nvmlDeviceGetCount_v2", &count).empty()) count = 0;
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
  if (!parts_->reason.empty())
    return {result::Number::missing(parts_->reason), Text::missing(parts_->reason)};
  GpuState state;
  unsigned mhz = 0;
  auto reason = parts_->nvml.call<Code(Device, unsigned, unsigned*)>("nvmlDeviceGetClockInfo", parts_->device,
                                                                     kSmClock, &mhz);
  state.sm_mhz = reason.empty() ? result::Number(mhz) : result::Number::missing(reason);
  unsigned long long bits = 0;  // NOLINT(google-runtime-int): as declared there
  reason = parts_->nvml.call<Code(Device, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons",
                                                                parts_->device, &bits);
  state.slowed_by = reason.empty() ? Text(slowdown_words(bits)) : Text::missing(reason);
  return state;
}

}  // namespace paceline::host
