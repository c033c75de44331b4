// SPDX-License-Identifier: MIT
// Implements what training does differently from device to device for the CPU.
#include <ATen/CPUGeneratorImpl.h>

#include "torch/training/make.h"
#include "torch/training/torch_trainer.h"
#include "torch/training/training_device.h"

namespace paceline::torch_plugin {
namespace {

class CpuDevice : public TrainingDevice {
 public:
  at::Device open(const std::string&, const plugin::TrainSettings&, const TrainerOptions& options) override {
    options_ = options;
    return at::kCPU;
  }
  Precision precision(const std::string& name, const TrainerOptions& options) const override {
    return training_precision(name, options.emulate_16bit);
  }
  at::Generator generator() const override { return at::detail::getDefaultCPUGenerator(); }
  std::vector<std::pair<std::string, std::string>> settings() const override {
    std::vector<std::pair<std::string, std::string>> idle;
    if (options_.cudnn_benchmark) idle.emplace_back("cudnn_benchmark", "no effect on a CPU");
    if (options_.sync_cuda) idle.emplace_back("sync_cuda", "no effect on a CPU");
    return idle;
  }

 private:
  TrainerOptions options_;
};

}  // namespace

std::unique_ptr<plugin::Trainer> make_cpu_trainer() {
  return std::make_unique<TorchTrainer>(std::make_unique<CpuDevice>());
}

}  // namespace paceline::torch_plugin
