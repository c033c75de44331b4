// SPDX-License-Identifier: MIT
#include "workload/inference/unseen_inputs.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>

#include "base/half.h"
#include "base/npy.h"
#include "pass/input_layout.h"

namespace paceline::workload {
namespace {

constexpr double kScaleStep = 1.0 / 128;  // float16 and wider types tell neighbours apart

template <typename T>
void scale_values(Tensor& tensor, double by) {
  const auto count = element_count(tensor.spec().shape);
  std::transform(tensor.as<T>(), tensor.as<T>() + count, tensor.as<T>(),
                 [by](T value) { return static_cast<T>(value * by); });
}

void scale_halves(Tensor& tensor, double by) {
  const auto count = element_count(tensor.spec().shape);
  auto* const values = tensor.as<std::uint16_t>();
  std::transform(values, values + count, values, [by](std::uint16_t bits) {
    return float_to_half(static_cast<float>(half_to_float(bits) * by));
  });
}

struct ScaleRow {
  DType dtype;
  void (*scale)(Tensor&, double);
};
constexpr ScaleRow kScales[] = {{DType::kFloat32, scale_values<float>},
                                {DType::kFloat64, scale_values<double>},
                                {DType::kFloat16, scale_halves}};

const ScaleRow* scale_of(DType dtype) {
  const auto* const row = std::find_if(std::begin(kScales), std::end(kScales),
                                       [&](const auto& each) { return each.dtype == dtype; });
  return row == std::end(kScales) ? nullptr : row;
}

}  // namespace

bool UnseenInputs::has_batch(std::size_t input) const {
  return pass::batch_dimension_of(spec_.inference.batch_dimensions, input) != pass::kNoBatch;
}

bool UnseenInputs::can_scale() const {
  bool any = false;
  for (std::size_t i = 0; i < spec_.inference.input_files.size(); ++i) {
    if (!has_batch(i)) continue;
    const auto stored = read_npy_spec(spec_.inference.input_files[i]);
    if (!scale_of(stored.dtype) || element_count(stored.shape) == 0) return false;
    any = true;
  }
  return any;
}

UnseenBatch UnseenInputs::batch(std::int64_t index) const {
  // Downwards, so that the first one is the last whole batch. Only a whole batch of the reference has its
  // answers: an output may depend on what else is in the batch.
  const bool of_samples = index < of_samples_;
  const FirstSample first{of_samples ? of_samples_ - index : of_samples_};
  UnseenBatch batch{std::make_unique<Inputs>(spec_, first), {}, {}, {}};
  batch.views = batch.inputs->batch(0);
  if (of_samples && first.index % spec_.batch == 0) batch.answered = first;
  if (of_samples) return batch;
  batch.scaled.resize(batch.views.size());
  for (std::size_t i = 0; i < batch.views.size(); ++i) {
    if (!has_batch(i)) continue;
    auto& view = batch.views[i];
    auto& tensor = batch.scaled[i] = Tensor({view.name, view.dtype, view.shape});
    std::memcpy(tensor.data(), view.data, tensor.size_bytes());
    scale_of(view.dtype)->scale(tensor, 1 - kScaleStep * static_cast<double>(index - of_samples_ + 1));
    view.data = tensor.data();
  }
  return batch;
}

}  // namespace paceline::workload
