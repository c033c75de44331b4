// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <string>

#include "torch/precision.h"
#include "torch/training/grad_scaler.h"

namespace paceline::torch_plugin {

// TrainSettings::options of this trainer.
struct TrainerOptions {
  ScalerSettings scaler;           // init_scale, growth_interval
  bool freeze_batch_norm = false;  // running statistics are used while training, and stay
  bool emulate_16bit = false;      // amp and bf16 also where the CPU has no such arithmetic: right, but slow
  bool cudnn_benchmark = false;    // cuDNN tries its algorithms; no effect on a CPU, like the next
  bool sync_cuda = false;          // waits for the device between the parts of a step
  std::string device;              // without a group: cuda:N; empty: the first
};

// Error(kUsage) for unknown names and values that are none.
TrainerOptions parse_options(const std::map<std::string, std::string>& options);

// A precision of training (base/training_precision.h) as engines call it. Error(kUsage) for unknown names.
std::string engine_precision(const std::string& training);
// The same as this library has it. Error(kUnsupported) with what the CPU lacks.
Precision training_precision(const std::string& name, bool emulate_16bit);

}  // namespace paceline::torch_plugin
