// SPDX-License-Identifier: MIT
// The names of devices, "cpu" and "cuda:1", and the one place that reads them.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/tensor.h"

namespace paceline {

// "cpu" or "cuda".
constexpr std::string_view kind_name(DeviceKind kind) {
  return kind == DeviceKind::kCpu ? "cpu" : "cuda";
}
// As engines get it: "cpu", "cuda:0".
std::string device_name(const Device& device);

// "cpu", "cuda:3", or "cuda" for the first one. None for other text.
std::optional<Device> parse_device(std::string_view text);
// Throws Error(kConfig) with the key `device` for other text.
Device device_named(std::string_view text);

// False for text that names no device, as "auto" does not.
bool is_cpu(std::string_view device);
bool is_cuda(std::string_view device);

}  // namespace paceline
