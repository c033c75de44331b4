// SPDX-License-Identifier: MIT
#include "host/machine/accelerators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/text.h"

namespace paceline::host {
namespace {

// Files of the driver on a PC, in the Linux subsystem of Windows, and on a Jetson.
constexpr std::array<std::string_view, 4> kSigns{"dev/nvidiactl", "dev/nvidia0", "dev/dxg", "dev/nvhost-gpu"};

}  // namespace

std::string no_nvidia_device_reason(const SystemFiles& files) {
  const bool sign = std::any_of(kSigns.begin(), kSigns.end(), [&](auto path) { return files.exists(path); });
  if (sign) return {};
  return files.exists("proc/driver/nvidia/version")
             ? "the NVIDIA driver is loaded, but no device is visible here (no /dev/nvidia0); a container "
               "must be started with access to the GPU"
             : "no NVIDIA GPU here (neither /dev/nvidia0 nor /dev/dxg); use device: cpu";
}

std::optional<std::string> visible_devices() {
  const char* value = std::getenv("CUDA_VISIBLE_DEVICES");
  return value ? std::optional<std::string>(value) : std::nullopt;
}

// CUDA takes the entries before the first that is not a device.
std::string no_visible_device_reason(const SystemFiles& files, const std::optional<std::string>& visible) {
  if (auto absent = no_nvidia_device_reason(files); !absent.empty() || !visible) return absent;
  const auto first = std::string(trim(visible->substr(0, visible->find(','))));
  if (!first.empty() && parse_int(first).value_or(0) >= 0) return {};
  return fmt::format("CUDA_VISIBLE_DEVICES='{}' hides every GPU; unset it, or use device: cpu", *visible);
}

}  // namespace paceline::host
