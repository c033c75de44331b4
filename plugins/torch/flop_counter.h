// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/record_function.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "plugin/engine.h"

namespace paceline::torch_plugin {

// Multiply-add work, counted by the precision it ran in; one multiply-add is two operations.
struct Work {
  double flops = 0;
  int operators = 0;
  double bytes = 0;  // of operands and results, each once
};
using WorkByPrecision = std::map<std::string, Work>;

std::string precision_name(c10::ScalarType type);  // "bf16", as in results

// Precision of a convolution, product or attention on a GPU, with the TF32 switch of the call; empty for
// other operators and devices.
std::string precision_on_gpu(const at::RecordFunction& function);

// While alive, observes every operator that LibTorch dispatches in this process, and adds up convolutions,
// matrix products and attention. Of nested operators only the innermost counts, because it is the one that
// ran, in its type.
class FlopCounter {
 public:
  FlopCounter();
  ~FlopCounter();
  FlopCounter(const FlopCounter&) = delete;
  FlopCounter& operator=(const FlopCounter&) = delete;

  [[nodiscard]] WorkByPrecision total() const;
  [[nodiscard]] double bytes() const;
  // The operators in order of execution: type, precision and FLOPs; LibTorch does not name them.
  [[nodiscard]] std::vector<plugin::Layer> layers() const;
  // The part in aten::mkldnn_convolution, which is also in oneDNN's own log.
  [[nodiscard]] WorkByPrecision onednn_convolutions() const;

 private:
  std::uint64_t handle_;
};

}  // namespace paceline::torch_plugin
