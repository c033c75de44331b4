// SPDX-License-Identifier: MIT
// Copies inputs and outputs between host and device: not at all, pinned or pageable.
#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "torch/tensors.h"

namespace paceline::cuda_plugin {

// Copies of an inference. kDevice: its outputs, to pinned memory. kPinned, kPageable: its inputs from such
// memory and its outputs to it. kNone: nothing. Outputs always go to the same memory.
enum class Io { kDevice, kPinned, kPageable, kNone };

std::optional<Io> io_named(std::string_view name);  // device, pinned, pageable, none
std::string io_in_words(Io io);

// The tensors of one slot on both sides, and the copies between them, on the current stream.
class HostCopies {
 public:
  // Takes the caller's data, as copy_input does. Returns true when inputs() are the same tensors as last
  // time, with other data.
  bool bind(std::span<const TensorView> inputs, const std::vector<TensorSpec>& specs,
            const torch_plugin::Form& form, Io io);
  [[nodiscard]] const std::vector<at::Tensor>& inputs() const { return on_device_; }
  [[nodiscard]] bool sends() const { return !sources_.empty(); }
  // Copies the inputs to the device unless they stay there; does not wait for pinned memory.
  void send();
  // Copies outputs to the host; those in pinned memory are complete once the stream was waited for. With
  // kNone the caller leaves this out of an inference.
  std::vector<at::Tensor>& fetch(std::span<const at::Tensor> outputs);
  [[nodiscard]] std::vector<at::Tensor>& fetched() { return results_; }

 private:
  Io io_ = Io::kDevice;
  std::vector<at::Tensor> sources_, on_device_, results_;
};

}  // namespace paceline::cuda_plugin
