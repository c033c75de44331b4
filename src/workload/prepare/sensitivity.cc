// SPDX-License-Identifier: MIT
#include "workload/prepare/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>

#include "workload/inference/gate/accuracy_gate.h"

namespace paceline::workload {
namespace {

using pass::OutputError;
using pass::Sensitivity;

constexpr std::int64_t kSamples = 8;  // of the calibration data; each layer costs this many inferences

class LayerStudy {
 public:
  LayerStudy(onnx::proto::ModelProto& model, const onnx::Ranges& ranges, const onnx::QuantiseOptions& options,
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

ComparedRows LayerStudy::outputs_of(onnx::proto::ModelProto& model, const std::string& phase) {
  ComparedRows rows;
  runner_.run(model, kSamples, phase,
              [&](auto, auto outputs, auto batch) { append_rows(rows, outputs.first(1), batch); });
  return rows;
}

OutputError LayerStudy::error_without(const std::vector<std::string>& excluded, const std::string& phase) {
  onnx::proto::ModelProto copy = model_;
  auto options = options_;
  for (const auto& name : excluded) options.placement.exclude.push_back(name);
  onnx::quantise(copy, ranges_, options);
  const auto c = compare_outputs(outputs_of(copy, phase), reference_, {});
  return {c.centred_cosine, c.max_rel_err};
}

OutputError LayerStudy::error_of_alone(std::size_t layer) {
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

void LayerStudy::choose_exclusions(Sensitivity& s) {
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

Sensitivity LayerStudy::run(double target) {
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

}  // namespace

pass::Sensitivity measure_sensitivity(onnx::proto::ModelProto& model, const onnx::Ranges& ranges,
                                      const onnx::QuantiseOptions& options, double target,
                                      ModelRunner& runner) {
  return LayerStudy(model, ranges, options, runner).run(target);
}

}  // namespace paceline::workload
