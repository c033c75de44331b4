// SPDX-License-Identifier: MIT
#include "workload/training/data/loader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "workload/training/data/batch_supply.h"

namespace paceline::workload {
namespace {

void check(const LoaderSetup& setup) {
  const auto at_least = [](std::string_view name, std::int64_t value, std::int64_t least) {
    if (value < least)
      throw Error(ErrorCode::kConfig, fmt::format("{} is {}, it should be at least {}", name, value, least));
  };
  at_least("data.workers", setup.data.workers, 0);
  at_least("data.prefetch", setup.data.prefetch, 1);
  at_least("data.synthetic_samples", setup.data.synthetic_samples, 1);
  at_least("the number of micro-batches", setup.micro_batches, 1);
}

bool is_fixed(const pass::DataSpec& data) {
  return data.source == "synthetic" && !data.synthetic_fresh;
}

std::unique_ptr<BatchSupply> make_supply(BatchMaker& maker, const pass::DataSpec& data) {
  if (is_fixed(data)) return std::make_unique<FixedSupply>(maker);
  if (data.workers == 0) return std::make_unique<DirectSupply>(maker);
  return std::make_unique<PrefetchingSupply>(maker, data.workers, data.prefetch);
}

}  // namespace

class Loader::Impl {
 public:
  Impl(const LoaderSetup& setup, const BatchLayout& layout, std::unique_ptr<Source> source)
      : remark(source->remark()),
        contents(source->contents()),
        samples_per_step(layout.batch() * setup.micro_batches),
        sampler({source->samples(), samples_per_step, setup.rank, setup.world, setup.data.shuffle,
                 setup.data.seed}),
        fixed(is_fixed(setup.data)),
        threads(std::max<std::int64_t>(setup.data.workers, 1)),
        maker(std::move(source), layout, sampler, setup.micro_batches, setup.data.seed),
        supply(make_supply(maker, setup.data)) {}

  void take_step() {
    supply->give_back();
    views.clear();
    for (std::int64_t i = 0; i < maker.micro_batches(); ++i)
      for (Tensor& tensor : supply->take()) views.push_back(tensor.view());
  }

  std::string remark, contents;  // from the source
  std::int64_t samples_per_step;
  Sampler sampler;
  bool fixed;
  std::int64_t threads;
  std::int64_t step = 0;
  std::vector<TensorView> views;
  BatchMaker maker;
  std::unique_ptr<BatchSupply> supply;  // its threads end before the maker does
};

Loader::Loader(const LoaderSetup& setup) {
  check(setup);
  BatchLayout layout(setup.specs);
  auto source = make_source({setup.data, layout.sample_shape(), setup.classes, setup.vocabulary});
  impl_ = std::make_unique<Impl>(setup, layout, std::move(source));
}

Loader::~Loader() = default;

std::span<const TensorView> Loader::next() {
  try {
    impl_->take_step();
  } catch (...) {
    seek(impl_->step);  // repeats the same step as a whole
    throw;
  }
  ++impl_->step;
  return impl_->views;
}

void Loader::seek(std::int64_t step) {
  impl_->step = step;
  impl_->supply->seek(step * impl_->maker.micro_batches());
}

void Loader::seek(const DataPosition& position) {
  seek(position.epoch * steps_per_epoch() +
       position.samples / impl_->sampler.samples_per_step_of_all_ranks());
}

std::int64_t Loader::step() const {
  return impl_->step;
}

std::int64_t Loader::epoch() const {
  return impl_->sampler.epoch(impl_->step);
}

DataPosition Loader::position() const {
  return {epoch(), impl_->step % steps_per_epoch() * impl_->sampler.samples_per_step_of_all_ranks()};
}

std::int64_t Loader::steps_per_epoch() const {
  return impl_->sampler.steps_per_epoch();
}

std::int64_t Loader::samples_per_step() const {
  return impl_->samples_per_step;
}

const std::string& Loader::remark() const {
  return impl_->remark;
}

const std::string& Loader::contents() const {
  return impl_->contents;
}

std::optional<double> Loader::deliverable_samples_per_s() const {
  const auto a_thread = impl_->maker.samples_per_s();
  if (impl_->fixed || !a_thread) return std::nullopt;
  return *a_thread * static_cast<double>(impl_->threads);
}

}  // namespace paceline::workload
