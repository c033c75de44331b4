// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace paceline::torch_plugin {

// Hashes tensors, to see whether ranks drift apart: 16 hexadecimal digits over the bytes of all tensors in
// their order; equal bytes, equal digits. Finds differences, not forgeries.
std::string fingerprint_of(const std::vector<at::Tensor>& tensors);

}  // namespace paceline::torch_plugin
