// SPDX-License-Identifier: MIT
// Knows which precisions this CPU can run, and how each is set: pure or autocast.
#pragma once
#include <c10/core/DeviceType.h>
#include <c10/core/ScalarType.h>

#include <string>
#include <string_view>

namespace paceline::torch_plugin {

// One way to run a model: pure (weights and inputs in `dtype`) or autocast (both stay float32, and LibTorch
// chooses per operator).
struct Precision {
  std::string_view name;
  at::ScalarType dtype;
  bool autocast;
  at::DeviceType device = at::kCPU;
};

// Error(kUnsupported) with what is missing when this CPU or LibTorch on a CPU cannot run it; Error(kUsage)
// for unknown names.
const Precision& find_precision(const std::string& name);

// Ignores this CPU; null for unknown names.
const Precision* known_precision(std::string_view name);

// torch.autocast(device, dtype) during its lifetime; casts of weights are kept no longer than that.
class Autocast {
 public:
  // Without `keep_casts` every use casts again, as tracing needs.
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
