// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "torch/precision.h"
#include "torch/training/grad_scaler.h"

namespace paceline::torch_plugin {

// The options and precisions of this trainer, read from TrainSettings::options.
struct TrainerOptions {
  ScalerSettings scaler;           // init_scale, growth_interval
  bool freeze_batch_norm = false;  // running statistics are used in training and not updated
  bool emulate_16bit = false;    // allows amp and bf16 where the CPU lacks the arithmetic: correct, but slow
  bool cudnn_benchmark = false;  // cuDNN tries its algorithms; no effect on a CPU, like the next
  bool sync_cuda = false;        // waits for the device between the parts of a step
  double link_delay_s = 0;       // a fault on purpose: how much longer the exchange of a bucket takes
  std::int64_t classes = 0;      // of an image model; 0: its own number
  std::string device;            // without a group: cuda:N; empty: the first
};

// Error(kUsage) for unknown names and malformed values.
TrainerOptions parse_options(const std::map<std::string, std::string>& options);

// The engines' name for a precision of training (base/training_precision.h). Error(kUsage) for unknown names.
std::string engine_precision(const std::string& training);
// The precision as this library runs it. Error(kUnsupported) with what the CPU lacks.
Precision training_precision(const std::string& name, bool emulate_16bit);

}  // namespace paceline::torch_plugin
