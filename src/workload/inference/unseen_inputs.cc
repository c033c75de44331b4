// SPDX-License-Identifier: MIT
#include "workload/inference/unseen_inputs.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>

#include "base/half.h"
#include "workload/inference/input_layout.h"

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

const ScaleRow* scale_of(const pass::PassSpec& spec, const std::vector<TensorView>& inputs, std::size_t i) {
  if (batch_dimension_of(spec.batch_dimensions, i) == kNoBatch) return nullptr;
  const auto* const row = std::find_if(std::begin(kScales), std::end(kScales),
                                       [&](const auto& each) { return each.dtype == inputs[i].dtype; });
  return row == std::end(kScales) ? nullptr : row;
}

}  // namespace

UnseenInputs::UnseenInputs(const pass::PassSpec& spec)
    : spec_(spec), of_samples_(spec.samples - spec.batch), can_scale_(false) {
  const Inputs last(spec, FirstSample{of_samples_});
  const auto views = last.batch(0);
  for (std::size_t i = 0; i < views.size(); ++i) can_scale_ = can_scale_ || scale_of(spec, views, i);
}

std::int64_t UnseenInputs::available(std::int64_t wanted) const {
  return can_scale_ ? wanted : std::min(wanted, of_samples_);
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
    const auto* const row = scale_of(spec_, batch.views, i);
    if (!row) continue;
    auto& view = batch.views[i];
    auto& tensor = batch.scaled[i] = Tensor({view.name, view.dtype, view.shape});
    std::memcpy(tensor.data(), view.data, tensor.size_bytes());
    row->scale(tensor, 1 - kScaleStep * static_cast<double>(index - of_samples_ + 1));
    view.data = tensor.data();
  }
  return batch;
}

}  // namespace paceline::workload
