// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/core/Generator.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugin/trainer.h"
#include "torch/precision.h"
#include "torch/training/steps_under_way.h"
#include "torch/training/trainer_options.h"
#include "torch/versions.h"

namespace paceline::torch_plugin {

// Differences in training between kinds of devices.
class TrainingDevice {
 public:
  virtual ~TrainingDevice() = default;
  // Takes the device `wanted` ("cuda:1"; empty: the first) and applies process-wide settings.
  virtual at::Device open(const std::string& wanted, const plugin::TrainSettings& settings,
                          const TrainerOptions& options) = 0;
  // To be called after open. Error(kUnsupported) when this device cannot do it.
  [[nodiscard]] virtual Precision precision(const std::string& name, const TrainerOptions& options) const = 0;
  [[nodiscard]] virtual at::Generator generator() const = 0;  // what dropout draws from
  virtual void synchronize() const {}
  // To be called after open. Null: the device has finished when a call returns.
  [[nodiscard]] virtual std::unique_ptr<StepsUnderWay> steps() const { return nullptr; }
  [[nodiscard]] virtual std::optional<std::int64_t> peak_tensor_bytes() const { return std::nullopt; }
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> settings() const { return {}; }
  // LibTorch, and the libraries of the device that it has loaded.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> versions() const {
    return library_versions();
  }
};

}  // namespace paceline::torch_plugin
