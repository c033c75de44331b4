// SPDX-License-Identifier: MIT
#include "workload/training/data/batch_maker.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "base/error.h"

namespace paceline::workload {
namespace {

template <typename T>
void fill_ones(Tensor& tensor) {
  std::fill_n(tensor.as<T>(), element_count(tensor.spec().shape), T{1});
}

struct MaskFill {
  DType dtype;
  void (*fill)(Tensor&);
};
constexpr MaskFill kMaskFills[] = {{DType::kInt64, fill_ones<std::int64_t>},
                                   {DType::kInt32, fill_ones<std::int32_t>},
                                   {DType::kFloat32, fill_ones<float>},
                                   {DType::kUInt8, fill_ones<std::uint8_t>},
                                   {DType::kBool, fill_ones<bool>}};

std::string describe(const std::vector<TensorSpec>& specs) {
  std::vector<std::string> texts;
  for (const auto& spec : specs)
    texts.push_back(
        fmt::format("{} {} [{}]", spec.name, dtype_name(spec.dtype), fmt::join(spec.shape, ", ")));
  return fmt::format("{}", fmt::join(texts, ", "));
}

void fill_mask(Tensor& tensor) {
  for (const auto& row : kMaskFills)
    if (row.dtype == tensor.spec().dtype) return row.fill(tensor);
  throw Error(ErrorCode::kConfig, fmt::format("training data for the model's input {} cannot be made",
                                              describe({tensor.spec()})));
}

}  // namespace

BatchLayout::BatchLayout(std::vector<TensorSpec> specs) : specs_(std::move(specs)) {
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    const TensorSpec& spec = specs_[i];
    if (spec.dtype == DType::kFloat32 && spec.shape.size() == 4) image_ = i;
    if (spec.dtype == DType::kInt64 && spec.shape.size() == 2 && spec.name == "input_ids") tokens_ = i;
    if (spec.dtype == DType::kInt64 && spec.shape.size() == 1) label_ = i;
  }
  const bool one_batch = std::all_of(specs_.begin(), specs_.end(), [&](const TensorSpec& spec) {
    return !spec.shape.empty() && spec.shape[0] == specs_[0].shape[0] && spec.shape[0] > 0;
  });
  if ((!image_ && !tokens_) || !one_batch)
    throw Error(
        ErrorCode::kConfig,
        fmt::format("training takes models of images [N, C, H, W] or of input_ids [N, S]; this one takes {}",
                    describe(specs_)));
}

std::int64_t BatchLayout::batch() const {
  return specs_[0].shape[0];
}

SampleShape BatchLayout::sample_shape() const {
  SampleShape shape;
  if (image_) {
    const Shape& image = specs_[*image_].shape;
    shape.channels = image[1], shape.height = image[2], shape.width = image[3];
  }
  if (tokens_) shape.tokens = specs_[*tokens_].shape[1];
  shape.label = label_.has_value();
  return shape;
}

std::vector<Tensor> BatchLayout::make_buffers() const {
  std::vector<Tensor> buffers;
  for (std::size_t i = 0; i < specs_.size(); ++i) {
    buffers.emplace_back(specs_[i]);
    if (i != image_ && i != tokens_ && i != label_) fill_mask(buffers.back());
  }
  return buffers;
}

SampleMemory BatchLayout::sample(std::span<Tensor> buffers, std::int64_t row) const {
  const SampleShape shape = sample_shape();
  SampleMemory sample;
  if (image_) sample.image = buffers[*image_].as<float>() + row * shape.channels * shape.height * shape.width;
  if (tokens_) sample.tokens = buffers[*tokens_].as<std::int64_t>() + row * shape.tokens;
  if (label_) sample.label = buffers[*label_].as<std::int64_t>() + row;
  return sample;
}

BatchMaker::BatchMaker(std::unique_ptr<Source> source, BatchLayout layout, const Sampler& sampler,
                       std::int64_t micro_batches, std::uint64_t seed)
    : source_(std::move(source)),
      layout_(std::move(layout)),
      sampler_(sampler),
      micro_batches_(micro_batches),
      seed_(seed) {}

void BatchMaker::make(std::int64_t number, std::span<Tensor> buffers, const std::atomic<bool>& cancelled) {
  const std::int64_t step = number / micro_batches_;
  const std::int64_t first = number % micro_batches_ * layout_.batch();
  const auto epoch = static_cast<std::uint64_t>(sampler_.epoch(step));
  const std::uint64_t of_epoch = CounterRng(seed_, hash64("augmentation")).bits(epoch);
  for (std::int64_t row = 0; row < layout_.batch() && !cancelled; ++row) {
    const std::int64_t begin = SteadyClock{}.now_ns();
    const std::int64_t sample = sampler_.sample(step, first + row);
    source_->read(sample, Draws({of_epoch, static_cast<std::uint64_t>(sample)}),
                  layout_.sample(buffers, row));
    busy_ns_ += SteadyClock{}.now_ns() - begin;
    ++made_;
  }
}

std::optional<double> BatchMaker::samples_per_s() const {
  const auto busy_ns = static_cast<double>(busy_ns_.load());
  if (busy_ns <= 0) return std::nullopt;
  return static_cast<double>(made_.load()) / busy_ns * 1e9;
}

}  // namespace paceline::workload
