// SPDX-License-Identifier: MIT
#pragma once
#include <ATen/ops/empty.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "torch/training/step_timeline.h"
#include "torch/training/steps_under_way.h"

namespace paceline::torch_plugin {

// Implements StepsUnderWay with what a device's runtime offers. Runtime: Mark and its place() (see
// StepTimeline); host_memory(tensor) and device_memory(tensor): memory for such a tensor that no pending work
// uses; copy_beside(into, from): to the device, in parallel with its work, which waits for it;
// copy_back(into, from): to the host, after the work.
template <typename Runtime>
class QueuedSteps : public StepsUnderWay {
 public:
  explicit QueuedSteps(Runtime runtime)
      : runtime_(std::move(runtime)), steps_{{Step(runtime_.place()), Step(runtime_.place())}} {}

  void open() override { next().timeline.open(); }
  void begin(plugin::StepRecorder& host) override {
    host_ = &host;
    next().sent = 0;
  }
  void enter(plugin::StepPhase phase) override {
    next().timeline.enter(phase);
    host_->enter(phase);
  }
  void launched(int bucket, std::int64_t bytes) override {
    next().timeline.launched(bytes);
    host_->launched(bucket, bytes);
  }
  void finished(int bucket) override {
    next().timeline.finished(bucket);
    host_->finished(bucket);
  }
  at::Tensor send(const at::Tensor& host) override {
    auto& step = next();
    if (step.sent == step.staged.size()) step.staged.emplace_back();
    auto& stage = step.staged[step.sent++];
    if (!same_form(stage.on_host, host)) stage = {runtime_.host_memory(host), runtime_.device_memory(host)};
    stage.on_host.copy_(host);
    runtime_.copy_beside(stage.on_device, stage.on_host);
    return stage.on_device;
  }
  void end(const at::Tensor& figures) override {
    auto& step = next();
    if (!same_form(step.figures, figures)) step.figures = runtime_.host_memory(figures);
    runtime_.copy_back(step.figures, figures);
    enter(plugin::StepPhase::kEnd);
    ++handed_over_;
  }
  std::size_t count() const override { return handed_over_ - ended_; }
  Ended wait_for_oldest() override {
    auto& step = steps_[ended_++ % steps_.size()];
    step.timeline.wait();
    return {step.figures.clone(), step.timeline.times()};
  }

 private:
  struct Stage {
    at::Tensor on_host, on_device;
  };
  struct Step {
    explicit Step(typename Runtime::Mark::Place place) : timeline(place) {}
    StepTimeline<typename Runtime::Mark> timeline;
    std::vector<Stage> staged;  // inputs, in the order in which they are sent
    std::size_t sent = 0;
    at::Tensor figures;
  };
  static bool same_form(const at::Tensor& a, const at::Tensor& b) {
    return a.defined() && a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type();
  }
  Step& next() { return steps_[handed_over_ % steps_.size()]; }

  Runtime runtime_;
  plugin::StepRecorder* host_ = nullptr;
  std::array<Step, 2> steps_;  // used in turns: a step has ended before its place is used again
  std::size_t handed_over_ = 0, ended_ = 0;
};

}  // namespace paceline::torch_plugin
