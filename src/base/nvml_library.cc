// SPDX-License-Identifier: MIT
#include "base/nvml_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/text.h"

namespace paceline::nvml {
namespace {

using Code = int;

// Bits of nvmlClocksEventReasons.
constexpr Wide kThermal = 0x40 | 0x20, kPowerBrake = 0x80, kHardware = 0x08, kPowerCap = 0x04;

// By default CUDA puts the fastest GPU first, so that indices of unlike GPUs do not tell their place here.
bool counts_by_address(const std::vector<GpuName>& listed, const Variable& variable) {
  return (variable && variable("CUDA_DEVICE_ORDER") == "PCI_BUS_ID") ||
         std::ranges::all_of(listed, [&](const GpuName& gpu) { return gpu.name == listed.front().name; });
}

// An entry of CUDA_VISIBLE_DEVICES: an index, the beginning of a UUID, or the name of a MIG device.
VisibleGpu gpu_named(const std::vector<GpuName>& listed, bool by_address, const std::string& entry) {
  if (entry.starts_with("MIG-")) return {{}, entry};
  if (const auto index = parse_int(entry)) {
    if (!by_address || *index < 0 || *index >= std::ssize(listed)) return {};
    return {static_cast<std::size_t>(*index), {}};
  }
  for (std::size_t i = 0; i < listed.size(); ++i)
    if (!entry.empty() && listed[i].uuid.starts_with(entry)) return {i, {}};
  return {};
}

}  // namespace

Library::Library(const std::string& file) : handle_(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!handle_)
    reason_ = fmt::format("NVIDIA's management library cannot be opened: {}", ::dlerror());
  else if (reason_ = call<Code()>("nvmlInit_v2"); reason_.empty())
    initialised_ = true;
}

Library::~Library() {
  if (initialised_) (void)code<Code()>("nvmlShutdown");
  if (handle_) ::dlclose(handle_);
}

void* Library::find(const char* name) const {
  return handle_ ? ::dlsym(handle_, name) : nullptr;  // null stands for what is loaded already
}

std::string Library::words(int code) const {
  const auto text_of = reinterpret_cast<const char* (*)(int)>(find("nvmlErrorString"));
  const char* text = text_of ? text_of(code) : nullptr;
  return text ? text : fmt::format("error {}", code);
}

std::string Library::failure(const char* name, int code) const {
  if (code == kSuccess) return {};
  if (code == kFunctionNotFound) return fmt::format("this driver has no {}", name);
  return fmt::format("{}: {}", name, words(code));
}

int slowdowns_of(const Library& library, Device device, std::vector<std::string>& into) {
  Wide bits = 0;
  int code = library.code<Code(Device, Wide*)>("nvmlDeviceGetCurrentClocksEventReasons", device, &bits);
  if (code == kFunctionNotFound)  // drivers before 535
    code = library.code<Code(Device, Wide*)>("nvmlDeviceGetCurrentClocksThrottleReasons", device, &bits);
  if (code != kSuccess) return code;
  if (bits & kThermal) into.emplace_back("thermal slowdown");
  if (bits & kPowerBrake) into.emplace_back("power brake");
  if ((bits & kHardware) && into.empty()) into.emplace_back("hardware slowdown");
  if (bits & kPowerCap) into.emplace_back(kPowerCapWords);
  return code;
}

std::optional<std::string> own_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

std::vector<VisibleGpu> visible_gpus(const std::vector<GpuName>& listed, const Variable& variable) {
  const bool by_address = counts_by_address(listed, variable);
  const auto visible = variable ? variable("CUDA_VISIBLE_DEVICES") : std::nullopt;
  std::vector<VisibleGpu> seen;
  if (visible)
    for (const auto& entry : split(*visible, ','))
      seen.push_back(gpu_named(listed, by_address, std::string(trim(entry))));
  else
    for (std::size_t i = 0; i < listed.size(); ++i)
      seen.push_back(by_address ? VisibleGpu{i, {}} : VisibleGpu{});
  return seen;
}

}  // namespace paceline::nvml
