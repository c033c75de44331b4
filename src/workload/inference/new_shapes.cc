// SPDX-License-Identifier: MIT
#include "workload/inference/new_shapes.h"

#include <cstring>
#include <span>

#include "base/clock.h"
#include "base/error.h"
#include "workload/inference/pass_parts.h"

namespace paceline::workload {
namespace {

// Copies the corner with these sizes of [shape...], whose elements have `bytes` each; returns the end.
std::byte* copy_corner(const std::byte* from, std::byte* to, std::span<const std::int64_t> shape,
                       std::span<const std::int64_t> sizes, std::size_t bytes) {
  if (shape.size() <= 1) {
    const std::size_t run = bytes * (sizes.empty() ? 1 : static_cast<std::size_t>(sizes.front()));
    std::memcpy(to, from, run);
    return to + run;
  }
  std::size_t stride = bytes;
  for (const auto size : shape.subspan(1)) stride *= static_cast<std::size_t>(size);
  for (std::int64_t i = 0; i < sizes.front(); ++i, from += stride)
    to = copy_corner(from, to, shape.subspan(1), sizes.subspan(1), bytes);
  return to;
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

Tensor corner_of(const TensorView& tensor, const Shape& sizes) {
  Tensor corner({tensor.name, tensor.dtype, sizes});
  if (corner.size_bytes() > 0)
    copy_corner(static_cast<const std::byte*>(tensor.data), corner.data(), tensor.shape, sizes,
                dtype_size_bytes(tensor.dtype));
  return corner;
}

std::vector<result::NewShape> time_new_shapes(const pass::PassSpec& spec, plugin::Engine& engine) {
  const Inputs inputs(spec, 0, 1);
  const auto loaded = inputs.batch(0);
  std::vector<result::NewShape> found;
  for (const auto& [name, sizes] : spec.inference.new_shapes) {
    std::vector<Tensor> tensors;
    std::vector<TensorView> views;
    for (std::size_t i = 0; i < loaded.size(); ++i) tensors.push_back(corner_of(loaded[i], sizes.at(i)));
    for (auto& tensor : tensors) views.push_back(tensor.view());
    auto& one = found.emplace_back(result::NewShape{name, {}, {}});
    try {
      one.first_ns = timed_ns(engine, views);
      one.second_ns = timed_ns(engine, views);
    } catch (const Error& refused) {
      one.first_ns = one.second_ns = Number::missing(refused.what());
    }
  }
  return found;
}

}  // namespace paceline::workload
