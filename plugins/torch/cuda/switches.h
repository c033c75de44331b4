// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <string>

#include "torch/cuda/host_copies.h"
#include "torch/precision.h"

namespace paceline::cuda_plugin {

// Index of "cuda:N" among `count` devices. Error(kUnavailable) naming those there are, Error(kUsage) for
// other words.
int device_index(const std::string& device, int count);

// What decides what runs, all of it explicit.
struct Switches {
  torch_plugin::Precision precision{};
  bool tf32 = false;             // products and convolutions of float32 rounded to 10 bits
  bool cudnn_benchmark = false;  // cuDNN tries its algorithms in the first run of a shape
  bool cuda_graph = false;       // the model is recorded once and replayed
  Io io = Io::kDevice;
};

// From the precision asked for and the options of a case; `capability`: ten times major plus minor, e.g. 90.
// Error(kUnsupported) for what this device or LibTorch on CUDA cannot do, Error(kUsage) for unknown options.
Switches choose_switches(const std::string& precision, const std::map<std::string, std::string>& options,
                         int capability);

// Sets LibTorch's switches for the process, both of TF32 in every case: their defaults differ, and differ
// between releases.
void apply(const Switches& switches);

}  // namespace paceline::cuda_plugin
