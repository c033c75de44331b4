// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/core/Tensor.h>

#include <cstddef>

#include "plugin/trainer.h"

namespace paceline::torch_plugin {

// Steps on an asynchronous device: the host enqueues a step while the device still runs the one before, and
// at most two are in flight. As a recorder it marks the parts of the step being enqueued on the device, and
// reports them to the host's recorder.
class StepsUnderWay : public plugin::StepRecorder {
 public:
  struct Ended {
    at::Tensor figures;  // on the host
    plugin::StepTimes times;
  };
  // The fetch of a batch begins.
  virtual void open() = 0;
  // The following work belongs to the step.
  virtual void begin(plugin::StepRecorder& host) = 0;
  // Copies to the device in parallel with its work; later work there waits for it. `host` may be reused when
  // the call returns; the returned tensor is valid until two further steps began.
  virtual at::Tensor send(const at::Tensor& host) = 0;
  // The step is enqueued; after it `figures`, a tensor on the device, is copied to the host.
  virtual void end(const at::Tensor& figures) = 0;

  // Number of steps that were enqueued and not waited for.
  [[nodiscard]] virtual std::size_t count() const = 0;
  // count() must be above 0.
  virtual Ended wait_for_oldest() = 0;
};

}  // namespace paceline::torch_plugin
