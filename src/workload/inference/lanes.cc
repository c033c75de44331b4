// SPDX-License-Identifier: MIT
#include "workload/inference/lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "base/error.h"
#include "pass/input_layout.h"
#include "result/judged/reference.h"
#include "workload/inference/fresh_answers.h"

namespace paceline::workload {
namespace {

// How many batches of inputs requests bring: enough for a full batch of requests, or all there are.
std::int64_t batches_of(const pass::PassSpec& spec) {
  return std::clamp<std::int64_t>(spec.inference.samples / spec.batch, 1, spec.inference.load.max_batch);
}

pass::PassSpec at_full_batch(pass::PassSpec spec) {
  const auto requests = spec.inference.load.max_batch;
  pass::multiply_batch(spec.model.inputs, spec.inference.batch_dimensions, requests);
  spec.model.any_batch = requests > 1;
  return spec;
}

bool has_rows(std::span<const TensorView> outputs, std::int64_t rows) {
  return !outputs.empty() && !outputs.front().shape.empty() && outputs.front().shape.front() == rows;
}

}  // namespace

BatchInput::BatchInput(Inputs& source, std::int64_t batches, std::int64_t max_requests) {
  for (std::int64_t i = 0; i < max_requests; ++i) requests_.push_back(source.batch(i % batches));
  if (max_requests == 1) return;
  for (const auto& view : requests_.front()) {
    Shape shape = view.shape;
    shape.at(0) *= max_requests;
    together_.emplace_back(TensorSpec{view.name, view.dtype, std::move(shape)});
  }
  for (std::int64_t n = 1; n <= max_requests; ++n) {
    auto& views = views_.emplace_back();
    for (auto& tensor : together_) {
      views.push_back(tensor.view());
      views.back().shape.at(0) = views.back().shape.at(0) / max_requests * n;
    }
  }
  gather(max_requests, true);
}

std::span<const TensorView> BatchInput::gather(std::int64_t requests, bool filled_up) {
  if (together_.empty()) return requests_.front();
  for (std::size_t i = 0; i < together_.size(); ++i) {
    const auto bytes = requests_.front()[i].size_bytes();
    for (std::size_t r = 0; r < static_cast<std::size_t>(requests); ++r)
      std::memcpy(together_[i].data() + r * bytes, requests_[r][i].data, bytes);
  }
  return filled_up ? views_.back() : views_[static_cast<std::size_t>(requests) - 1];
}

Lanes::Lanes(const pass::PassSpec& spec, TaggedSink& sink)
    : spec_(at_full_batch(spec)),
      server_(traits_of(spec.inference.load.scenario).has_queue),
      inputs_(spec, 0, batches_of(spec)),
      others_(static_cast<std::size_t>(spec.inference.load.concurrency)),
      lanes_(static_cast<std::size_t>(spec.inference.load.concurrency)),
      crew_(static_cast<int>(spec.inference.load.concurrency)) {
  for (int next = 0; next < crew_.size(); ++next)  // one after the other: loading has threads of its own
    crew_.run([&](int lane) {
      if (lane == next) load(lane, sink);
    });
}

void Lanes::load(int lane, TaggedSink& sink) {
  Lane& mine = lanes_[static_cast<std::size_t>(lane)];
  if (lane == 0) {
    first_ = load_engine(spec_, sink);
    mine.engine = first_.engine.get();
  } else {
    auto& engine = others_[static_cast<std::size_t>(lane)];
    const auto& use = spec_.plugin(plugin::Role::kEngine);
    engine = plugin::LoadedPlugin(use.file).make<plugin::Role::kEngine>(use.name);
    engine->load(spec_.model, spec_.settings);
    mine.engine = engine.get();
  }
  mine.input = std::make_unique<BatchInput>(inputs_, batches_of(spec_), spec_.inference.load.max_batch);
  mine.engine->bind(0, mine.input->gather(spec_.inference.load.max_batch, true));
}

void Lanes::infer(int lane) {
  if (server_) {
    serve(lane, spec_.inference.load.max_batch);
    return;
  }
  Lane& mine = lanes_[static_cast<std::size_t>(lane)];
  mine.engine->enqueue(0);
  mine.outputs = mine.engine->synchronize(0);
  mine.served = 1;
}

Copies Lanes::serve(int lane, std::int64_t requests) {
  const SteadyClock clock;
  Lane& mine = lanes_[static_cast<std::size_t>(lane)];
  const auto begin = clock.now_ns();
  mine.served = requests;
  mine.engine->bind(0, mine.input->gather(requests, padded_));
  const auto ready = clock.now_ns();
  mine.engine->enqueue(0);
  mine.outputs = mine.engine->synchronize(0);
  const auto computed = clock.now_ns();
  take_outputs(mine);
  return {ready - begin, clock.now_ns() - computed};
}

// Rows of the batch that the engine ran, including those that only filled it up.
std::int64_t Lanes::rows_run(const Lane& lane) const {
  return spec_.batch * (padded_ ? spec_.inference.load.max_batch : lane.served);
}

// Saves the outputs from the next inference, without the rows that only filled up the batch.
void Lanes::take_outputs(Lane& lane) const {
  lane.taken.resize(lane.outputs.size());
  for (std::size_t i = 0; i < lane.outputs.size(); ++i) {
    const TensorView& output = lane.outputs[i];
    auto bytes = output.size_bytes();
    if (has_rows({&output, 1}, rows_run(lane)))
      bytes = bytes / static_cast<std::size_t>(rows_run(lane)) *
              static_cast<std::size_t>(lane.served * spec_.batch);
    if (lane.taken[i].size() < bytes) lane.taken[i].resize(bytes);
    if (bytes > 0) std::memcpy(lane.taken[i].data(), output.data, bytes);
  }
}

void Lanes::try_batch_sizes() {
  if (spec_.inference.load.max_batch <= 1) return;
  batching_ = "dynamic";
  for (int next = 0; next < crew_.size(); ++next)
    crew_.run([&](int lane) {
      if (lane == next) try_batch_sizes(lane);
    });
}

void Lanes::try_batch_sizes(int lane) {
  const Lane& mine = lanes_[static_cast<std::size_t>(lane)];
  const std::int64_t full = spec_.inference.load.max_batch;
  for (std::int64_t requests = 1; requests < full && !padded_; ++requests) {
    std::string refusal;
    try {
      serve(lane, requests);
      if (!has_rows(mine.outputs, requests * spec_.batch))
        refusal = "its first output does not follow the batch";
    } catch (const Error& e) {
      refusal = e.what();
    }
    if (refusal.empty()) continue;
    padded_ = true;
    batching_ = fmt::format("padded to {}: {}", full * spec_.batch, refusal);
  }
  serve(lane, full);
}

result::Correctness Lanes::check(double typical_ns) {
  crew_.run([&](int lane) {
    Lane& mine = lanes_[static_cast<std::size_t>(lane)];
    mine.on_host = !mine.outputs.empty();
    if (mine.served > 0) mine.outputs = readable(*mine.engine, mine.outputs);
  });
  result::Correctness worst;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    if (lanes_[lane].outputs.empty()) continue;
    auto found = check(lanes_[lane]);
    if (!server_ && !result::is_wrong(found)) found = ask_again(static_cast<int>(lane), typical_ns);
    const bool bad = result::is_wrong(found);
    if (bad && lanes_.size() > 1) found.detail += fmt::format(" (lane {} of {})", lane + 1, lanes_.size());
    if (lane == 0 || bad) worst = std::move(found);
    if (bad) break;
  }
  return worst;
}

// Asks for the same inputs and for others on the lane's own thread.
result::Correctness Lanes::ask_again(int lane, double typical_ns) {
  result::Correctness found;
  crew_.run([&](int at) {
    if (at != lane) return;
    const Lane& mine = lanes_[static_cast<std::size_t>(lane)];
    const auto outputs = mine.on_host ? mine.outputs : std::span<const TensorView>();
    found = verify_answers(spec_, *mine.engine, {outputs, mine.input->gather(1, false), typical_ns});
  });
  return found;
}

// Checks the last inference: the rows that requests brought, except repetitions of the same inputs.
result::Correctness Lanes::check(const Lane& lane) const {
  std::vector<TensorView> outputs(lane.outputs.begin(), lane.outputs.end());
  pass::PassSpec spec = spec_;
  spec.batch = std::min(lane.served, batches_of(spec_)) * spec_.batch;
  for (auto& output : outputs)
    if (has_rows({&output, 1}, rows_run(lane))) output.shape.front() = spec.batch;
  return verify_outputs(spec, outputs);
}

}  // namespace paceline::workload
