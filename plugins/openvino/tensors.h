// SPDX-License-Identifier: MIT
// Converts between plain tensors of the plug-in boundary and OpenVINO's.
#pragma once
#include <openvino/core/type/element_type.hpp>
#include <openvino/runtime/tensor.hpp>
#include <optional>

#include "base/tensor.h"

namespace paceline::openvino_plugin {

ov::element::Type to_openvino(DType dtype);
// None for types without a counterpart here: strings, 4-bit and 8-bit floats, unsigned integers except uint8.
std::optional<DType> from_openvino(const ov::element::Type& type);

// A tensor on the caller's memory, which must outlive it.
ov::Tensor borrow(const TensorView& view);
// Describes an OpenVINO tensor, which must outlive the view.
void describe(const ov::Tensor& tensor, TensorView& view);

}  // namespace paceline::openvino_plugin
