// SPDX-License-Identifier: MIT
#include "openvino/tensors.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>

#include "base/error.h"

namespace paceline::openvino_plugin {
namespace {

struct TypePair {
  DType plain;
  ov::element::Type_t openvino;
};
constexpr TypePair kTypePairs[] = {
    {DType::kFloat32, ov::element::Type_t::f32},   {DType::kFloat16, ov::element::Type_t::f16},
    {DType::kBFloat16, ov::element::Type_t::bf16}, {DType::kFloat64, ov::element::Type_t::f64},
    {DType::kInt8, ov::element::Type_t::i8},       {DType::kUInt8, ov::element::Type_t::u8},
    {DType::kInt32, ov::element::Type_t::i32},     {DType::kInt64, ov::element::Type_t::i64},
    {DType::kBool, ov::element::Type_t::boolean},  {DType::kInt16, ov::element::Type_t::i16},
    {DType::kUInt16, ov::element::Type_t::u16},    {DType::kUInt32, ov::element::Type_t::u32},
    {DType::kUInt64, ov::element::Type_t::u64},
};
static_assert(std::size(kTypePairs) == std::size(kDTypes));

}  // namespace

ov::element::Type to_openvino(DType dtype) {
  for (const auto& pair : kTypePairs)
    if (pair.plain == dtype) return pair.openvino;
  throw Error(ErrorCode::kInternal, fmt::format("tensor type {} has no row", dtype_name(dtype)));
}

std::optional<DType> from_openvino(const ov::element::Type& type) {
  for (const auto& pair : kTypePairs)
    if (pair.openvino == type) return pair.plain;
  return std::nullopt;
}

ov::Tensor borrow(const TensorView& view) {
  static std::int64_t nothing = 0;  // OpenVINO wants an address even for no elements
  return {to_openvino(view.dtype), ov::Shape(view.shape.begin(), view.shape.end()),
          view.data ? view.data : &nothing};
}

void describe(const ov::Tensor& tensor, TensorView& view) {
  const auto shape = tensor.get_shape();
  view.data = const_cast<void*>(static_cast<const ov::Tensor&>(tensor).data());
  view.dtype = *from_openvino(tensor.get_element_type());
  view.shape.assign(shape.begin(), shape.end());
}

}  // namespace paceline::openvino_plugin
