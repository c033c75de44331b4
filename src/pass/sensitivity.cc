// SPDX-License-Identifier: MIT
#include "pass/sensitivity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/bounded_json.h"
#include "base/json.h"

namespace paceline::pass {
namespace {

using nlohmann::ordered_json;

ordered_json number(const Number& n) {
  return n ? ordered_json(*n) : ordered_json(nullptr);
}

ordered_json error_json(const OutputError& error) {
  return {{"centred_cosine", number(error.centred_cosine)}, {"max_rel_err", number(error.max_rel_err)}};
}

std::string cell(const nlohmann::json& value, const char* format) {
  return value.is_null() ? "-" : fmt::format(fmt::runtime(format), value.get<double>());
}

std::string row(const std::string& name, const std::string& op, const nlohmann::json& error) {
  return fmt::format("{:<48} {:<8} {:>14} {:>11}\n", name, op, cell(error.at("centred_cosine"), "{:.6f}"),
                     cell(error.at("max_rel_err"), "{:.4f}"));
}

std::string advice(const nlohmann::json& json) {
  const auto target = json.at("target").get<double>();
  const auto& all = json.at("all_layers").at("centred_cosine");
  if (all.is_null()) return "one sample only: no centred cosine, so no advice; give more calibration data\n";
  if (all.get<double>() >= target)
    return fmt::format("nothing to exclude: all layers together reach {}\n", target);
  const auto exclude = json.at("exclude").get<std::vector<std::string>>();
  if (exclude.empty())
    return fmt::format(
        "no exclusion of half the layers or fewer reaches {}: this model or its calibration data do not suit "
        "int8\n",
        target);
  return fmt::format("to reach {}: --quantisation.exclude {}  (measured: {})\n", target,
                     fmt::join(exclude, ","),
                     cell(json.at("after_exclusion").at("centred_cosine"), "{:.6f}"));
}

}  // namespace

std::string sensitivity_json(const Sensitivity& s) {
  ordered_json json = {{"format", "paceline-int8-sensitivity"},
                       {"version", 1},
                       {"engine", s.engine},
                       {"method", s.method},
                       {"data", s.data},
                       {"samples", s.samples},
                       {"target", s.target},
                       {"layers", nullptr},
                       {"all_layers", error_json(s.all)},
                       {"exclude", s.exclude}};
  json["after_exclusion"] = s.exclude.empty() ? ordered_json(nullptr) : error_json(s.after_exclusion);
  auto& layers = json["layers"] = ordered_json::array();
  for (const auto& layer : s.layers) {
    ordered_json entry = {{"name", layer.name}, {"op", layer.op}};
    entry.update(error_json(layer.error));
    layers.push_back(entry);
  }
  return json.dump(1) + "\n";
}

std::string sensitivity_table(const std::string& json_text) {
  const auto json = parsed_json(json_text);
  std::string text =
      fmt::format("int8 sensitivity: each layer alone in 8 bits, {} samples, {}, ranges by {}\n",
                  json.at("samples").get<std::int64_t>(), json.at("engine").get<std::string>(),
                  json.at("method").get<std::string>());
  text += fmt::format("{:<48} {:<8} {:>14} {:>11}\n", "layer", "operator", "centred cosine", "max error");
  for (const auto& layer : json.at("layers"))
    text += row(layer.at("name").get<std::string>(), layer.at("op").get<std::string>(), layer);
  text += row("all layers", "", json.at("all_layers"));
  return text + advice(json);
}

}  // namespace paceline::pass
