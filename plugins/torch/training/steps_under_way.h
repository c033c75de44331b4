// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/core/Tensor.h>

#include <cstddef>

#include "plugin/trainer.h"

namespace paceline::torch_plugin {

// Steps on a device that works on its own: the host hands over a step while the device is still at the one
// before, and at most two are under way. As a recorder it marks the parts of the step being handed over on
// the device, and tells the host's recorder of them.
class StepsUnderWay : public plugin::StepRecorder {
 public:
  struct Ended {
    at::Tensor figures;  // on the host
    plugin::StepTimes times;
  };
  // The fetch of a batch begins.
  virtual void open() = 0;
  // The step is handed over from now on.
  virtual void begin(plugin::StepRecorder& host) = 0;
  // The same values on the device, copied beside its work; what comes next there waits for them. `host` is
  // free when the call returns; what it returns holds until two further steps began.
  virtual at::Tensor send(const at::Tensor& host) = 0;
  // The step is handed over: behind it `figures`, a tensor on the device, come to the host.
  virtual void end(const at::Tensor& figures) = 0;

  // Steps that were handed over and not waited for.
  [[nodiscard]] virtual std::size_t count() const = 0;
  // There must be one.
  virtual Ended wait_for_oldest() = 0;
};

}  // namespace paceline::torch_plugin
