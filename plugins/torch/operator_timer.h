// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace paceline::torch_plugin {

// An operator that the model itself calls; what it calls in turn counts as part of it.
struct TimedOperator {
  std::string name;       // aten::conv2d
  std::string precision;  // of the innermost operator that ran in it
  std::string layer;      // whose weights it reads; empty: it reads none, or they have no names
  double time_ns = 0;
};

// Times every outermost operator that this thread dispatches while it is alive. One is alive at a time.
class OperatorTimer {
 public:
  using Weights = std::vector<std::pair<std::string, at::Tensor>>;  // "layer1.0.conv1.weight"
  explicit OperatorTimer(const Weights& weights);
  ~OperatorTimer();
  OperatorTimer(const OperatorTimer&) = delete;
  OperatorTimer& operator=(const OperatorTimer&) = delete;

  // What ran since the last call, in order.
  [[nodiscard]] std::vector<TimedOperator> take();
  // Whether a convolution of oneDNN's was among them, at any depth.
  [[nodiscard]] bool saw_onednn_convolution() const;

 private:
  std::uint64_t handle_;
};

}  // namespace paceline::torch_plugin
