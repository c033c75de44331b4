// SPDX-License-Identifier: MIT
#include "run/collective/nccl_tests_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/text.h"

namespace paceline::run {
namespace {

constexpr std::string_view kMinimum = "NCCL_TESTS_MIN_BW";

// Variables without a counterpart, and what to write; `idle`: values with which nccl-tests does the usual.
struct RefusedVariable {
  std::string_view name, advice;
  std::array<std::string_view, 4> idle{};
};
constexpr std::string_view kSplit =
    "several groups at once are not measured here; unset it and start each group by itself, or find slow "
    "ranks and links with --rounds N";
constexpr std::array<RefusedVariable, 3> kRefused{{
    {"NCCL_TESTS_SPLIT", kSplit, {"AND 0x0", "AND 0", "AND0x0", "AND0"}},
    {"NCCL_TESTS_SPLIT_MASK", kSplit, {"0x0", "0", "0x00", "00"}},
    {"NCCL_TESTS_DEVICE",
     "ranks take the devices that they see in order; unset it and set CUDA_VISIBLE_DEVICES"},
}};

std::string value_of(const Environment& environment, std::string_view name) {
  const auto found = environment.find(std::string(name));
  return found == environment.end() ? std::string() : found->second;
}

}  // namespace

std::string nccl_tests_minimum(const Environment& environment) {
  return value_of(environment, kMinimum);
}

void check_nccl_tests_variables(const Environment& environment) {
  for (const auto& row : kRefused) {
    const auto value = value_of(environment, row.name);
    if (!value.empty() && std::find(row.idle.begin(), row.idle.end(), trim(value)) == row.idle.end())
      throw Error(ErrorCode::kUsage, fmt::format("{}={}: {}", row.name, value, row.advice));
  }
  const auto minimum = value_of(environment, kMinimum);
  if (!minimum.empty() && !parse_double(minimum))
    throw Error(ErrorCode::kUsage, fmt::format("{}={}: it is not a number of GB/s", kMinimum, minimum));
}

}  // namespace paceline::run
