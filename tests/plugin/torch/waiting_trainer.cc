// SPDX-License-Identifier: MIT
#include "waiting_trainer.h"

#include <torch/csrc/autograd/custom_function.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "torch/models/model.h"
#include "torch/threads.h"
#include "torch/training/data_parallel.h"
#include "torch/training/fingerprint.h"
#include "torch/versions.h"

namespace paceline::torch_test {
namespace {

using plugin::StepPhase;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

std::int64_t number(const char* name, std::int64_t fallback) {
  const char* value = std::getenv(name);
  return value ? std::atoll(value) : fallback;
}

void wait_us(std::int64_t us) {
  if (us > 0) std::this_thread::sleep_for(std::chrono::microseconds(us));
}

// Takes a third of `us` forward and the rest backward, where the gradient of `weight` becomes ready.
struct Wait : torch::autograd::Function<Wait> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& weight,
                            std::int64_t us) {
    context->save_for_backward({weight});
    context->saved_data["us"] = us - us / 3;
    wait_us(us / 3);
    return x + 0.001 * weight[0];
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    wait_us(context->saved_data["us"].toInt());
    const auto weight = context->get_saved_variables().front();
    return {gradients.front(), at::full_like(weight, 0.001), {}};
  }
};

class WaitingModel : public torch_plugin::Model {
 public:
  WaitingModel(std::int64_t layers, std::int64_t layer_bytes, std::int64_t layer_us) : layer_us_(layer_us) {
    for (std::int64_t i = 0; i < layers; ++i)
      weights_.push_back(
          register_parameter("layer" + std::to_string(i), at::full({layer_bytes / 4}, 1.0, at::kFloat)));
  }
  at::Tensor run(std::span<const at::Tensor>) override {
    auto x = at::ones({1});
    for (const auto& weight : weights_) x = Wait::apply(x, weight, layer_us_);
    return x;
  }

 private:
  std::vector<at::Tensor> weights_;
  std::int64_t layer_us_;
};

class WaitingTrainer : public plugin::Trainer {
 public:
  plugin::TrainerInfo info() const override {
    plugin::TrainerInfo info;
    info.versions = torch_plugin::library_versions();
    info.settings = {{"threads", "1"}, {"optimizer", settings_.optimizer.name}};
    info.parameters = torch_plugin::parameter_count(*model_);
    info.parameter_tensors = static_cast<std::int64_t>(model_->parameters().size());
    info.classes = 10;
    if (ddp_) info.bucket_bytes = ddp_->bucket_bytes();
    return info;
  }
  void load(const plugin::ModelSpec& model, const plugin::TrainSettings& settings,
            plugin::RankGroup* group) override {
    torch_plugin::set_threads(1);
    spec_ = model, settings_ = settings, rank_ = group ? group->rank() : 0;
    ranks_ = group ? group->world() : 1;
    model_ = std::make_shared<WaitingModel>(number("WAIT_LAYERS", 8), number("WAIT_LAYER_BYTES", 65536),
                                            number("WAIT_LAYER_US", 3000));
    if (group && settings.ddp.enabled)
      ddp_ = std::make_unique<torch_plugin::DataParallel>(*model_, torch_plugin::as_torch_group(*group),
                                                          settings.ddp);
  }
  std::vector<TensorSpec> batch_specs() const override {
    return {spec_.inputs.front(), {"labels", DType::kInt64, {spec_.inputs.front().shape.at(0)}}};
  }
  void open_step() override { wait_us(ranks_ > 1 ? data_us_ : 0); }
  std::optional<plugin::StepOutcome> step(std::span<const TensorView>, double learning_rate,
                                          plugin::StepRecorder& recorder) override {
    recorder.enter(StepPhase::kInput);
    recorder.enter(StepPhase::kForward);
    if (ddp_) ddp_->before_forward(true);
    if (rank_ == 1) wait_us(late_us_);
    auto output = model_->run({});
    if (ddp_) ddp_->after_forward(output, true);
    recorder.enter(StepPhase::kBackward);
    if (ddp_) ddp_->watch(recorder);
    output.sum().backward();
    recorder.enter(StepPhase::kOptimizer);
    learn(learning_rate);
    if (ddp_) ddp_->settle();
    recorder.enter(StepPhase::kEnd);
    if (ddp_) ddp_->unwatch();
    return outcome();
  }
  plugin::StepOutcome evaluate(std::span<const TensorView>) override { return outcome(); }
  std::string fingerprint() const override { return torch_plugin::fingerprint_of(model_->parameters()); }
  void save(const std::string&, bool) override { refuse(); }
  void restore(const std::string&, const std::string&) override { refuse(); }

 private:
  [[noreturn]] static void refuse() {
    throw Error(ErrorCode::kUnsupported, "the waiting trainer keeps no checkpoints");
  }
  void learn(double learning_rate) {
    const at::NoGradGuard no_grad;
    for (auto& parameter : model_->parameters()) {
      parameter.sub_(parameter.grad(), learning_rate);
      parameter.mutable_grad().reset();
    }
  }
  [[nodiscard]] plugin::StepOutcome outcome() const {
    plugin::StepOutcome outcome;
    outcome.loss = 1, outcome.judged = spec_.inputs.front().shape.at(0);
    return outcome;
  }

  plugin::ModelSpec spec_;
  plugin::TrainSettings settings_;
  std::shared_ptr<WaitingModel> model_;
  std::unique_ptr<torch_plugin::DataParallel> ddp_;
  int rank_ = 0, ranks_ = 1;
  std::int64_t data_us_ = number("WAIT_DATA_US", 0), late_us_ = number("WAIT_LATE_US", 0);
};

}  // namespace

std::unique_ptr<plugin::Trainer> make_waiting_trainer() {
  return std::make_unique<WaitingTrainer>();
}

}  // namespace paceline::torch_test
