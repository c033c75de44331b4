// SPDX-License-Identifier: MIT
// Times the operators that a model calls itself, as LibTorch's dispatcher sees them.
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace paceline::torch_plugin {

// An operator that the model itself calls, including what it calls in turn.
struct TimedOperator {
  std::string name;       // aten::conv2d
  std::string precision;  // of the innermost operator inside it
  std::string layer;      // the layer whose weights it reads; empty: none, or without names
  double time_ns = 0;
};

// Times every outermost operator that this thread dispatches while it is alive; one at a time.
class OperatorTimer {
 public:
  using Weights = std::vector<std::pair<std::string, at::Tensor>>;  // "layer1.0.conv1.weight"
  explicit OperatorTimer(const Weights& weights);
  ~OperatorTimer();
  OperatorTimer(const OperatorTimer&) = delete;
  OperatorTimer& operator=(const OperatorTimer&) = delete;

  // The operators that ran since the last call, in order.
  [[nodiscard]] std::vector<TimedOperator> take();
  // Whether one of oneDNN's convolutions was among them, at any depth.
  [[nodiscard]] bool saw_onednn_convolution() const;

 private:
  std::uint64_t handle_;
};

}  // namespace paceline::torch_plugin
