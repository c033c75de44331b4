// SPDX-License-Identifier: MIT
#include "workload/training/data/batch_maker.h"

#include <utility>

#include "base/clock.h"

namespace paceline::workload {

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
