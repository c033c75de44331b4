// SPDX-License-Identifier: MIT
#include "torch/training/trainer_options.h"

#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "base/training_precision.h"

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
    {"classes",
     [](auto& o, auto& n, Value v) { o.classes = static_cast<std::int64_t>(parse_positive(n, v)); }},
    {"freeze_batch_norm", [](auto& o, auto& n, Value v) { o.freeze_batch_norm = parse_switch(n, v); }},
    {"emulate_16bit", [](auto& o, auto& n, Value v) { o.emulate_16bit = parse_switch(n, v); }},
    {"cudnn_benchmark", [](auto& o, auto& n, Value v) { o.cudnn_benchmark = parse_switch(n, v); }},
    {"link_delay_s", [](auto& o, auto& n, Value v) { o.link_delay_s = parse_positive(n, v); }},
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

std::string engine_precision(const std::string& training) {
  if (const auto* row = find_training_precision(training)) return std::string(row->engine_name);
  std::string names;
  for (const auto& row : kTrainingPrecisions)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.name);
  throw Error(ErrorCode::kUsage,
              fmt::format("unknown precision '{}' of training; there are: {}", training, names));
}

Precision training_precision(const std::string& name, bool emulate_16bit) {
  const auto engine_name = engine_precision(name);
  const auto* known = known_precision(engine_name);
  return emulate_16bit && known && known->autocast ? *known : find_or_explain(name, engine_name);
}

}  // namespace paceline::torch_plugin
