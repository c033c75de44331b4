// SPDX-License-Identifier: MIT
#include "torch/kineto_layers.h"

#include <utility>
#include <vector>

#include "support/device_layers.h"
#include "torch/errors.h"
#include "torch/kineto_calls.h"

namespace paceline::torch_plugin {
namespace {

constexpr const char* kInference = "paceline inference";

// Runs from its construction to take(), or its destruction after an error.
class KinetoSession {
 public:
  explicit KinetoSession(c10::Device device) { start_kineto(device); }
  ~KinetoSession() {
    if (running_) end_kineto_quietly();
  }
  KinetoSession(const KinetoSession&) = delete;
  KinetoSession& operator=(const KinetoSession&) = delete;

  std::vector<plugin_support::ProfiledCall> take() {
    return translate_errors(ErrorCode::kInternal, "Kineto's events cannot be read", [&] {
      running_ = false;
      return calls_of(*torch::autograd::profiler::disableProfiler(), {kInference});
    });
  }

 private:
  bool running_ = true;
};

std::vector<plugin_support::OperatorFacts> facts_of(const OperatorTimer::Weights& weights,
                                                    const std::function<void()>& infer) {
  OperatorTimer timer(weights);
  infer();
  std::vector<plugin_support::OperatorFacts> facts;
  for (auto& op : timer.take())
    facts.push_back({std::move(op.name), std::move(op.precision), std::move(op.layer)});
  return facts;
}

}  // namespace

plugin::LayerTimes kineto_layers(const OperatorTimer::Weights& weights, c10::Device device, int inferences,
                                 const std::function<void()>& infer) {
  KinetoSession session(device);
  const auto facts = facts_of(weights, infer);  // in which CUPTI prepares itself
  infer();
  for (int i = 0; i < inferences; ++i) {
    const KinetoScope scope(kInference);
    infer();
  }
  return plugin_support::device_layers(session.take(), facts);
}

}  // namespace paceline::torch_plugin
