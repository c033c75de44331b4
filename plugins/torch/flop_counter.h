// SPDX-License-Identifier: MIT
#pragma once
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace paceline::torch_plugin {

// Multiply-add work by the precision it ran in; one multiply-add is two operations.
struct Work {
  double flops = 0;
  int operators = 0;
};
using WorkByPrecision = std::map<std::string, Work>;

std::string precision_name(c10::ScalarType type);  // "bf16", as in results

// Watches every operator LibTorch dispatches in this process while alive and adds up convolutions, matrix
// products and attention. Of nested operators only the innermost counts: it is the one that ran, in the type
// that ran.
class FlopCounter {
 public:
  FlopCounter();
  ~FlopCounter();
  FlopCounter(const FlopCounter&) = delete;
  FlopCounter& operator=(const FlopCounter&) = delete;

  [[nodiscard]] WorkByPrecision total() const;
  // The part done by aten::mkldnn_convolution, which oneDNN's own log lists too.
  [[nodiscard]] WorkByPrecision onednn_convolutions() const;

 private:
  std::uint64_t handle_;
};

}  // namespace paceline::torch_plugin
