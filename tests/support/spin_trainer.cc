// SPDX-License-Identifier: MIT
#include "spin_trainer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"

namespace paceline::test {
namespace {

using plugin::StepPhase;

constexpr std::int64_t kParameters = 3000;  // as it says; it has one
constexpr std::int64_t kMarkedStep = 10;

std::string variable(const char* name, const char* fallback) {
  const char* value = std::getenv(name);
  return value ? value : fallback;
}

// Content of a save, in one line of text: "spin MODEL OPTIMIZER STEPS WEIGHT end".
struct Saved {
  std::string model, optimizer;
  std::int64_t steps = 0;
  double weight = 0;
};

Saved read_saved(const std::string& file) {
  std::ifstream stream(file);
  std::string magic, end, weight;
  Saved saved;
  stream >> magic >> saved.model >> saved.optimizer >> saved.steps >> weight >> end;
  if (!stream || magic != "spin" || end != "end")
    throw Error(ErrorCode::kData, fmt::format("checkpoint '{}' cannot be read", file));
  saved.weight = std::strtod(weight.c_str(), nullptr);
  return saved;
}

// Times a step that is reported late.
class OwnClock : public plugin::StepRecorder {
 public:
  void begin() { times_ = {}, start_ns_ = last_ns_ = clock_.now_ns(), phase_ = StepPhase::kEnd; }
  void enter(StepPhase phase) override {
    const auto now = clock_.now_ns();
    auto& before = phase_ == StepPhase::kEnd ? times_.data_wait_ns
                                             : times_.phase_ns.at(static_cast<std::size_t>(phase_));
    before += now - last_ns_;
    last_ns_ = now, phase_ = phase;
    times_.step_ns = now - start_ns_;
  }
  void launched(int, std::int64_t bytes) override {
    times_.buckets.push_back({bytes, clock_.now_ns() - start_ns_, {}});
  }
  void finished(int bucket) override {
    times_.buckets.at(static_cast<std::size_t>(bucket)).finished_ns = clock_.now_ns() - start_ns_;
  }
  [[nodiscard]] const plugin::StepTimes& times() const { return times_; }

 private:
  SteadyClock clock_;
  plugin::StepTimes times_;
  std::int64_t start_ns_ = 0, last_ns_ = 0;
  StepPhase phase_ = StepPhase::kEnd;
};

class SpinTrainer : public plugin::Trainer {
 public:
  [[nodiscard]] plugin::TrainerInfo info() const override {
    plugin::TrainerInfo info;
    info.versions = {{"spin", "1"}};
    info.settings = {{"threads", std::to_string(settings_.threads)}, {"optimizer", settings_.optimizer.name}};
    info.parameters = kParameters, info.parameter_tensors = 6;
    info.classes = model_.name == "tiny_cnn" ? 10 : 1000;
    if (const auto bytes = std::stoll(variable("SPIN_TENSOR_BYTES", "0")); bytes > 0)
      info.peak_tensor_bytes = bytes,
      info.settings.emplace_back("reserved_peak_bytes", std::to_string(2 * bytes));
    if (exchanges()) info.bucket_bytes = {kParameters, 3 * kParameters};  // of float32
    return info;
  }
  void load(const plugin::ModelSpec& model, const plugin::TrainSettings& settings,
            plugin::RankGroup* group) override {
    if (model.inputs.front().dtype != DType::kFloat32)
      throw Error(ErrorCode::kUnsupported, "the spin trainer takes pictures only");
    model_ = model, settings_ = settings, group_ = group;
    if (settings.precision == "bf16" && std::getenv("SPIN_BF16_US"))
      half_step_ = std::chrono::microseconds(std::stol(variable("SPIN_BF16_US", "0"))) / 2;
    weight_ = 1 + CounterRng(model.weights_seed, hash64("weight")).uniform(0);
  }
  [[nodiscard]] std::vector<TensorSpec> batch_specs() const override {
    return {model_.inputs.front(), {"labels", DType::kInt64, {model_.inputs.front().shape.at(0)}}};
  }
  void open_step() override { own_clock_.begin(); }
  std::optional<plugin::StepOutcome> step(std::span<const TensorView> batches, double learning_rate,
                                          plugin::StepRecorder& recorder) override {
    if (!late_) return make_step(batches, learning_rate, recorder);
    auto outcome = make_step(batches, learning_rate, own_clock_);
    outcome.device_times = own_clock_.times();
    return std::exchange(under_way_, std::move(outcome));
  }
  std::optional<plugin::StepOutcome> finish() override { return std::exchange(under_way_, std::nullopt); }
  plugin::StepOutcome evaluate(std::span<const TensorView> batch) override {
    plugin::StepOutcome outcome;
    judge(batch, mean_of(batch.front()), outcome);
    return outcome;
  }
  [[nodiscard]] std::string fingerprint() const override { return fmt::format("{:a}", weight_); }

  void save(const std::string& file, bool) override {
    if (!std::isfinite(weight_))
      throw Error(ErrorCode::kInternal,
                  "the weight contains numbers that are not finite: training has diverged");
    std::ofstream stream(file);
    stream << fmt::format("spin {} {} {} {:a} end\n", model_.name, settings_.optimizer.name, steps_, weight_);
    if (!stream.flush()) throw Error(ErrorCode::kIo, fmt::format("cannot write '{}'", file));
  }
  void restore(const std::string& shared_file, const std::string& rank_file) override {
    read_saved(rank_file);
    const auto saved = read_saved(shared_file);
    if (saved.model != model_.name || saved.optimizer != settings_.optimizer.name)
      throw Error(ErrorCode::kData, fmt::format("checkpoint '{}' is of model {} with optimizer {}",
                                                shared_file, saved.model, saved.optimizer));
    steps_ = saved.steps, weight_ = saved.weight;
  }

 private:
  plugin::StepOutcome make_step(std::span<const TensorView> batches, double learning_rate,
                                plugin::StepRecorder& recorder) {
    plugin::StepOutcome outcome;
    double gradient = 0;
    for (std::size_t i = 0; i < batches.size(); i += 2) {
      recorder.enter(StepPhase::kInput);
      const double input = mean_of(batches[i]);
      recorder.enter(StepPhase::kForward);
      std::this_thread::sleep_for(half_step_);
      judge(batches.subspan(i, 2), input, outcome);
      recorder.enter(StepPhase::kBackward);
      std::this_thread::sleep_for(half_step_);
      gradient += weight_ * (0.6 + 0.1 * std::sin(input));
    }
    outcome.loss /= settings_.accumulation_steps;
    exchange(gradient, recorder);
    recorder.enter(StepPhase::kOptimizer);
    weight_ -= 0.1 * learning_rate * gradient / settings_.accumulation_steps;
    recorder.enter(StepPhase::kEnd);
    ++steps_;
    mark(++made_);
    return outcome;
  }

  [[nodiscard]] bool exchanges() const { return group_ && settings_.ddp.enabled; }

  static double mean_of(const TensorView& pictures) {
    const auto count = element_count(pictures.shape);
    const auto* values = static_cast<const float*>(pictures.data);
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(values[i]);
    return sum / static_cast<double>(count);
  }

  // The answers are right more often as the weight shrinks, whatever the labels are.
  void judge(std::span<const TensorView> batch, double input, plugin::StepOutcome& outcome) const {
    const auto labels = batch[1].shape.at(0);
    outcome.loss += weight_ * weight_ * (1 + 0.01 * std::sin(input));
    outcome.judged += labels;
    outcome.correct += std::llround(static_cast<double>(labels) * std::exp(-std::abs(weight_)));
  }

  // Two buckets; the second one is waited for.
  void exchange(double& gradient, plugin::StepRecorder& recorder) {
    if (!exchanges()) return;
    const auto bytes = info().bucket_bytes;
    recorder.launched(0, bytes[0]);
    recorder.finished(0);
    recorder.launched(1, bytes[1]);
    recorder.enter(StepPhase::kCommunication);
    group_->reduce_max({&gradient, 1});
    recorder.finished(1);
  }

  static void mark(std::int64_t steps) {
    const auto folder = variable("SPIN_MARKS", "");
    if (steps == kMarkedStep && !folder.empty()) std::ofstream(fmt::format("{}/{}", folder, ::getpid()));
  }

  bool late_ = variable("SPIN_LATE", "0") == "1";
  OwnClock own_clock_;
  std::optional<plugin::StepOutcome> under_way_;
  plugin::ModelSpec model_;
  plugin::TrainSettings settings_;
  plugin::RankGroup* group_ = nullptr;
  double weight_ = 1;
  std::int64_t steps_ = 0, made_ = 0;  // of the training, and of this process
  std::chrono::microseconds half_step_{std::stol(variable("SPIN_STEP_US", "1000")) / 2};
};

}  // namespace

std::unique_ptr<plugin::Trainer> make_spin_trainer() {
  return std::make_unique<SpinTrainer>();
}

}  // namespace paceline::test
