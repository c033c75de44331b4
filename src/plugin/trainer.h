// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/tensor.h"
#include "plugin/engine.h"
#include "plugin/rank_group.h"

namespace paceline::plugin {

struct OptimizerSettings {
  std::string name = "sgd";                       // sgd | adamw
  double momentum = 0.9;                          // sgd
  bool nesterov = false;                          // sgd
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  // adamw
  double weight_decay = 1e-4;
};

// PyTorch's DistributedDataParallel: its options, its names, its defaults.
struct DdpSettings {
  bool enabled = true;        // false: gradients stay local (only with one rank)
  double bucket_cap_mb = 25;  // MiB; where it is 25 the first bucket is 1 MiB
  bool gradient_as_bucket_view = false;
  bool static_graph = false;
  bool find_unused_parameters = false;
  bool broadcast_buffers = true;
  std::string comm_hook = "none";  // none | fp16_compress | bf16_compress
};

struct TrainSettings {
  std::string precision =
      "fp32";  // fp32 | tf32 | amp (fp16 autocast, GradScaler) | bf16 (autocast, FP32 weights)
  std::string layout = "contiguous";  // contiguous | channels_last
  int threads = 1;
  std::uint64_t seed = 42;  // of what is drawn while training: dropout, masked tokens
  bool dropout = true;      // as the model's paper has it; false: none
  bool deterministic = false;
  double clip_norm = 0;        // of all gradients together; 0: not clipped
  int accumulation_steps = 1;  // micro-batches a step; gradients are exchanged with the last
  OptimizerSettings optimizer;
  DdpSettings ddp;
  std::map<std::string, std::string> options;  // of the plug-in
};

// Parts of a step. Communication is the exposed part: buffers that rank 0 sends before forward, and from the
// last gradient that was ready to the end of the backward pass.
enum class StepPhase { kInput, kForward, kBackward, kCommunication, kOptimizer, kEnd };

// Is told when a part of a step begins; reads the clock, which trainers do not. launched and finished may
// come from threads of the communication library, at any time until kEnd.
class PACELINE_EXPORT StepRecorder {
 public:
  virtual ~StepRecorder() = default;
  virtual void enter(StepPhase phase) = 0;
  virtual void launched(int bucket, std::int64_t bytes) = 0;  // an all-reduce of gradients was handed over
  virtual void finished(int bucket) = 0;
};

// One all-reduce of gradients; times from the start of the step, in ns.
struct BucketTimes {
  std::int64_t bytes = 0;
  std::int64_t launched_ns = 0;
  std::optional<std::int64_t> finished_ns;  // none: its end was not heard of
};

// Where the time of a step went, in ns. Parts that come several times (micro-batches) are added up.
struct StepTimes {
  std::int64_t step_ns = 0;       // from the fetch of the batch to the end of the optimizer
  std::int64_t data_wait_ns = 0;  // until the batch was there
  std::array<std::int64_t, static_cast<std::size_t>(StepPhase::kEnd)> phase_ns{};  // by StepPhase
  std::vector<BucketTimes> buckets;                                                // by number
};

struct StepOutcome {
  double loss = 0;                   // mean over the rank's samples of this step
  std::int64_t correct = 0;          // right first answers
  std::int64_t judged = 0;           // labels that count
  bool skipped = false;              // by the GradScaler: gradients were not finite
  std::optional<double> loss_scale;  // amp
  // On the clock of a device that works on its own; none: the recorder's clock has seen the work itself.
  std::optional<StepTimes> device_times;
};

// What a trainer says of itself after load and a few steps.
struct TrainerInfo {
  std::vector<std::pair<std::string, std::string>> versions;
  std::vector<std::pair<std::string, std::string>> settings;  // as they are in effect
  std::int64_t parameters = 0;                                // elements
  std::int64_t parameter_tensors = 0;                         // one all-reduce each, were there no buckets
  std::int64_t classes = 0;                // labels, or a language model's tokens, are below it; 0: not known
  std::vector<std::int64_t> bucket_bytes;  // real ones, after they were rebuilt; empty without DDP
  std::optional<std::int64_t> peak_tensor_bytes;  // of the allocator, where it counts
};

// All calls of one name while a profiler watched: of an operator of the library's, or of a scope.
struct ProfiledTime {
  std::string name;
  std::int64_t calls = 0;
  double total_ns = 0;  // in it and in what it called; of one inside its like, the outer alone
  // In it alone; none: it ran beside its thread, as a collective does. Where a device worked: the device's
  // time for what it handed over itself; none: nothing.
  std::optional<double> self_ns;
};

struct StepProfile {
  std::vector<ProfiledTime> scopes;      // of the caller, in the order in which they came
  std::vector<ProfiledTime> operators;   // the largest self time first
  std::string source;                    // who measured, in words
  std::string no_trace;                  // why there is no trace; empty: it was written
  std::optional<double> device_busy_ns;  // how long a device was at work; none: the host did the work
};

// Watches what a trainer does. Calls come one at a time; only the thread that trains is watched, and what
// works for it.
class PACELINE_EXPORT Profiler {
 public:
  virtual ~Profiler() = default;
  virtual void start() = 0;
  // Until its close everything belongs to this scope, which is in the trace too. Scopes nest. One that is
  // opened in the middle of a backward pass begins when the operators of that pass are over.
  virtual void open(const std::string& scope) = 0;
  virtual void close() = 0;
  // Ends watching and writes a trace in Chrome's format (JSON), which Perfetto opens.
  virtual StepProfile stop(const std::string& trace_file) = 0;
};

// Trains one model, one optimizer step a call. The caller's order is load, then any number of step, save,
// restore. Error(kUnsupported) with the reason for what cannot be done here.
class PACELINE_EXPORT Trainer {
 public:
  virtual ~Trainer() = default;
  [[nodiscard]] virtual TrainerInfo info() const = 0;
  // `model.inputs` have the shapes of one micro-batch of one rank. `group` is of the same plug-in and
  // outlives the trainer; null: no group. Weights of rank 0 go to everybody.
  virtual void load(const ModelSpec& model, const TrainSettings& settings, RankGroup* group) = 0;
  // Names, types and shapes of what step takes: the model's inputs, then the labels (classification: int64
  // [N]; language models: none, they are made from the inputs).
  [[nodiscard]] virtual std::vector<TensorSpec> batch_specs() const = 0;
  // The caller begins to fetch the batch of the next step.
  virtual void open_step() {}
  // One optimizer step over accumulation_steps micro-batches, `batches` one after the other in the order of
  // batch_specs. The data is the caller's again when the call returns. Gives the outcome of this step; of the
  // step before it where a device works on its own, so that the host never waits for the step it has just
  // handed over. Outcomes come in the order of steps.
  virtual std::optional<StepOutcome> step(std::span<const TensorView> batches, double learning_rate,
                                          StepRecorder& recorder) = 0;
  // Waits for the step that is under way and gives its outcome; none where step has given them all.
  virtual std::optional<StepOutcome> finish() { return std::nullopt; }
  // Right answers and loss on one micro-batch, without training: running statistics, no dropout.
  virtual StepOutcome evaluate(std::span<const TensorView> batch) = 0;
  // Equal when parameters and buffers that DDP keeps equal are equal to the bit.
  [[nodiscard]] virtual std::string fingerprint() const = 0;
  // Everything the next step depends on: weights, buffers, optimizer, scaler, random state of this rank. One
  // file; parts that all ranks share only when `shared`. Throws Error(kIo); Error(kInternal):
  // weights or optimizer hold numbers that are not finite, and nothing is written.
  virtual void save(const std::string& file, bool shared) = 0;
  // Throws Error(kData): not such a file, of another model or optimizer, with numbers that are not finite.
  virtual void restore(const std::string& shared_file, const std::string& rank_file) = 0;
  // After load; null: there is none. Not before anything that is timed.
  [[nodiscard]] virtual std::unique_ptr<Profiler> profiler() { return nullptr; }
};

}  // namespace paceline::plugin
