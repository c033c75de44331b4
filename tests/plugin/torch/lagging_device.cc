// SPDX-License-Identifier: MIT
#include "lagging_device.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/empty_like.h>

#include "base/clock.h"
#include "torch/training/queued_steps.h"
#include "torch/training/torch_trainer.h"

namespace paceline::torch_test {
namespace {

// When a mark is set the CPU has done what came before it.
class HostMark {
 public:
  struct Place {};
  explicit HostMark(Place) {}
  void set() { at_ns_ = SteadyClock{}.now_ns(); }
  static void wait() {}
  [[nodiscard]] static bool reached() { return true; }
  [[nodiscard]] double ns_since(const HostMark& earlier) const {
    return static_cast<double>(at_ns_ - earlier.at_ns_);
  }

 private:
  std::int64_t at_ns_ = 0;
};

struct HostRuntime {
  using Mark = HostMark;
  [[nodiscard]] static Mark::Place place() { return {}; }
  [[nodiscard]] static at::Tensor host_memory(const at::Tensor& like) { return at::empty_like(like); }
  [[nodiscard]] static at::Tensor device_memory(const at::Tensor& like) { return at::empty_like(like); }
  static void copy_beside(const at::Tensor& into, const at::Tensor& from) { into.copy_(from); }
  static void copy_back(const at::Tensor& into, const at::Tensor& from) { into.copy_(from); }
};

class LaggingDevice : public torch_plugin::TrainingDevice {
 public:
  at::Device open(const std::string&, const plugin::TrainSettings&,
                  const torch_plugin::TrainerOptions&) override {
    return at::kCPU;
  }
  torch_plugin::Precision precision(const std::string& name,
                                    const torch_plugin::TrainerOptions& options) const override {
    return torch_plugin::training_precision(name, options.emulate_16bit);
  }
  at::Generator generator() const override { return at::detail::getDefaultCPUGenerator(); }
  std::unique_ptr<torch_plugin::StepsUnderWay> steps() const override {
    return std::make_unique<torch_plugin::QueuedSteps<HostRuntime>>(HostRuntime());
  }
};

}  // namespace

std::unique_ptr<plugin::Trainer> make_lagging_trainer() {
  return std::make_unique<torch_plugin::TorchTrainer>(std::make_unique<LaggingDevice>());
}

}  // namespace paceline::torch_test
