// SPDX-License-Identifier: MIT
#include "run/case/case_identity.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "base/text.h"
#include "config/value.h"
#include "config/vocabulary.h"
#include "result/figures/summarize.h"
#include "result/stored/benchmark_params.h"
#include "run/case/case_settings.h"
#include "run/case/kind_rules.h"

namespace paceline::run {
namespace {

using config::Case;

// Options that are fields of Benchmark.
constexpr std::array kTexts{std::pair{"cache_mode", &result::Benchmark::cache_mode},
                            std::pair{"model", &result::Benchmark::model},
                            std::pair{"engine", &result::Benchmark::engine},
                            std::pair{"precision", &result::Benchmark::precision},
                            std::pair{"layout", &result::Benchmark::layout},
                            std::pair{"inject", &result::Benchmark::fault}};
constexpr std::array kNumbers{std::pair{"batch", &result::Benchmark::batch_per_rank},
                              std::pair{"threads", &result::Benchmark::threads},
                              std::pair{"ranks", &result::Benchmark::world_size}};
constexpr std::array kCounts{std::pair{"gpus", &result::Benchmark::gpus},
                             std::pair{"instances", &result::Benchmark::instances}};
// Kind and scenario, which are values of their own, and what the rules of a kind settle; the timing mode is
// known once it was measured.
constexpr std::array<std::string_view, 4> kNoParams{"kind", "scenario", "device", "timing_mode"};

bool is_param(const config::Option& option) {
  const auto named = [&](const auto& row) { return row.first == config::singular(option); };
  return option.identity && std::none_of(kTexts.begin(), kTexts.end(), named) &&
         std::none_of(kNumbers.begin(), kNumbers.end(), named) &&
         std::none_of(kCounts.begin(), kCounts.end(), named) &&
         std::find(kNoParams.begin(), kNoParams.end(), option.name) == kNoParams.end();
}

std::map<std::string, std::string> params_of(const Case& c) {
  std::map<std::string, std::string> params;
  for (const auto* option : config::options_of(config::kind_bit(c.kind))) {
    const std::string key(config::singular(*option));
    if (is_param(*option) && !config::is_default(*option, c.settings.list(key)))
      params[key] = join(c.settings.texts(key), ",");
  }
  for (const auto& [name, value] : c.env) params["env." + name] = value;
  return params;
}

result::Benchmark benchmark_of(const Case& c) {
  result::Benchmark b;
  b.id = c.id;
  b.kind = c.kind;
  b.scenario = config::scenario_of(c.settings);
  for (const auto& [name, field] : kTexts)
    if (c.settings.has(name)) b.*field = c.settings.text(name);
  for (const auto& [name, field] : kNumbers)
    if (c.settings.has(name)) b.*field = c.settings.integer(name);
  for (const auto& [name, field] : kCounts)
    if (c.settings.has(name)) b.*field = c.settings.integer(name);
  b.precision = asked_precision(c.settings);
  b.params = params_of(c);
  b.schedule = kind_rules(c.kind).schedule(c);
  result::set_device(b, kind_rules(c.kind).device(c));
  return b;
}

// One value as it is, several as an array.
nlohmann::json json_of(const std::vector<config::Value>& values) {
  auto json = nlohmann::json::array();
  for (const auto& value : values) std::visit([&](const auto& v) { json.push_back(v); }, value);
  return values.size() == 1 ? nlohmann::json(json[0]) : json;
}

}  // namespace

result::CaseResult new_case_result(const Case& c, const std::string& run_id) {
  result::CaseResult r;
  r.case_id = c.id;
  r.label = c.label;
  r.run_id = run_id;
  r.benchmark = benchmark_of(c);
  r.flops = kind_rules(c.kind).flops(c);
  r.repetitions_planned = c.settings.has("repetitions") ? c.settings.integer("repetitions") : 1;
  result::mark_not_measured(r);
  for (const auto& [name, values] : c.settings.all()) r.config_effective[name] = json_of(values);
  return r;
}

}  // namespace paceline::run
