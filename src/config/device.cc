// SPDX-License-Identifier: MIT
#include "config/device.h"

namespace paceline::config {
namespace {

constexpr std::string_view kCuda = "cuda";
constexpr std::size_t kMostDigits = 3;

}  // namespace

std::optional<std::string> canonical_device(std::string_view text) {
  if (text == "cpu") return "cpu";
  if (text == kCuda) return "cuda:0";
  if (!text.starts_with("cuda:") || text.size() > kCuda.size() + 1 + kMostDigits) return std::nullopt;
  const auto digits = text.substr(kCuda.size() + 1);
  const bool plain = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!plain || (digits.size() > 1 && digits.front() == '0')) return std::nullopt;
  return std::string(text);
}

bool runs_on_cpu(std::string_view engine, std::string_view device) {
  return device == "cpu" && engine != "tensorrt";
}

}  // namespace paceline::config
