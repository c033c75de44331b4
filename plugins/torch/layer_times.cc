// SPDX-License-Identifier: MIT
#include "torch/layer_times.h"

#include <fmt/format.h>

#include <map>
#include <optional>

#include "torch/onednn_verbose.h"
#include "torch/operator_timer.h"

namespace paceline::torch_plugin {
namespace {

// "aten::conv2d" once more: "conv2d_1".
class Numbering {
 public:
  std::string name(const std::string& type) {
    const auto colons = type.rfind("::");
    const auto word = colons == std::string::npos ? type : type.substr(colons + 2);
    return fmt::format("{}_{}", word, counts_[word]++);
  }

 private:
  std::map<std::string, int> counts_;
};

void append(plugin::LayerTimes& times, const std::vector<TimedOperator>& operators) {
  Numbering numbering;
  for (const auto& op : operators)
    times.layers.push_back({numbering.name(op.name), op.name, op.precision, op.time_ns, {}, op.layer});
}

// Means over the inferences, where each logged as many convolutions.
void append(plugin::LayerTimes& times, const std::vector<LoggedConvolution>& logged, int inferences) {
  const auto each = logged.size() / static_cast<std::size_t>(inferences);
  if (each == 0 || each * static_cast<std::size_t>(inferences) != logged.size()) return;
  for (std::size_t i = 0; i < each; ++i) {
    double sum = 0;
    for (std::size_t at = i; at < logged.size(); at += each) sum += logged[at].time_ns;
    times.layers.push_back({fmt::format("convolution_{} {}", i, logged[i].shape),
                            "oneDNN convolution",
                            logged[i].precision,
                            sum / inferences,
                            {}});
  }
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
  std::vector<std::vector<TimedOperator>> runs;
  for (int i = 0; i < inferences; ++i) {
    infer();
    runs.push_back(timer.take());
  }
  plugin::LayerTimes times{{},
                           "LibTorch's dispatcher (RecordFunction): operators that the model calls itself"};
  append(times, mean_of(runs));
  if (!unseen) return times;
  times.source += "; prepacked convolutions from oneDNN's log, after the others";
  append(times, logged_convolutions(log->take()), inferences);
  return times;
}

}  // namespace paceline::torch_plugin
