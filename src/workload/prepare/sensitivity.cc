// SPDX-License-Identifier: MIT
#include "workload/prepare/sensitivity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "workload/inference/accuracy_gate.h"

namespace paceline::workload {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t kSamples = 8;  // of the calibration data; each layer costs this many inferences

class Study {
 public:
  Study(onnx::proto::ModelProto& model, const onnx::Ranges& ranges, const onnx::QuantiseOptions& options,
        ModelRunner& runner)
      : model_(model), ranges_(ranges), options_(options), runner_(runner) {
    layers_ = onnx::place(model, options.placement).layers;
    reference_ = outputs_of(model, "reference");
  }

  Sensitivity run(double target);

 private:
  ComparedRows outputs_of(onnx::proto::ModelProto& model, const std::string& phase);
  OutputError error_without(const std::vector<std::string>& excluded, const std::string& phase);
  OutputError error_of_alone(std::size_t layer);
  void choose_exclusions(Sensitivity& s);

  onnx::proto::ModelProto& model_;
  const onnx::Ranges& ranges_;
  const onnx::QuantiseOptions& options_;
  ModelRunner& runner_;
  std::vector<onnx::QuantisedLayer> layers_;
  ComparedRows reference_;
};

ComparedRows Study::outputs_of(onnx::proto::ModelProto& model, const std::string& phase) {
  ComparedRows rows;
  runner_.run(model, kSamples, phase,
              [&](auto, auto outputs, auto batch) { append_rows(rows, outputs.first(1), batch); });
  return rows;
}

OutputError Study::error_without(const std::vector<std::string>& excluded, const std::string& phase) {
  onnx::proto::ModelProto copy = model_;
  auto options = options_;
  for (const auto& name : excluded) options.placement.exclude.push_back(name);
  onnx::quantise(copy, ranges_, options);
  const auto c = compare_outputs(outputs_of(copy, phase), reference_, {});
  return {c.centred_cosine, c.max_rel_err};
}

OutputError Study::error_of_alone(std::size_t layer) {
  std::vector<std::string> others;
  for (const auto& other : layers_)
    if (other.name != layers_[layer].name) others.push_back(other.name);
  return error_without(others, fmt::format("layer {} of {}", layer + 1, layers_.size()));
}

double badness(const OutputError& error) {
  return error.centred_cosine ? 1 - *error.centred_cosine : error.max_rel_err.value().value_or(0);
}

bool reaches(const OutputError& error, double target) {
  return error.centred_cosine && *error.centred_cosine >= target;
}

void Study::choose_exclusions(Sensitivity& s) {
  if (!s.all.centred_cosine || reaches(s.all, s.target)) return;
  for (std::size_t count = 1; count < s.layers.size(); count *= 2) {
    std::vector<std::string> worst;
    for (std::size_t i = 0; i < count; ++i) worst.push_back(s.layers[i].name);
    const auto error = error_without(worst, fmt::format("without the worst {}", count));
    if (!reaches(error, s.target)) continue;
    s.exclude = worst;
    s.after_exclusion = error;
    return;
  }
}

Sensitivity Study::run(double target) {
  Sensitivity s;
  s.target = target;
  s.samples = reference_.samples;
  s.engine = runner_.engine_name();
  for (std::size_t i = 0; i < layers_.size(); ++i)
    s.layers.push_back({layers_[i].name, layers_[i].op, error_of_alone(i)});
  std::stable_sort(s.layers.begin(), s.layers.end(),
                   [](const auto& a, const auto& b) { return badness(a.error) > badness(b.error); });
  s.all = error_without({}, "all layers");
  choose_exclusions(s);
  return s;
}

ordered_json number(const result::Number& n) {
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

Sensitivity measure_sensitivity(onnx::proto::ModelProto& model, const onnx::Ranges& ranges,
                                const onnx::QuantiseOptions& options, double target, ModelRunner& runner) {
  return Study(model, ranges, options, runner).run(target);
}

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
  const auto json = nlohmann::json::parse(json_text);
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

}  // namespace paceline::workload
