// SPDX-License-Identifier: MIT
#include "host/accelerators.h"

#include <algorithm>
#include <array>

namespace paceline::host {
namespace {

// The driver of a PC, of the Linux subsystem of Windows, of a Jetson.
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

}  // namespace paceline::host
