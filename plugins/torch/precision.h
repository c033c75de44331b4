// SPDX-License-Identifier: MIT
#pragma once
#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <string>
#include <string_view>

namespace paceline::torch_plugin {

// One way to run a model: pure (weights and inputs in `dtype`) or autocast (both stay float32, LibTorch picks
// per operator).
struct Precision {
  std::string_view name;
  at::ScalarType dtype;
  bool autocast;
  at::DeviceType device = at::kCPU;
};

// Error(kUnsupported) when this CPU or LibTorch on a CPU cannot do it, with what is missing; Error(kUsage)
// for unknown names.
const Precision& find_precision(const std::string& name);

// The same whatever this CPU can do; null for unknown names.
const Precision* known_precision(std::string_view name);

// torch.autocast(device, dtype) for the life of the object; casts of weights are kept no longer than that.
class Autocast {
 public:
  // Without `keep_casts`, each use casts again: what tracing needs.
  explicit Autocast(const Precision& precision, bool keep_casts = true);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType device_;
  bool was_enabled_, kept_casts_;
  at::ScalarType old_dtype_;
};

}  // namespace paceline::torch_plugin
