// SPDX-License-Identifier: MIT
#include "torch/training/trainer_options.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"

namespace paceline::torch_plugin {
namespace {

using Value = const std::string&;

[[noreturn]] void refuse(const std::string& name, Value value, const std::string& wanted) {
  throw Error(ErrorCode::kUsage, fmt::format("option {} is '{}'; it must be {}", name, value, wanted));
}

double parse_positive(const std::string& name, Value value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || !(number > 0))
    refuse(name, value, "a number above 0");
  return number;
}

bool parse_switch(const std::string& name, Value value) {
  if (value != "true" && value != "false") refuse(name, value, "true or false");
  return value == "true";
}

struct OptionRow {
  const char* name;
  void (*set)(TrainerOptions&, const std::string& name, Value value);
};
constexpr OptionRow kOptions[] = {
    {"init_scale", [](auto& o, auto& n, Value v) { o.scaler.init_scale = parse_positive(n, v); }},
    {"growth_interval",
     [](auto& o, auto& n, Value v) {
       o.scaler.growth_interval = static_cast<std::int64_t>(parse_positive(n, v));
     }},
    {"freeze_batch_norm", [](auto& o, auto& n, Value v) { o.freeze_batch_norm = parse_switch(n, v); }},
    {"emulate_16bit", [](auto& o, auto& n, Value v) { o.emulate_16bit = parse_switch(n, v); }},
    {"cudnn_benchmark", [](auto& o, auto& n, Value v) { o.cudnn_benchmark = parse_switch(n, v); }},
    {"device", [](auto& o, auto&, Value v) { o.device = v; }},
    {"sync_cuda", [](auto& o, auto& n, Value v) { o.sync_cuda = parse_switch(n, v); }},
};

void set_option(TrainerOptions& options, const std::string& name, Value value) {
  std::string names;
  for (const auto& row : kOptions) {
    if (name == row.name) return row.set(options, name, value);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  }
  throw Error(ErrorCode::kUsage, fmt::format("the trainer has no option '{}'; it has: {}", name, names));
}

struct PrecisionRow {
  const char* name;  // as training calls it
  const char* engine_name;
  at::ScalarType type;
};
constexpr PrecisionRow kPrecisions[] = {
    {"fp32", "fp32", at::kFloat},
    {"bf16", "amp_bf16", at::kBFloat16},
    {"amp", "amp_fp16", at::kHalf},
    {"tf32", "tf32", at::kFloat},
};

Precision find_or_explain(const std::string& name, const std::string& engine_name) {
  try {
    return find_precision(engine_name);
  } catch (const Error& e) {
    throw Error(e.code(), fmt::format("precision {}: {}", name, e.what()));
  }
}

}  // namespace

TrainerOptions parse_options(const std::map<std::string, std::string>& options) {
  TrainerOptions parsed;
  for (const auto& [name, value] : options) set_option(parsed, name, value);
  return parsed;
}

Precision training_precision(const std::string& name, bool emulate_16bit) {
  for (const auto& row : kPrecisions) {
    if (name != row.name) continue;
    const bool half = row.type != at::kFloat;
    if (half && emulate_16bit) return {row.engine_name, row.type, true};
    return find_or_explain(name, row.engine_name);
  }
  throw Error(ErrorCode::kUsage,
              fmt::format("unknown precision '{}' of training; there are: fp32, tf32, amp, bf16", name));
}

}  // namespace paceline::torch_plugin
