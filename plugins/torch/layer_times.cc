// SPDX-License-Identifier: MIT
#include "torch/layer_times.h"

#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

#include "support/layer_medians.h"
#include "support/operator_names.h"
#include "torch/onednn_verbose.h"
#include "torch/operator_timer.h"

namespace paceline::torch_plugin {
namespace {

using plugin_support::with_median_times;
using Runs = std::vector<std::vector<plugin::Layer>>;  // one element per inference

std::vector<plugin::Layer> layers_of(const std::vector<TimedOperator>& operators) {
  std::vector<plugin::Layer> layers;
  plugin_support::OperatorNames names;
  for (const auto& op : operators)
    layers.push_back({names.next(op.name), op.name, op.precision, op.time_ns, {}, op.layer});
  return layers;
}

// The layers that several inferences logged; each must have logged the same number.
std::vector<plugin::Layer> layers_of(std::span<const LoggedConvolution> logged) {
  std::vector<plugin::Layer> layers;
  for (const auto& one : logged)
    layers.push_back({fmt::format("convolution_{} {}", layers.size(), one.shape),
                      "oneDNN convolution",
                      one.precision,
                      one.time_ns,
                      {}});
  return layers;
}

// Empty where the log cannot be divided by the number of inferences.
Runs runs_of(std::span<const LoggedConvolution> logged, std::size_t inferences) {
  Runs runs;
  const auto each = logged.size() / inferences;
  if (each == 0 || each * inferences != logged.size()) return runs;
  for (std::size_t i = 0; i < inferences; ++i) runs.push_back(layers_of(logged.subspan(i * each, each)));
  return runs;
}

// Whether oneDNN ran convolutions that the dispatcher did not see.
bool has_unseen(OperatorTimer& timer, const std::function<void()>& infer) {
  OnednnLog log;
  infer();
  const bool logged = !logged_convolutions(log.take()).empty();
  static_cast<void>(timer.take());
  return logged && !timer.saw_onednn_convolution();
}

}  // namespace

plugin::LayerTimes layer_times(const Program& program, int inferences, const std::function<void()>& infer) {
  OperatorTimer timer(program.weights());
  const bool unseen = has_unseen(timer, infer);
  std::optional<OnednnLog> log;
  if (unseen) log.emplace();
  Runs runs;
  for (int i = 0; i < inferences; ++i) {
    infer();
    runs.push_back(layers_of(timer.take()));
  }
  plugin::LayerTimes times{with_median_times(std::move(runs)),
                           "LibTorch's dispatcher (RecordFunction): operators that the model calls itself"};
  if (!unseen) return times;
  times.source += "; prepacked convolutions from oneDNN's log, after the others";
  const auto logged = logged_convolutions(log->take());
  for (auto& layer : with_median_times(runs_of(logged, static_cast<std::size_t>(inferences))))
    times.layers.push_back(std::move(layer));
  return times;
}

}  // namespace paceline::torch_plugin
