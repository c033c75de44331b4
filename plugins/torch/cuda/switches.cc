// SPDX-License-Identifier: MIT
#include "torch/cuda/switches.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace paceline::cuda_plugin {
namespace {

struct Row {
  torch_plugin::Precision precision;
  bool tf32;
  int capability;  // the first that has it in hardware
};
constexpr std::array<Row, 6> kRows{{
    {{"fp32", at::kFloat, false, at::kCUDA}, false, 0},
    {{"tf32", at::kFloat, false, at::kCUDA}, true, 80},
    {{"bf16", at::kBFloat16, false, at::kCUDA}, false, 80},
    {{"fp16", at::kHalf, false, at::kCUDA}, false, 53},
    {{"amp_bf16", at::kBFloat16, true, at::kCUDA}, false, 80},
    {{"amp_fp16", at::kHalf, true, at::kCUDA}, false, 53},
}};

const Row& row_of(const std::string& precision, int capability) {
  std::vector<std::string> names;
  for (const auto& row : kRows) {
    names.emplace_back(row.precision.name);
    if (row.precision.name != precision) continue;
    if (capability >= row.capability) return row;
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} needs compute capability {}.{}; this device has {}.{}; use fp32", precision,
                            row.capability / 10, row.capability % 10, capability / 10, capability % 10));
  }
  throw Error(ErrorCode::kUnsupported,
              fmt::format("LibTorch's engines on CUDA do not run in {}; they do in {}", precision,
                          join(names, ", ")));
}

}  // namespace

Switches choose_switches(const std::string& precision, const std::map<std::string, std::string>& options,
                         int capability) {
  const Row& row = row_of(precision, capability);
  Switches switches{row.precision, row.tf32, false};
  for (const auto& [name, value] : options) {
    if (name == "cudnn_benchmark")
      switches.cudnn_benchmark = value == "true";
    else
      throw Error(
          ErrorCode::kUsage,
          fmt::format("LibTorch's engines on CUDA have no option '{}'; they have cudnn_benchmark", name));
  }
  return switches;
}

}  // namespace paceline::cuda_plugin
