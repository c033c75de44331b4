// SPDX-License-Identifier: MIT
#include "run/case/case_identity.h"

#include <array>
#include <variant>

#include "base/text.h"
#include "config/vocabulary.h"
#include "result/summarize.h"
#include "run/case/case_settings.h"
#include "run/case/kind_rules.h"

namespace paceline::run {
namespace {

using config::Case;
using config::Settings;

// What tells two cases apart beside the fields of Benchmark, where it is set.
constexpr std::array kParams{"sequence_length",      "instances",        "instances_per_device",
                             "threads_per_instance", "concurrency",      "arrival_rate_per_s",
                             "server.load",          "server.max_batch", "server.batch_timeout_ms"};

std::map<std::string, std::string> params_of(const Case& c) {
  auto params = device_options(c.settings);
  for (const char* name : kParams)
    if (c.settings.has(name)) params[name] = setting_text(c.settings, name);
  if (const auto pairs = c.settings.texts("feedback"); !pairs.empty()) params["feedback"] = join(pairs, ",");
  kind_rules(c.kind).identify(c, params);
  for (const auto& [name, value] : c.env) params["env." + name] = value;
  return params;
}

result::Benchmark benchmark_of(const Case& c) {
  const Settings& s = c.settings;
  result::Benchmark b;
  b.id = c.id;
  b.kind = std::string(config::traits_of(c.kind).name);
  b.model = optional_text(s, "model");
  b.engine = optional_text(s, "engine");
  b.precision = asked_precision(s);
  if (s.has("cache_mode")) b.cache_mode = s.text("cache_mode");
  if (s.has("scenario")) b.scenario = s.text("scenario");
  if (s.has("layout")) b.layout = s.text("layout");
  if (s.has("batch")) b.batch_per_rank = s.integer("batch");
  if (s.has("threads")) b.threads = s.integer("threads");
  if (s.has("ranks")) b.world_size = s.integer("ranks");
  b.params = params_of(c);
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
  r.repetitions_planned = repetitions_of(c);
  result::mark_not_measured(r);
  for (const auto& [name, values] : c.settings.all()) r.config_effective[name] = json_of(values);
  return r;
}

void identify_device(result::Benchmark& benchmark, const std::string& device) {
  benchmark.params.erase("device");
  if (device != "cpu") benchmark.params["device"] = device;
}

std::int64_t repetitions_of(const Case& c) {
  return c.settings.has("repetitions") ? c.settings.integer("repetitions") : 1;
}

std::string item_name(const Case& c) {
  const auto* model = config::find_model(c.settings.text("model"));
  return model ? std::string(model->item) : "items";
}

}  // namespace paceline::run
