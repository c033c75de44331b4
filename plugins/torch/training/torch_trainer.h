// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plugin/trainer.h"
#include "torch/models/model.h"
#include "torch/precision.h"
#include "torch/tensors.h"
#include "torch/training/data_parallel.h"
#include "torch/training/grad_scaler.h"
#include "torch/training/optimizer.h"
#include "torch/training/saved_state.h"
#include "torch/training/task.h"
#include "torch/training/trainer_options.h"
#include "torch/training/training_device.h"

namespace paceline::torch_plugin {

// Trains a built-in model on a single rank or as one rank of DDP.
class TorchTrainer : public plugin::Trainer {
 public:
  explicit TorchTrainer(std::unique_ptr<TrainingDevice> device) : device_(std::move(device)) {}
  plugin::TrainerInfo info() const override;
  void load(const plugin::ModelSpec& model, const plugin::TrainSettings& settings,
            plugin::RankGroup* group) override;
  std::vector<TensorSpec> batch_specs() const override;
  void open_step() override;
  std::optional<plugin::StepOutcome> step(std::span<const TensorView> batches, double learning_rate,
                                          plugin::StepRecorder& recorder) override;
  std::optional<plugin::StepOutcome> finish() override;
  plugin::StepOutcome evaluate(std::span<const TensorView> batch) override;
  std::string fingerprint() const override;
  void save(const std::string& file, bool shared) override;
  void restore(const std::string& shared_file, const std::string& rank_file) override;
  std::unique_ptr<plugin::Profiler> profiler() override;

 private:
  struct Judged {                       // of one step
    at::Tensor loss, correct, targets;  // sums over its micro-batches
    int batches = 0;
  };

  void open_device(plugin::RankGroup* group);
  void seed_generator(std::uint64_t seed) const;
  void enter(plugin::StepRecorder& recorder, plugin::StepPhase phase) const;
  void build(const plugin::ModelSpec& model);
  void train_mode();
  void join(plugin::RankGroup* group);
  [[nodiscard]] Example receive(std::span<const TensorView> batch, std::uint64_t draw,
                                StepsUnderWay* steps) const;
  [[nodiscard]] at::Tensor run_model(const Example& example);
  [[nodiscard]] at::Tensor judge(const at::Tensor& output, const Example& example, Judged& sums) const;
  void backward(const at::Tensor& loss);
  void accumulate(std::span<const TensorView> batch, int micro, plugin::StepRecorder& recorder, Judged& sums);
  void make_step(std::span<const TensorView> batches, double learning_rate, plugin::StepRecorder& recorder,
                 Judged& sums);
  void apply_gradients(double learning_rate);
  [[nodiscard]] at::Tensor figures_of(const Judged& sums) const;
  [[nodiscard]] plugin::StepOutcome outcome_of(const at::Tensor& figures) const;
  [[nodiscard]] plugin::StepOutcome next_outcome();
  [[nodiscard]] std::uint64_t draw_of(int micro) const;
  template <typename Work>
  auto guarded(const std::string& what, Work&& work);
  [[nodiscard]] SharedState shared_state() const;
  [[nodiscard]] RankState rank_state() const;
  [[nodiscard]] int rank() const { return group_ ? group_->rank() : 0; }

  std::unique_ptr<TrainingDevice> device_;
  plugin::TrainSettings settings_;
  std::string model_name_;
  std::vector<TensorSpec> inputs_;
  TrainerOptions options_;
  Precision precision_{};
  Form form_;
  TorchGroup* group_ = nullptr;
  std::unique_ptr<Task> task_;
  std::shared_ptr<Model> model_;
  std::vector<at::Tensor> parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<GradScaler> scaler_;
  std::unique_ptr<DataParallel> ddp_;
  std::unique_ptr<StepsUnderWay> under_way_;  // null: the device has finished when a call returns
  bool opened_ = false;                       // whether open_step was called for the next step
  std::int64_t steps_ = 0;
};

}  // namespace paceline::torch_plugin
