// SPDX-License-Identifier: MIT
#include "base/device.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace paceline {
namespace {

constexpr std::size_t kMostDigits = 3;

bool is_of_kind(std::string_view text, DeviceKind kind) {
  const auto device = parse_device(text);
  return device && device->kind == kind;
}

}  // namespace

std::string device_name(const Device& device) {
  const std::string kind(kind_name(device.kind));
  return device.kind == DeviceKind::kCpu ? kind : fmt::format("{}:{}", kind, device.index);
}

std::optional<Device> parse_device(std::string_view text) {
  constexpr auto kCuda = kind_name(DeviceKind::kCuda);
  if (text == kind_name(DeviceKind::kCpu)) return Device{};
  if (text == kCuda) return Device{DeviceKind::kCuda, 0};
  if (!text.starts_with(kCuda) || text.substr(kCuda.size(), 1) != ":") return std::nullopt;
  const auto digits = text.substr(kCuda.size() + 1);
  const bool plain = !digits.empty() && digits.size() <= kMostDigits &&
                     digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!plain || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  return Device{DeviceKind::kCuda, static_cast<int>(parse_int(digits).value_or(0))};
}

Device device_named(std::string_view text) {
  if (const auto device = parse_device(text)) return *device;
  throw Error(ErrorCode::kConfig, fmt::format("device '{}' is none of cpu, cuda, cuda:0, cuda:1, …", text));
}

bool is_cpu(std::string_view device) {
  return is_of_kind(device, DeviceKind::kCpu);
}

bool is_cuda(std::string_view device) {
  return is_of_kind(device, DeviceKind::kCuda);
}

}  // namespace paceline
