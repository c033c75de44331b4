// SPDX-License-Identifier: MIT
// A double of NVIDIA's management library, with the soname of the real one: two GPUs, of which the second
// does not tell its total memory. FAKE_NVML_INIT: the code that initialising returns. FAKE_NVML: a text file
// whose lines take the place of those in kUsual below:
//   GPU KEY VALUE...   GPU: 0, 1, …, or * for all; KEY: a function without nvmlDeviceGet, and a part of it
// The first two calls get the first value, as the sampler asks once before it counts; the next call the
// second, and so on; the last one stays. "!15" is a code that the call returns
// instead, and "Absent" a function that the driver has not. The file is read, and counting begins, when the
// library is initialised. Processes are numbers or "self", with commas, or "none".
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

#include "base/nvml_library.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

namespace nvml = paceline::nvml;

constexpr int kUninitialised = 1, kInvalid = 2, kNotFound = 6;
constexpr const char* kUsual = R"(
* Count 2
* DriverVersion 580.65.06
* NVMLVersion 13.580.65.06
* CudaDriverVersion 13000
* Name NVIDIA_H200
0 UUID GPU-aa
1 UUID GPU-bb
0 Mig MIG-aa-1
1 Mig MIG-bb-1
0 PciInfo 00000000:1B:00.0
1 PciInfo 00000000:CF:00.0
* MemoryInfo.total 150754820096
1 MemoryInfo.total !3
* MemoryInfo_v2.used 1000000000
0 ClockInfo.1 1980
1 ClockInfo.1 1410
* ClockInfo.2 3201
0 CurrentClocksEventReasons 0x1
1 CurrentClocksEventReasons 0x24
* UtilizationRates.gpu 97
* UtilizationRates.memory 41
* Temperature 38
* TemperatureThreshold 87
* MarginTemperature !3
* RetiredPages !3
* RetiredPagesPendingStatus !3
* RemappedRows 0
* RemappedRows.pending 0
* RemappedRows.failed 0
* Fabric 3
* PowerUsage 120000
* FieldValues.186 126120
* FieldValues.138 !3
* FieldValues.139 !3
* TotalEnergyConsumption 5000000 5012600
* PcieThroughput.0 839
* PcieThroughput.1 473
* ComputeRunningProcesses self
* PowerManagementLimit 700000
* PowerManagementDefaultLimit 700000
* MaxClockInfo 1980
* ApplicationsClock 1980
* DefaultApplicationsClock 1980
* EccMode 1
* TotalEccErrors 0
* CurrPcieLinkGeneration 5
* MaxPcieLinkGeneration 5
* CurrPcieLinkWidth 16
* MaxPcieLinkWidth 16
* MigMode 0
* PersistenceMode 1
* NvLinks 18
* P2PStatus.0 0
* P2PStatus.2 0
)";

struct Gpu {
  int index;
  bool part;  // a MIG device
};
std::array<Gpu, 16> gpus;  // whole ones, and a part of each behind them

struct Sequence {
  std::vector<std::string> values;
  std::size_t calls = 0;
};
std::mutex mutex;
int initialised = 0;
std::map<std::string, Sequence> script;  // by "0 Name"; "* Name" where there is none

void read(std::istream& lines) {
  std::map<std::string, Sequence> read;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string gpu, key;
    if (!(words >> gpu >> key) || gpu[0] == '#') continue;
    auto& sequence = read[gpu + " " + key];
    for (std::string value; words >> value;) sequence.values.push_back(value);
    if (gpu == "*") std::erase_if(script, [&](const auto& one) { return one.first.substr(2) == key; });
  }
  for (auto& [name, sequence] : read) script[name] = sequence;
}

void begin() {
  script.clear();
  for (int i = 0; i < 8; ++i) gpus[i] = {i, false}, gpus[i + 8] = {i, true};
  std::istringstream usual(kUsual);
  read(usual);
  const char* name = std::getenv("FAKE_NVML");
  std::ifstream file(name ? name : "");
  read(file);
}

// The next value; a code where there is none.
int next(const std::string& gpu, const std::string& key, std::string& value) {
  const std::lock_guard lock(mutex);
  if (initialised == 0) return kUninitialised;
  const bool own = script.contains(gpu + " " + key);
  const bool shared = script.contains("* " + key);
  if (!own && !shared) return nvml::kNotSupported;
  // Each GPU counts its own calls of what is said of all.
  if (!own) script[gpu + " " + key] = script["* " + key];
  auto& sequence = script[gpu + " " + key];
  const auto warm = std::max<std::size_t>(sequence.calls++, 1) - 1;
  value = sequence.values.at(std::min(warm, sequence.values.size() - 1));
  if (value == "Absent") return nvml::kFunctionNotFound;
  return value[0] == '!' ? std::atoi(value.c_str() + 1) : nvml::kSuccess;
}

int next_of(nvml::Device device, const std::string& key, std::string& value) {
  const auto& gpu = *static_cast<const Gpu*>(device);
  if (gpu.part && key != "Name") return nvml::kNotSupported;
  return next(std::to_string(gpu.index), key, value);
}

template <class Number>
int number(nvml::Device device, const std::string& key, Number* into) {
  std::string value;
  const int code = next_of(device, key, value);
  if (code == nvml::kSuccess) *into = static_cast<Number>(std::strtoull(value.c_str(), nullptr, 0));
  return code;
}

int give(const std::string& value, char* to, unsigned size) {
  if (value.size() >= size) return nvml::kInsufficientSize;
  std::snprintf(to, size, "%s", value.c_str());
  return nvml::kSuccess;
}

int text(nvml::Device device, const std::string& key, char* to, unsigned size) {
  std::string value;
  const int code = device ? next_of(device, key, value) : next("*", key, value);
  for (auto& letter : value)
    if (letter == '_') letter = ' ';
  return code == nvml::kSuccess ? give(value, to, size) : code;
}

int count_of_gpus() {
  std::string value;
  return next("*", "Count", value) == nvml::kSuccess ? std::atoi(value.c_str()) : 0;
}

}  // namespace

EXPORTED int nvmlInit_v2() {
  const std::lock_guard lock(mutex);
  const char* code = std::getenv("FAKE_NVML_INIT");
  if (code) return std::atoi(code);
  if (initialised++ == 0) begin();
  return 0;
}
EXPORTED int nvmlShutdown() {
  const std::lock_guard lock(mutex);
  --initialised;
  return 0;
}
// How many different values were asked for since the library was initialised.
EXPORTED unsigned fakeNvmlAsked() {
  const std::lock_guard lock(mutex);
  unsigned asked = 0;
  for (const auto& [name, sequence] : script) asked += sequence.calls > 0 ? 1 : 0;
  return asked;
}
EXPORTED const char* nvmlErrorString(int code) {
  switch (code) {
    case nvml::kNotSupported:
      return "Not Supported";
    case nvml::kNoPermission:
      return "Insufficient Permissions";
    case nvml::kGpuIsLost:
      return "GPU is lost";
    case nvml::kResetRequired:
      return "GPU requires reset";
    case 18:
      return "Driver/library version mismatch";
    default:
      return "Unknown Error";
  }
}
EXPORTED int nvmlSystemGetDriverVersion(char* to, unsigned size) {
  return text(nullptr, "DriverVersion", to, size);
}
EXPORTED int nvmlSystemGetNVMLVersion(char* to, unsigned size) {
  return text(nullptr, "NVMLVersion", to, size);
}
EXPORTED int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  std::string value;
  const int code = next("*", "CudaDriverVersion", value);
  *version = std::atoi(value.c_str());
  return code;
}
EXPORTED int nvmlDeviceGetCount_v2(unsigned* count) {
  std::string value;
  const int code = next("*", "Count", value);
  *count = code == nvml::kSuccess ? static_cast<unsigned>(std::atoi(value.c_str())) : 0;
  return code;
}
EXPORTED int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (static_cast<int>(index) >= count_of_gpus()) return kInvalid;
  std::string value;
  const int code = next(std::to_string(index), "Handle", value);  // "1 Handle !15"
  if (code != nvml::kSuccess && code != nvml::kNotSupported) return code;
  *device = &gpus[index];
  return 0;
}
EXPORTED int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  const bool part = std::strncmp(uuid, "MIG-", 4) == 0;
  for (int i = 0; i < count_of_gpus(); ++i) {
    std::string value;
    if (next(std::to_string(i), part ? "Mig" : "UUID", value) != 0 || value != uuid) continue;
    *device = &gpus[static_cast<std::size_t>(part ? i + 8 : i)];
    return 0;
  }
  return kNotFound;
}
EXPORTED int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(void* part, void** whole) {
  *whole = &gpus[static_cast<std::size_t>(static_cast<Gpu*>(part)->index)];
  return 0;
}
EXPORTED int nvmlDeviceGetName(void* device, char* to, unsigned size) {
  return text(device, "Name", to, size);
}
EXPORTED int nvmlDeviceGetUUID(void* device, char* to, unsigned size) {
  return text(device, "UUID", to, size);
}
EXPORTED int nvmlDeviceGetPciInfo_v3(void* device, nvml::PciInfo* info) {
  return text(device, "PciInfo", info->bus_id.data(), sizeof info->bus_id);
}
EXPORTED int nvmlDeviceGetMemoryInfo(void* device, nvml::Memory* memory) {
  const int code = number(device, "MemoryInfo.total", &memory->total);
  (void)number(device, "MemoryInfo.used", &memory->used);
  return code;
}
EXPORTED int nvmlDeviceGetMemoryInfo_v2(void* device, nvml::MemoryV2* memory) {
  if (memory->version != 0x02000028) return 25;  // as sizeof of nvml.h's structure has it
  return number(device, "MemoryInfo_v2.used", &memory->used);
}
EXPORTED int nvmlDeviceGetClockInfo(void* device, unsigned type, unsigned* mhz) {
  return number(device, "ClockInfo." + std::to_string(type), mhz);
}
EXPORTED int nvmlDeviceGetCurrentClocksEventReasons(void* device, nvml::Wide* bits) {
  return number(device, "CurrentClocksEventReasons", bits);
}
EXPORTED int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, nvml::Wide* bits) {
  return number(device, "CurrentClocksThrottleReasons", bits);
}
EXPORTED int nvmlDeviceGetUtilizationRates(void* device, nvml::Utilization* rates) {
  const int code = number(device, "UtilizationRates.gpu", &rates->gpu);
  return code == 0 ? number(device, "UtilizationRates.memory", &rates->memory) : code;
}
EXPORTED int nvmlDeviceGetTemperature(void* device, unsigned sensor, unsigned* celsius) {
  return sensor == 0 ? number(device, "Temperature", celsius) : kInvalid;
}
EXPORTED int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  return number(device, "PowerUsage", milliwatts);
}
EXPORTED int nvmlDeviceGetTotalEnergyConsumption(void* device, nvml::Wide* millijoules) {
  return number(device, "TotalEnergyConsumption", millijoules);
}
EXPORTED int nvmlDeviceGetFieldValues(void* device, int count, nvml::FieldValue* values) {
  for (int i = 0; i < count; ++i) {
    const bool counter = values[i].scope == ~0U;  // of all NVLinks, 64 bits
    nvml::Wide value = 0;
    values[i].code = number(device, "FieldValues." + std::to_string(values[i].field), &value);
    values[i].type = counter ? 3 : 1;
    values[i].value.wide = 0xAAAAAAAA00000000ULL;  // what lies beyond a narrow value is not defined
    if (counter)
      values[i].value.wide = value;
    else
      values[i].value.narrow = static_cast<unsigned>(value);
  }
  return 0;
}
EXPORTED int nvmlDeviceGetPcieThroughput(void* device, unsigned counter, unsigned* kilobytes) {
  return number(device, "PcieThroughput." + std::to_string(counter), kilobytes);
}
EXPORTED int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count,
                                                     nvml::ProcessInfo* infos) {
  std::string value;
  if (const int code = next_of(device, "ComputeRunningProcesses", value); code != 0) return code;
  std::vector<unsigned> ids;
  std::istringstream words(value);
  for (std::string word; std::getline(words, word, ',');)
    if (word != "none")
      ids.push_back(word == "self" ? static_cast<unsigned>(::getpid())
                                   : static_cast<unsigned>(std::stoul(word)));
  const bool fits = ids.size() <= *count;
  for (std::size_t i = 0; fits && i < ids.size(); ++i) infos[i] = {ids[i], 1000, ~0U, ~0U};
  *count = static_cast<unsigned>(ids.size());
  return fits ? nvml::kSuccess : nvml::kInsufficientSize;
}

EXPORTED int nvmlDeviceGetTemperatureThreshold(void* device, unsigned type, unsigned* celsius) {
  return type == 1 ? number(device, "TemperatureThreshold", celsius) : kInvalid;
}
EXPORTED int nvmlDeviceGetMarginTemperature(void* device, nvml::Margin* margin) {
  if (margin->version != 0x01000008) return 25;
  return number(device, "MarginTemperature", &margin->celsius);
}
// "RetiredPages": of both causes each.
EXPORTED int nvmlDeviceGetRetiredPages(void* device, unsigned, unsigned* count, nvml::Wide* addresses) {
  const int code = number(device, "RetiredPages", count);
  return code == nvml::kSuccess && *count > 0 && !addresses ? nvml::kInsufficientSize : code;
}
EXPORTED int nvmlDeviceGetRemappedRows(void* device, unsigned* corrected, unsigned* uncorrected,
                                       unsigned* pending, unsigned* failed) {
  *corrected = 0;
  (void)number(device, "RemappedRows.pending", pending);
  (void)number(device, "RemappedRows.failed", failed);
  return number(device, "RemappedRows", uncorrected);
}
// "Fabric": the state, and "Fabric.status" once it is complete.
EXPORTED int nvmlDeviceGetGpuFabricInfo(void* device, nvml::FabricInfo* info) {
  info->status = 0;
  (void)number(device, "Fabric.status", &info->status);
  return number(device, "Fabric", &info->state);
}

// One number of a device.
#define FAKE_NUMBER(NAME)                                             \
  EXPORTED int nvmlDeviceGet##NAME(void* device, unsigned* number_) { \
    return number(device, #NAME, number_);                            \
  }
FAKE_NUMBER(PowerManagementLimit)
FAKE_NUMBER(PowerManagementDefaultLimit)
FAKE_NUMBER(CurrPcieLinkGeneration)
FAKE_NUMBER(MaxPcieLinkGeneration)
FAKE_NUMBER(CurrPcieLinkWidth)
FAKE_NUMBER(MaxPcieLinkWidth)
FAKE_NUMBER(PersistenceMode)
FAKE_NUMBER(RetiredPagesPendingStatus)

// One number of the SM's clock.
#define FAKE_SM_CLOCK(NAME)                                                      \
  EXPORTED int nvmlDeviceGet##NAME(void* device, unsigned type, unsigned* mhz) { \
    return type == nvml::kSmClock ? number(device, #NAME, mhz) : kInvalid;       \
  }
FAKE_SM_CLOCK(MaxClockInfo)
FAKE_SM_CLOCK(ApplicationsClock)
FAKE_SM_CLOCK(DefaultApplicationsClock)

// The setting now, and after the next start.
#define FAKE_SETTING(NAME)                                                               \
  EXPORTED int nvmlDeviceGet##NAME(void* device, unsigned* current, unsigned* pending) { \
    *pending = 0;                                                                        \
    return number(device, #NAME, current);                                               \
  }
FAKE_SETTING(EccMode)
FAKE_SETTING(MigMode)

// "0 P2PStatus.2.1 5": of GPU 0 with GPU 1 over NVLink; else "P2PStatus.2" with all.
EXPORTED int nvmlDeviceGetP2PStatus(void* first, void* second, int index, int* status) {
  const auto key = "P2PStatus." + std::to_string(index);
  const auto with = key + "." + std::to_string(static_cast<Gpu*>(second)->index);
  const int code = number(first, with, status);
  return code == nvml::kNotSupported ? number(first, key, status) : code;
}
// "NvLinks": how many are up.
EXPORTED int nvmlDeviceGetNvLinkState(void* device, unsigned link, int* active) {
  int links = 0;
  const int code = number(device, "NvLinks", &links);
  *active = static_cast<int>(link) < links ? 1 : 0;
  return link < 18 ? code : kInvalid;
}
EXPORTED int nvmlDeviceGetTotalEccErrors(void* device, unsigned uncorrected, unsigned counter,
                                         nvml::Wide* errors) {
  return uncorrected == 1 && counter == 0 ? number(device, "TotalEccErrors", errors) : kInvalid;
}
