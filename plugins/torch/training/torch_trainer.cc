// SPDX-License-Identifier: MIT
#include "torch/training/torch_trainer.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/random.h"
#include "base/saved_weights.h"
#include "base/step_clock.h"
#include "torch/errors.h"
#include "torch/models/layers.h"
#include "torch/models/table.h"
#include "torch/program_factory.h"
#include "torch/threads.h"
#include "torch/training/fingerprint.h"
#include "torch/training/kineto_profiler.h"
#include "torch/training/peer_errors.h"
#include "torch/training/weights_file.h"

namespace paceline::torch_plugin {
namespace {

constexpr std::uint64_t kEvaluationDraw = ~std::uint64_t{0};

using plugin::StepPhase;

at::Tensor random_state(at::Generator generator) {
  const std::lock_guard lock(generator.mutex());
  return generator.get_state();
}

void set_random_state(at::Generator generator, const at::Tensor& state) {
  const std::lock_guard lock(generator.mutex());
  generator.set_state(state);
}

void switch_dropout_off(Model& model) {
  for (const auto& module : model.modules(/*include_self=*/false))
    if (const auto dropout = std::dynamic_pointer_cast<Dropout>(module)) dropout->switch_off();
}

void add_up(at::Tensor& sum, const at::Tensor& value) {
  sum = sum.defined() ? sum + value : value;
}

void check(const plugin::TrainSettings& settings) {
  if (settings.accumulation_steps < 1)
    throw Error(ErrorCode::kUsage,
                fmt::format("accumulation_steps is {}; it must be 1 or more", settings.accumulation_steps));
  if (!(settings.clip_norm >= 0))
    throw Error(ErrorCode::kUsage,
                fmt::format("clip_norm is {}; it must not be negative", settings.clip_norm));
}

const char* on_off(bool value) {
  return value ? "on" : "off";
}

}  // namespace

// An exception of `work` becomes Error(kUnavailable) when a peer is the cause, else Error(kInternal).
template <typename Work>
auto TorchTrainer::guarded(const std::string& what, Work&& work) {
  try {
    return work();
  } catch (const std::exception& e) {
    if (ddp_) ddp_->unwatch();
    if (group_) group_->abandon();
    if (const auto* ours = dynamic_cast<const Error*>(&e)) throw *ours;
    if (group_ && peer_failure(e)) throw group_->failed(what, e);
    if (out_of_memory(e)) throw std::bad_alloc();
    throw Error(ErrorCode::kInternal, fmt::format("{}: {}", what, reason_of(e)));
  }
}

void TorchTrainer::load(const plugin::ModelSpec& model, const plugin::TrainSettings& settings,
                        plugin::RankGroup* group) {
  check(settings);
  settings_ = settings;
  options_ = parse_options(settings.options);
  task_ = task_of(model.name, settings.seed, options_.classes);
  model_name_ = model.name;
  inputs_ = model.inputs;
  guarded(fmt::format("cannot prepare model '{}' for training", model.name), [&] {
    open_device(group);
    build(model);
    join(group);
  });
  seed_generator(settings.seed + static_cast<std::uint64_t>(rank()));
}

// A rank's device is that of its group.
void TorchTrainer::open_device(plugin::RankGroup* group) {
  set_threads(std::max(settings_.threads, 1));
  at::globalContext().setDeterministicAlgorithms(settings_.deterministic, /*warn_only=*/false);
  const auto wanted = group ? as_torch_group(*group).device().str() : options_.device;
  form_ = {at::kFloat, wants_channels_last(settings_.layout), device_->open(wanted, settings_, options_)};
  precision_ = device_->precision(settings_.precision, options_);
  under_way_ = device_->steps();
}

void TorchTrainer::seed_generator(std::uint64_t seed) const {
  auto generator = device_->generator();
  const std::lock_guard lock(generator.mutex());
  generator.set_current_seed(seed);
}

void TorchTrainer::build(const plugin::ModelSpec& model) {
  model_ = make_model_with_training_head(model, std::max(settings_.threads, 1), options_.classes);
  static_cast<void>(batch_specs());  // throws for shapes that the task cannot use
  convert(*model_, form_);
  if (!settings_.dropout) switch_dropout_off(*model_);
  train_mode();
  parameters_ = model_->parameters();
  for (auto& parameter : parameters_) parameter.set_requires_grad(true);
  optimizer_ = make_optimizer(settings_.optimizer, parameters_);
  if (settings_.precision == "amp") scaler_.emplace(options_.scaler, form_.device);
}

void TorchTrainer::train_mode() {
  model_->train();
  if (!options_.freeze_batch_norm) return;
  for (const auto& module : model_->modules(/*include_self=*/false))
    if (std::dynamic_pointer_cast<BatchNorm2d>(module)) module->eval();
}

void TorchTrainer::join(plugin::RankGroup* group) {
  if (!group || !settings_.ddp.enabled) return;  // several ranks without DDP: a model each
  group_ = &as_torch_group(*group);
  ddp_ = std::make_unique<DataParallel>(*model_, *group_, settings_.ddp, options_.link_delay_s);
}

std::vector<TensorSpec> TorchTrainer::batch_specs() const {
  if (!task_) throw Error(ErrorCode::kInternal, "batch_specs before load");
  return task_->batch_specs(inputs_);
}

std::uint64_t TorchTrainer::draw_of(int micro) const {
  const auto batch =
      static_cast<std::uint64_t>(steps_) * static_cast<std::uint64_t>(settings_.accumulation_steps) +
      static_cast<std::uint64_t>(micro);
  return (static_cast<std::uint64_t>(rank()) << 48) ^ batch;
}

Example TorchTrainer::receive(std::span<const TensorView> batch, std::uint64_t draw,
                              StepsUnderWay* steps) const {
  const auto specs = batch_specs();
  std::vector<at::Tensor> tensors;
  for (std::size_t i = 0; i < specs.size(); ++i) tensors.push_back(borrow_input(batch[i], specs[i]));
  auto example = task_->prepare(std::move(tensors), draw);
  const auto bring = [&](const at::Tensor& tensor) { return steps ? steps->send(tensor) : tensor; };
  for (auto& input : example.inputs) input = in_form(bring(input), form_);
  example.targets = bring(example.targets).to(form_.device).flatten();
  return example;
}

// On an asynchronous device a phase begins when it is enqueued; with sync_cuda, after earlier work.
void TorchTrainer::enter(plugin::StepRecorder& recorder, StepPhase phase) const {
  if (options_.sync_cuda) device_->synchronize();
  recorder.enter(phase);
}

at::Tensor TorchTrainer::run_model(const Example& example) {
  std::optional<Autocast> autocast;
  if (precision_.autocast) autocast.emplace(precision_);
  return model_->run(example.inputs);
}

// The mean loss of a micro-batch, in float32 whatever the precision.
at::Tensor TorchTrainer::judge(const at::Tensor& output, const Example& example, Judged& sums) const {
  const auto answers = task_->answers(output).flatten(0, -2).to(at::kFloat);
  const auto loss = at::cross_entropy_loss(answers, example.targets, {}, at::Reduction::Mean, kNoTarget);
  const at::NoGradGuard no_grad;
  add_up(sums.loss, loss.detach());
  add_up(sums.correct, answers.detach().argmax(-1).eq(example.targets).sum());
  add_up(sums.targets, example.targets.ne(kNoTarget).sum());
  ++sums.batches;
  return loss;
}

void TorchTrainer::backward(const at::Tensor& loss) {
  const auto share = settings_.accumulation_steps == 1 ? loss : loss / settings_.accumulation_steps;
  (scaler_ ? scaler_->scale(share) : share).backward();
}

void TorchTrainer::accumulate(std::span<const TensorView> batch, int micro, plugin::StepRecorder& recorder,
                              Judged& sums) {
  const bool last = micro + 1 == settings_.accumulation_steps;
  enter(recorder, StepPhase::kInput);
  const auto example = receive(batch, draw_of(micro), under_way_.get());
  enter(recorder, StepPhase::kForward);
  if (ddp_) ddp_->before_forward(last);
  if (ddp_ && ddp_->buffers_are_due()) {  // a collective: a late rank keeps the others waiting here
    enter(recorder, StepPhase::kCommunication);
    ddp_->broadcast_buffers();
    enter(recorder, StepPhase::kForward);
  }
  auto output = run_model(example);
  if (ddp_) ddp_->after_forward(output, last);
  const auto loss = judge(output, example, sums);
  enter(recorder, StepPhase::kBackward);
  if (ddp_ && last) ddp_->watch(recorder);
  backward(loss);
}

// Drops the gradients, so that the next backward pass writes new ones, like PyTorch's zero_grad(). The
// Reducer makes views into DDP's buckets again. The optimizer checks on the device whether gradients were
// finite, so that the host does not wait.
void TorchTrainer::apply_gradients(double learning_rate) {
  const auto gradients = gradients_of(parameters_);
  if (scaler_) scaler_->unscale(gradients);
  if (settings_.clip_norm > 0) clip_gradients(gradients, settings_.clip_norm);
  optimizer_->step(learning_rate, scaler_ ? scaler_->found_inf() : at::Tensor());
  if (scaler_) scaler_->update();
  for (auto& parameter : parameters_) parameter.mutable_grad().reset();
}

// loss, correct answers, labels that count, whether the step was skipped, the scale after it
at::Tensor TorchTrainer::figures_of(const Judged& sums) const {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> figures{sums.loss.to(at::kDouble) / sums.batches, sums.correct, sums.targets};
  if (scaler_) figures.insert(figures.end(), {scaler_->found_inf(), scaler_->scale()});
  for (auto& figure : figures) figure = figure.to(at::kDouble).reshape({1});
  return at::cat(figures);
}

plugin::StepOutcome TorchTrainer::outcome_of(const at::Tensor& figures) const {
  const auto* figure = figures.const_data_ptr<double>();
  plugin::StepOutcome outcome;
  outcome.loss = figure[0];
  outcome.correct = std::llround(figure[1]);
  outcome.judged = std::llround(figure[2]);
  if (!scaler_) return outcome;
  outcome.skipped = figure[3] != 0;
  outcome.loss_scale = figure[4];
  return outcome;
}

plugin::StepOutcome TorchTrainer::next_outcome() {
  const auto ended = under_way_->wait_for_oldest();
  if (group_) group_->check_health();
  auto outcome = outcome_of(ended.figures);
  outcome.device_times = ended.times;
  return outcome;
}

void TorchTrainer::open_step() {
  if (under_way_) guarded("the next step cannot begin", [&] { under_way_->open(); });
  opened_ = true;
}

void TorchTrainer::make_step(std::span<const TensorView> batches, double learning_rate,
                             plugin::StepRecorder& recorder, Judged& sums) {
  const auto each = batch_specs().size();
  for (int micro = 0; micro < settings_.accumulation_steps; ++micro)
    accumulate(batches.subspan(each * static_cast<std::size_t>(micro), each), micro, recorder, sums);
  enter(recorder, StepPhase::kOptimizer);
  apply_gradients(learning_rate);
}

std::optional<plugin::StepOutcome> TorchTrainer::step(std::span<const TensorView> batches,
                                                      double learning_rate, plugin::StepRecorder& recorder) {
  const auto each = batch_specs().size();
  if (batches.size() != each * static_cast<std::size_t>(settings_.accumulation_steps))
    throw Error(ErrorCode::kUsage,
                fmt::format("a step takes {} tensors, {} given",
                            each * static_cast<std::size_t>(settings_.accumulation_steps), batches.size()));
  if (!opened_) open_step();
  opened_ = false;
  return guarded(fmt::format("step {} failed", steps_), [&]() -> std::optional<plugin::StepOutcome> {
    if (under_way_) under_way_->begin(recorder);
    Judged sums;
    make_step(batches, learning_rate, under_way_ ? *under_way_ : recorder, sums);
    const auto figures = figures_of(sums);
    if (ddp_) ddp_->settle();
    if (options_.sync_cuda) device_->synchronize();
    under_way_ ? under_way_->end(figures) : recorder.enter(StepPhase::kEnd);
    if (ddp_) ddp_->unwatch();
    ++steps_;
    if (!under_way_) return outcome_of(figures);
    if (under_way_->count() > 1) return next_outcome();
    return std::nullopt;
  });
}

std::optional<plugin::StepOutcome> TorchTrainer::finish() {
  if (!under_way_ || under_way_->count() == 0) return std::nullopt;
  return guarded(fmt::format("step {} failed", steps_ - 1), [&] { return next_outcome(); });
}

plugin::StepOutcome TorchTrainer::evaluate(std::span<const TensorView> batch) {
  if (batch.size() != batch_specs().size())
    throw Error(ErrorCode::kUsage,
                fmt::format("a batch has {} tensors, {} given", batch_specs().size(), batch.size()));
  const at::NoGradGuard no_grad;
  return translate_errors(ErrorCode::kData, "cannot evaluate the batch", [&] {
    Judged sums;
    const auto example = receive(batch, kEvaluationDraw, nullptr);
    model_->eval();
    const auto output = run_model(example);
    train_mode();
    static_cast<void>(judge(output, example, sums));
    auto outcome = outcome_of(figures_of(sums).cpu());
    outcome.loss_scale.reset();
    outcome.skipped = false;
    return outcome;
  });
}

// Parameters only: running statistics differ between ranks until DDP sends those of rank 0.
std::string TorchTrainer::fingerprint() const {
  return fingerprint_of(parameters_);
}

SharedState TorchTrainer::shared_state() const {
  SharedState state{model_name_, settings_.optimizer.name, named_tensors(*model_), optimizer_->state(),
                    steps_};
  if (scaler_)
    for (const auto& tensor : scaler_->state()) state.optimizer_state.push_back(tensor);
  return state;
}

RankState TorchTrainer::rank_state() const {
  const bool own_buffers = ddp_ && !settings_.ddp.broadcast_buffers;
  return {rank(), random_state(device_->generator()),
          c10::DeviceTypeName(form_.device.type(), /*lower_case=*/true),
          own_buffers ? model_->buffers() : std::vector<at::Tensor>{}};
}

void TorchTrainer::save(const std::string& file, bool shared) {
  if (file.ends_with(kWeightsEnding))
    return save_weights(file, named_tensors(*model_), steps_ * settings_.accumulation_steps);
  if (!shared) return save_state(file, nullptr, rank_state());
  const auto state = shared_state();
  save_state(file, &state, rank_state());
}

void TorchTrainer::restore(const std::string& shared_file, const std::string& rank_file) {
  auto shared = shared_state();
  load_shared_state(shared_file, shared);
  steps_ = shared.steps;
  auto own = rank_state();
  load_rank_state(rank_file, own);
  // A rank that did not exist before has no state of its own, and must not draw the numbers of another. The
  // state of another kind of device belongs to another generator.
  if (own.rank != rank() || own.device != rank_state().device)
    return seed_generator(mix64(settings_.seed ^ draw_of(0)));
  translate_errors(ErrorCode::kData, fmt::format("checkpoint '{}' contains no random state", rank_file),
                   [&] { set_random_state(device_->generator(), own.random); });
}

std::unique_ptr<plugin::Profiler> TorchTrainer::profiler() {
  return make_kineto_profiler(form_.device);
}

plugin::TrainerInfo TorchTrainer::info() const {
  plugin::TrainerInfo info;
  info.versions = device_->versions();
  if (!model_) return info;
  info.settings = {{"task", std::string(task_->name())},
                   {"device", form_.device.str()},
                   {"precision", settings_.precision},
                   {"autocast", precision_.autocast ? c10::toString(precision_.dtype) : "off"},
                   {"memory_format", form_.channels_last ? "channels_last" : "contiguous"},
                   {"threads", std::to_string(running_threads())},
                   {"optimizer", optimizer_->implementation()},
                   {kStepTimes, under_way_ ? kOnDeviceClock : kOnHostClock},
                   {std::string(kWeightsSetting), "safetensors"},
                   {"dropout", on_off(settings_.dropout)},
                   {"deterministic", on_off(at::globalContext().deterministicAlgorithms())},
                   {"ddp", ddp_ ? fmt::format("on, {} ranks", group_->world()) : "off"}};
  for (const auto& [name, value] : settings_.options) info.settings.emplace_back(name, value);
  for (auto& setting : device_->settings()) info.settings.push_back(std::move(setting));
  info.peak_tensor_bytes = device_->peak_tensor_bytes();
  info.parameters = parameter_count(*model_);
  info.classes = task_->classes();
  info.parameter_tensors = static_cast<std::int64_t>(parameters_.size());
  if (ddp_) {
    info.settings.emplace_back("comm_hook", settings_.ddp.comm_hook);
    info.settings.emplace_back("buckets_rebuilt", ddp_->rebuilt() ? "yes" : "no");
    info.bucket_bytes = ddp_->bucket_bytes();
  }
  return info;
}

}  // namespace paceline::torch_plugin
