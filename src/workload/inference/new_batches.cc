// SPDX-License-Identifier: MIT
#include "workload/inference/new_batches.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/error.h"
#include "pass/input_layout.h"
#include "workload/inference/pass_parts.h"

namespace paceline::workload {
namespace {

// The first samples of the batch. Throws Error(kUnsupported) where an input has its batch elsewhere.
std::vector<TensorView> first_samples(const pass::PassSpec& spec, std::vector<TensorView> views,
                                      std::int64_t count) {
  for (std::size_t i = 0; i < views.size(); ++i) {
    const auto dimension = pass::batch_dimension_of(spec.inference.batch_dimensions, i);
    if (dimension == pass::kNoBatch) continue;
    if (dimension != 0)
      throw Error(
          ErrorCode::kUnsupported,
          fmt::format("the batch of input '{}' is dimension {}, and smaller batches are of dimension 0",
                      views[i].name, dimension));
    views[i].shape.front() = count;
  }
  return views;
}

double timed_ns(plugin::Engine& engine, const std::vector<TensorView>& inputs) {
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  engine.bind(0, inputs);
  engine.enqueue(0);
  static_cast<void>(engine.synchronize(0));
  return static_cast<double>(clock.now_ns() - begin);
}

}  // namespace

std::vector<result::NewBatch> time_new_batches(const pass::PassSpec& spec, plugin::Engine& engine) {
  const Inputs inputs(spec, 0, 1);
  std::vector<result::NewBatch> found;
  for (const auto batch : spec.inference.new_batches) {
    auto& one = found.emplace_back();
    one.batch = batch;
    try {
      const auto views = first_samples(spec, inputs.batch(0), batch);
      one.first_ns = timed_ns(engine, views);
      one.second_ns = timed_ns(engine, views);
    } catch (const Error& refused) {
      one.first_ns = one.second_ns = Number::missing(refused.what());
    }
  }
  return found;
}

}  // namespace paceline::workload
