// SPDX-License-Identifier: MIT
#include "torch/precision.h"

#include <ATen/autocast_mode.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "torch/isa_limit.h"

namespace paceline::torch_plugin {
namespace {

// A precision is offered where the CPU has one of `features` (words of /proc/cpuinfo, x86 and Arm) or needs
// none; elsewhere LibTorch emulates it so slowly that a measurement would mislead.
struct PrecisionRow {
  Precision precision;
  std::vector<std::string> features;
  std::string refusal;
};

const std::vector<PrecisionRow>& precision_table() {
  const std::vector<std::string> bf16 = {"avx512_bf16", "amx_bf16", "bf16"};
  const std::vector<std::string> fp16 = {"avx512_fp16", "amx_fp16", "asimdhp"};
  const std::string no_bf16 = "needs AVX512-BF16 or AMX-BF16; this CPU has neither; use fp32";
  const std::string no_fp16 = "needs AVX512-FP16 or AMX-FP16; this CPU has neither; use bf16 or fp32";
  static const std::vector<PrecisionRow> rows = {
      {{"fp32", at::kFloat, false}, {}, ""},
      {{"bf16", at::kBFloat16, false}, bf16, no_bf16},
      {{"fp16", at::kHalf, false}, fp16, no_fp16},
      {{"amp_bf16", at::kBFloat16, true}, bf16, no_bf16},
      {{"amp_fp16", at::kHalf, true}, fp16, no_fp16},
      {{"tf32", at::kFloat, false}, {"none"}, "is a mode of NVIDIA GPUs; on a CPU use fp32 or bf16"},
      {{"int8", at::kChar, false},
       {"none"},
       "needs a quantised model, which LibTorch's engines do not make; use bf16 or fp32"},
  };
  return rows;
}

std::vector<std::string> read_cpu_features() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

bool has_any(const std::vector<std::string>& features, const std::vector<std::string>& wanted) {
  return std::find_first_of(features.begin(), features.end(), wanted.begin(), wanted.end()) != features.end();
}

// Why the CPU, as limited by the environment, has none of the features; empty: it has one.
std::string what_is_missing(const PrecisionRow& row) {
  static const auto features = read_cpu_features();
  if (row.features.empty()) return {};
  if (!has_any(features, row.features)) return row.refusal;
  const auto limit = isa_limit_of_environment();
  if (limit.variable.empty() || has_any(features_left(features, limit.value), row.features)) return {};
  return fmt::format("needs {}, which {}={} takes away; without it LibTorch emulates the precision",
                     join(row.features, " or "), limit.variable, limit.value);
}

}  // namespace

const Precision& find_precision(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& row : precision_table()) {
    names.emplace_back(row.precision.name);
    if (row.precision.name != name) continue;
    const auto missing = what_is_missing(row);
    if (!missing.empty()) throw Error(ErrorCode::kUnsupported, fmt::format("{} {}", name, missing));
    return row.precision;
  }
  throw Error(ErrorCode::kUsage,
              fmt::format("unknown precision '{}'; there are: {}", name, join(names, ", ")));
}

const Precision* known_precision(std::string_view name) {
  for (const auto& row : precision_table())
    if (row.precision.name == name) return &row.precision;
  return nullptr;
}

Autocast::Autocast(const Precision& precision, bool keep_casts)
    : device_(precision.device),
      was_enabled_(at::autocast::is_autocast_enabled(device_)),
      kept_casts_(at::autocast::is_autocast_cache_enabled()),
      old_dtype_(at::autocast::get_autocast_dtype(device_)) {
  at::autocast::set_autocast_enabled(device_, true);
  at::autocast::set_autocast_dtype(device_, precision.dtype);
  at::autocast::set_autocast_cache_enabled(keep_casts);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_cache_enabled(kept_casts_);
  at::autocast::set_autocast_dtype(device_, old_dtype_);
  at::autocast::set_autocast_enabled(device_, was_enabled_);
}

}  // namespace paceline::torch_plugin
