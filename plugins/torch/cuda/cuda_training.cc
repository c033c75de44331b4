// SPDX-License-Identifier: MIT
#include "torch/cuda/cuda_training.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAGeneratorImpl.h>
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>

#include "torch/cuda/cuda_steps.h"
#include "torch/cuda/cuda_versions.h"
#include "torch/cuda/device.h"
#include "torch/cuda/rank_device.h"
#include "torch/cuda/switches.h"
#include "torch/training/torch_group.h"
#include "torch/training/torch_trainer.h"
#include "torch/training/trainer_options.h"
#include "torch/training/training_device.h"

namespace paceline::cuda_plugin {
namespace {

using torch_plugin::TrainerOptions;

class CudaDevice : public torch_plugin::TrainingDevice {
 public:
  at::Device open(const std::string& wanted, const plugin::TrainSettings& settings,
                  const TrainerOptions& options) override {
    index_ = device_index(wanted.empty() ? "cuda:0" : wanted, count_devices());
    info_ = describe_device(index_);
    c10::cuda::set_device(static_cast<c10::DeviceIndex>(index_));
    switches_ = choose_switches(torch_plugin::engine_precision(settings.precision), {}, info_.capability);
    switches_.cudnn_benchmark = options.cudnn_benchmark;
    apply(switches_);
    at::globalContext().setDeterministicCuDNN(settings.deterministic);
    reset_memory_peak(index_);
    return {at::kCUDA, static_cast<c10::DeviceIndex>(index_)};
  }
  torch_plugin::Precision precision(const std::string&, const TrainerOptions&) const override {
    return switches_.precision;
  }
  at::Generator generator() const override {
    return at::cuda::detail::getDefaultCUDAGenerator(static_cast<c10::DeviceIndex>(index_));
  }
  void synchronize() const override { c10::cuda::device_synchronize(); }
  std::unique_ptr<torch_plugin::StepsUnderWay> steps() const override { return make_cuda_steps(index_); }
  std::optional<std::int64_t> peak_tensor_bytes() const override {
    return memory_peak(index_).allocated_peak_bytes;
  }
  std::vector<std::pair<std::string, std::string>> settings() const override {
    return {{"device_name", info_.name},
            {"compute_capability", fmt::format("{}.{}", info_.capability / 10, info_.capability % 10)},
            {"tf32", switches_.tf32 ? "on" : "off"},
            {"cudnn_benchmark", switches_.cudnn_benchmark ? "on" : "off"},
            {"reserved_peak_bytes", fmt::format("{}", memory_peak(index_).reserved_peak_bytes)}};
  }
  std::vector<std::pair<std::string, std::string>> versions() const override { return library_versions(); }

 private:
  int index_ = 0;
  DeviceInfo info_;
  Switches switches_;
};

}  // namespace

std::unique_ptr<plugin::RankGroup> join_gloo_on_device(std::shared_ptr<plugin::Store> store,
                                                       const plugin::GroupSpec& spec) {
  const int index = device_of_rank(spec.device.index, count_devices());
  return torch_plugin::join_gloo_on(std::move(store), spec,
                                    at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(index)));
}

std::unique_ptr<plugin::Trainer> make_cuda_trainer() {
  return std::make_unique<torch_plugin::TorchTrainer>(std::make_unique<CudaDevice>());
}

}  // namespace paceline::cuda_plugin
