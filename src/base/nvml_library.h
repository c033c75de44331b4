// SPDX-License-Identifier: MIT
// NVIDIA's management library (NVML), which comes with the driver: opened at run time and called by name,
// with layouts and numbers of nvml.h, a header that building this tool must not need. No CUDA context is
// created.
#pragma once
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace paceline::nvml {

inline constexpr const char* kLibrary = "libnvidia-ml.so.1";

using Device = void*;
using Wide = unsigned long long;  // NOLINT(google-runtime-int): as declared there

// Values of nvmlReturn_t.
inline constexpr int kSuccess = 0, kNotSupported = 3, kNoPermission = 4, kInsufficientSize = 7,
                     kFunctionNotFound = 13, kGpuIsLost = 15, kResetRequired = 16;
// The GPU answers no more until it, or its host, is started again.
constexpr bool is_loss(int code) {
  return code == kGpuIsLost || code == kResetRequired;
}
inline constexpr unsigned kSmClock = 1, kMemoryClock = 2;  // nvmlClockType_t

// A number of all ones (NVML_VALUE_NOT_AVAILABLE) beside a success: the driver has none.
template <class Whole>
constexpr bool is_no_value(Whole value) {
  return value == static_cast<Whole>(-1);
}
inline constexpr const char* kNoValue = "the driver has no value for it";

struct Memory {
  Wide total, free, used;
};
struct MemoryV2 {  // of nvmlDeviceGetMemoryInfo_v2, which does not count what the driver keeps for itself
  unsigned version = sizeof(MemoryV2) | 2U << 24U;
  Wide total = 0, reserved = 0, free = 0, used = 0;
};
struct PciInfo {  // of nvmlDeviceGetPciInfo_v3
  std::array<char, 16> legacy_bus_id;
  unsigned domain, bus, device, device_id, subsystem_id;
  std::array<char, 32> bus_id;
};
struct Utilization {
  unsigned gpu, memory;
};
struct ProcessInfo {  // of nvmlDeviceGetComputeRunningProcesses_v3
  unsigned pid;
  Wide used_memory;
  unsigned gpu_instance, compute_instance;
};
struct FieldValue {
  unsigned field, scope;
  long long timestamp_us, latency_us;  // NOLINT(google-runtime-int): as declared there
  int type, code;
  union {
    double number;
    unsigned narrow;
    Wide wide;
  } value;
};
struct FabricInfo {  // of nvmlDeviceGetGpuFabricInfo
  std::array<unsigned char, 16> cluster;
  int status;  // nvmlReturn_t, of a registration that is complete
  unsigned clique;
  unsigned char state;
};
struct Margin {  // of nvmlDeviceGetMarginTemperature
  unsigned version = sizeof(Margin) | 1U << 24U;
  int celsius = 0;
};
inline constexpr unsigned kTextBytes = 96;  // the longest text that the library writes

// The library while it is in use.
class Library {
 public:
  explicit Library(const std::string& file = kLibrary);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  [[nodiscard]] const std::string& reason() const { return reason_; }  // empty: the library can be called
  [[nodiscard]] bool is_open() const {
    return handle_ != nullptr;
  }  // it is there, if it can be called or not

  // The code of nvml.h; kFunctionNotFound where this driver has no such function.
  template <class Signature, class... Arguments>
  [[nodiscard]] int code(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<Signature*>(find(name));
    return function ? function(arguments...) : kFunctionNotFound;
  }
  // Why the call failed; empty when it succeeded.
  template <class Signature, class... Arguments>
  [[nodiscard]] std::string call(const char* name, Arguments... arguments) const {
    return failure(name, code<Signature>(name, arguments...));
  }
  // Text that a function writes behind its other arguments. `reason`: why there is none; empty: there is.
  template <class... Arguments>
  [[nodiscard]] std::string text(const char* name, std::string& reason, Arguments... arguments) const {
    std::array<char, kTextBytes> buffer{};
    reason = call<int(Arguments..., char*, unsigned)>(name, arguments..., buffer.data(), kTextBytes);
    if (reason.empty() && buffer[0] == '\0') reason = "the driver gives an empty text";
    buffer.back() = '\0';
    return reason.empty() ? buffer.data() : "";
  }
  // A code in words: "Driver Not Loaded"; with the function: "nvmlInit_v2: Driver Not Loaded", empty for
  // success.
  [[nodiscard]] std::string words(int code) const;
  [[nodiscard]] std::string failure(const char* name, int code) const;

 private:
  [[nodiscard]] void* find(const char* name) const;

  void* handle_;
  bool initialised_ = false;
  std::string reason_;
};

// Reasons why a busy GPU runs below its set clock: "thermal slowdown", "power brake", "hardware slowdown" if
// neither, "power cap"; the most severe first. Fills `into`, and returns the code.
inline constexpr const char* kPowerCapWords = "power cap";
int slowdowns_of(const Library& library, Device device, std::vector<std::string>& into);

// A GPU as the driver lists it, by PCI address; empty: not known.
struct GpuName {
  std::string name, uuid;
};
// A device as CUDA counts in a process: one of the GPUs listed, or a part of one by its name MIG-…; neither
// where it is not known.
struct VisibleGpu {
  std::optional<std::size_t> place;
  std::string mig;
};
// Reads an environment variable.
using Variable = std::function<std::optional<std::string>(const std::string&)>;
std::optional<std::string> own_variable(const std::string& name);
// All that CUDA shows a process with these variables (CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER).
std::vector<VisibleGpu> visible_gpus(const std::vector<GpuName>& listed, const Variable& variable);

}  // namespace paceline::nvml
