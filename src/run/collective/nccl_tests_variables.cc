// SPDX-License-Identifier: MIT
#include "cli/nccl_tests_variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/bandwidth_gates.h"
#include "base/error.h"
#include "base/text.h"

namespace paceline::cli {
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

}  // namespace

std::string nccl_tests_minimum(const Environment& environment) {
  const auto value_of = [&](std::string_view name) {
    const auto found = environment.find(std::string(name));
    return found == environment.end() ? std::string() : found->second;
  };
  for (const auto& row : kRefused) {
    const auto value = value_of(row.name);
    if (!value.empty() && std::find(row.idle.begin(), row.idle.end(), trim(value)) == row.idle.end())
      throw Error(ErrorCode::kUsage, fmt::format("{}={}: {}", row.name, value, row.advice));
  }
  const auto minimum = value_of(kMinimum);
  if (!minimum.empty()) analysis::least_of_nccl_tests(minimum);
  return minimum;
}

}  // namespace paceline::cli
