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
  bool cudnn_benchmark = false;    // these two are taken and have no effect on a CPU
  bool sync_cuda = false;
};

// Error(kUsage) for unknown names and values that are none.
TrainerOptions parse_options(const std::map<std::string, std::string>& options);

// fp32 | bf16 | amp | tf32 as this library's precisions. Error(kUnsupported) with what the CPU lacks.
Precision training_precision(const std::string& name, bool emulate_16bit);

}  // namespace paceline::torch_plugin
