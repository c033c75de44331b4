// SPDX-License-Identifier: MIT
#include "torch/tensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace paceline::torch_plugin {
namespace {

struct TypePair {
  DType plain;
  at::ScalarType torch;
};
constexpr TypePair kTypePairs[] = {
    {DType::kFloat32, at::kFloat},  {DType::kFloat16, at::kHalf},  {DType::kBFloat16, at::kBFloat16},
    {DType::kFloat64, at::kDouble}, {DType::kInt8, at::kChar},     {DType::kUInt8, at::kByte},
    {DType::kInt32, at::kInt},      {DType::kInt64, at::kLong},    {DType::kBool, at::kBool},
    {DType::kInt16, at::kShort},    {DType::kUInt16, at::kUInt16}, {DType::kUInt32, at::kUInt32},
    {DType::kUInt64, at::kUInt64},
};

bool same_but_batch(const Shape& a, const Shape& b) {
  return a.size() == b.size() && (a.empty() || std::equal(a.begin() + 1, a.end(), b.begin() + 1));
}

}  // namespace

at::ScalarType to_torch(DType dtype) {
  for (const auto& pair : kTypePairs)
    if (pair.plain == dtype) return pair.torch;
  throw Error(ErrorCode::kUnsupported,
              fmt::format("tensor type {} is unknown to LibTorch", dtype_name(dtype)));
}

DType from_torch(at::ScalarType type) {
  for (const auto& pair : kTypePairs)
    if (pair.torch == type) return pair.plain;
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("the model returns a tensor of type {}, which cannot be handed on", c10::toString(type)));
}

at::Tensor in_form(const at::Tensor& tensor, const Form& form) {
  auto result = tensor.is_floating_point() ? tensor.to(form.device, form.floating) : tensor.to(form.device);
  const bool move = form.channels_last && result.dim() == 4;
  return result.contiguous(move ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous);
}

at::Tensor borrow_input(const TensorView& view, const TensorSpec& spec) {
  if (view.name != spec.name || view.dtype != spec.dtype || !same_but_batch(view.shape, spec.shape))
    throw Error(
        ErrorCode::kUsage,
        fmt::format(
            "input '{}' is {} [{}], the model was loaded for '{}', {} [{}]; only the batch may differ",
            view.name, dtype_name(view.dtype), fmt::join(view.shape, ","), spec.name, dtype_name(spec.dtype),
            fmt::join(spec.shape, ",")));
  const auto options = at::TensorOptions().dtype(to_torch(view.dtype));
  return view.strides.empty() ? at::from_blob(view.data, view.shape, options)
                              : at::from_blob(view.data, view.shape, view.strides, options);
}

at::Tensor copy_input(const TensorView& view, const TensorSpec& spec, const Form& form) {
  return in_form(borrow_input(view, spec).clone(), form);
}

at::Tensor example_input(const TensorSpec& spec, const Form& form) {
  return in_form(at::zeros(spec.shape, at::TensorOptions().dtype(to_torch(spec.dtype))), form);
}

void describe_outputs(std::vector<at::Tensor>& outputs, std::vector<TensorView>& views,
                      std::span<const std::string> names) {
  views.resize(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    auto& output = outputs[i];
    auto& view = views[i];
    if (!output.is_contiguous()) output = output.contiguous();
    view.data = output.data_ptr();
    view.dtype = from_torch(output.scalar_type());
    view.shape.assign(output.sizes().begin(), output.sizes().end());
    if (!view.name.empty()) continue;
    if (names.size() == outputs.size() && !names[i].empty())
      view.name = names[i];
    else
      view.name = outputs.size() == 1 ? "output" : "output" + std::to_string(i);
  }
}

}  // namespace paceline::torch_plugin
