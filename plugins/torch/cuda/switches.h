// SPDX-License-Identifier: MIT
// Sets device, precision, TF32 and cuDNN's benchmark as a case asks, never leaving one to its default.
#pragma once
#include <map>
#include <string>

#include "torch/cuda/host_copies.h"
#include "torch/precision.h"

namespace paceline::cuda_plugin {

// Index of "cuda:N" among `count` devices. Error(kUnavailable) naming those, Error(kUsage) for malformed
// names.
int device_index(const std::string& device, int count);

// Everything that decides what runs, all of it explicit.
struct Switches {
  torch_plugin::Precision precision{};
  bool tf32 = false;             // products and convolutions of float32 are rounded to 10 bits
  bool cudnn_benchmark = false;  // cuDNN tries its algorithms in the first run of a shape
  bool cuda_graph = false;       // the model is recorded once and replayed
  bool overlap = false;          // copies are on streams of their own, every other inference in other memory
  Io io = Io::kDevice;
};

// Chooses them from the precision and the options of a case; `capability` is ten times major plus minor, e.g.
// 90. Error(kUnsupported) for what this device or LibTorch on CUDA cannot do, Error(kUsage) for unknown
// options.
Switches choose_switches(const std::string& precision, const std::map<std::string, std::string>& options,
                         int capability);

// Sets LibTorch's switches for the process. Both TF32 switches are always set, because their defaults differ
// from each other and between releases.
void apply(const Switches& switches);

}  // namespace paceline::cuda_plugin
