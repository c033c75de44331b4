// SPDX-License-Identifier: MIT
#include "torch/cuda/switches.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <array>
#include <vector>

#include "base/device.h"
#include "base/error.h"
#include "base/text.h"

namespace paceline::cuda_plugin {
namespace {

struct Row {
  torch_plugin::Precision precision;
  bool tf32;
  int capability;  // the first with hardware for it
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

// An option of a case, by its name without the engine's.
struct OptionRow {
  std::string_view name;
  bool (*apply)(Switches&, const std::string&);  // returns false for an unknown value
};
template <bool Switches::*Field>
bool set_flag(Switches& switches, const std::string& value) {
  switches.*Field = value == "true";
  return value == "true" || value == "false";
}

constexpr std::array kOptions{
    OptionRow{"cudnn_benchmark", set_flag<&Switches::cudnn_benchmark>},
    OptionRow{"cuda_graph", set_flag<&Switches::cuda_graph>},
    OptionRow{"overlap", set_flag<&Switches::overlap>},
    OptionRow{"io",
              [](Switches& s, const std::string& value) {
                const auto io = io_named(value);
                s.io = io.value_or(Io::kDevice);
                return io.has_value();
              }},
};

void apply_option(Switches& switches, const std::string& name, const std::string& value) {
  std::vector<std::string> names;
  for (const auto& row : kOptions) {
    names.emplace_back(row.name);
    if (row.name != name) continue;
    if (row.apply(switches, value)) return;
    throw Error(ErrorCode::kUsage,
                fmt::format("option '{}' of LibTorch on CUDA cannot be '{}'", name, value));
  }
  throw Error(ErrorCode::kUsage, fmt::format("LibTorch's engines on CUDA have no option '{}'; they have: {}",
                                             name, join(names, ", ")));
}

}  // namespace

int device_index(const std::string& device, int count) {
  const auto wanted = parse_device(device);
  if (!wanted || wanted->kind != DeviceKind::kCuda)
    throw Error(ErrorCode::kUsage, fmt::format("'{}' is no CUDA device; write cuda or cuda:1", device));
  if (wanted->index < count) return wanted->index;
  throw Error(ErrorCode::kUnavailable,
              fmt::format("there is no device {}; the driver shows {}: cuda:0{}", device, count,
                          count > 1 ? fmt::format(" to cuda:{}", count - 1) : ""));
}

Switches choose_switches(const std::string& precision, const std::map<std::string, std::string>& options,
                         int capability) {
  const Row& row = row_of(precision, capability);
  Switches switches{row.precision, row.tf32};
  for (const auto& [name, value] : options) apply_option(switches, name, value);
  return switches;
}

void apply(const Switches& switches) {
  auto& context = at::globalContext();
  context.setAllowTF32CuBLAS(switches.tf32);
  context.setAllowTF32CuDNN(switches.tf32);
  context.setBenchmarkCuDNN(switches.cudnn_benchmark);
  context.setDeterministicCuDNN(false);
}

}  // namespace paceline::cuda_plugin
