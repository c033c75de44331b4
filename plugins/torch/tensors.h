// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/core/Tensor.h>

#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"

// Converts between plain tensors of the plug-in boundary and at::Tensor.
namespace paceline::torch_plugin {

at::ScalarType to_torch(DType dtype);
DType from_torch(at::ScalarType type);  // Error(kUnsupported) for types without a plain counterpart

// The form that every floating-point tensor of a model and its inputs is converted to.
struct Form {
  at::ScalarType floating = at::kFloat;
  bool channels_last = false;
  at::Device device = at::kCPU;  // where it is
};

// Converts to that form: integers keep their type, and only 4-d tensors have channels to move.
at::Tensor in_form(const at::Tensor& tensor, const Form& form);

// The caller's data without a copy. Error(kUsage) unless name, type and shape are those of `spec`, for any
// batch.
at::Tensor borrow_input(const TensorView& view, const TensorSpec& spec);

// A copy of the caller's data. Error(kUsage) unless name, type and shape are those of `spec`, for any batch.
at::Tensor copy_input(const TensorView& view, const TensorSpec& spec, const Form& form);

// Zeros as `spec` describes them, for tracing.
at::Tensor example_input(const TensorSpec& spec, const Form& form);

// Makes the outputs contiguous and describes them in `views`, whose elements are reused. Without as many
// names they are numbered.
void describe_outputs(std::vector<at::Tensor>& outputs, std::vector<TensorView>& views,
                      std::span<const std::string> names = {});

}  // namespace paceline::torch_plugin
