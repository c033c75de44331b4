// SPDX-License-Identifier: MIT
// The interface of a trainer, which trains a model step by step.
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
  std::string name = "sgd";                       // sgd | adamw | adam
  double momentum = 0.9;                          // sgd
  bool nesterov = false;                          // sgd
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;  // adamw, adam
  double weight_decay = 1e-4;
};

// PyTorch's DistributedDataParallel: its options with their names and defaults.
struct DdpSettings {
  bool enabled = true;        // false: gradients stay local (only with one rank)
  double bucket_cap_mb = 25;  // MiB; at 25 the first bucket is 1 MiB
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
  std::uint64_t seed = 42;  // for random choices while training: dropout, masked tokens
  bool dropout = true;      // as in the model's paper; false: none
  bool deterministic = false;
  double clip_norm = 0;        // for the norm of all gradients together; 0: no clipping
  int accumulation_steps = 1;  // micro-batches per step; gradients are exchanged with the last
  OptimizerSettings optimizer;
  DdpSettings ddp;
  std::map<std::string, std::string> options;  // of the plug-in
};

// Parts of a step. Communication is its exposed part: buffers that rank 0 sends before forward, and the time
// from the last ready gradient to the end of the backward pass.
enum class StepPhase { kInput, kForward, kBackward, kCommunication, kOptimizer, kEnd };

// Trainers call it when a part of a step begins; it reads the clock, so trainers need none. launched and
// finished may be called from threads of the communication library, at any time until kEnd.
class PACELINE_EXPORT StepRecorder {
 public:
  virtual ~StepRecorder() = default;
  virtual void enter(StepPhase phase) = 0;
  virtual void launched(int bucket, std::int64_t bytes) = 0;  // an all-reduce of gradients was enqueued
  virtual void finished(int bucket) = 0;
};

// One all-reduce of gradients; times from the start of the step, in ns.
struct BucketTimes {
  std::int64_t bytes = 0;
  std::int64_t launched_ns = 0;
  std::optional<std::int64_t> finished_ns;  // none: its end was not reported
};

// Where the time of a step went, in ns. Parts that repeat (micro-batches) are added up.
struct StepTimes {
  std::int64_t step_ns = 0;       // from the fetch of the batch to the end of the optimizer
  std::int64_t data_wait_ns = 0;  // until the batch was available
  std::array<std::int64_t, static_cast<std::size_t>(StepPhase::kEnd)> phase_ns{};  // by StepPhase
  std::vector<BucketTimes> buckets;                                                // by number
};

struct StepOutcome {
  double loss = 0;                   // mean over the rank's samples of this step
  std::int64_t correct = 0;          // correct first answers
  std::int64_t judged = 0;           // labels that count
  bool skipped = false;              // by the GradScaler: gradients were not finite
  std::optional<double> loss_scale;  // amp
  // On the clock of an asynchronous device; none: the recorder's clock has timed the work itself.
  std::optional<StepTimes> device_times;
};

// Report of a trainer after load and a few steps.
struct TrainerInfo {
  std::vector<std::pair<std::string, std::string>> versions;
  std::vector<std::pair<std::string, std::string>> settings;  // the effective settings
  std::int64_t parameters = 0;                                // elements
  std::int64_t parameter_tensors = 0;                         // one all-reduce each without buckets
  std::int64_t classes = 0;                // labels, or a language model's tokens, are below it; 0: not known
  std::vector<std::int64_t> bucket_bytes;  // actual ones, after they were rebuilt; empty without DDP
  std::optional<std::int64_t> peak_tensor_bytes;  // of the allocator, if it counts
};

// All calls of one name while the profiler ran: of an operator of the library, or of a scope.
struct ProfiledTime {
  std::string name;
  std::int64_t calls = 0;
  double total_ns = 0;  // inside it and what it called; of nested calls of one name only the outer
  // Inside it alone; none: it ran beside its thread, as a collective does. With a device: the device's time
  // for work that it launched itself; none: it launched nothing.
  std::optional<double> self_ns;
};

struct StepProfile {
  std::vector<ProfiledTime> scopes;      // of the caller, in order of first occurrence
  std::vector<ProfiledTime> operators;   // sorted by self time, the largest first
  std::string source;                    // what measured it, in words
  std::string no_trace;                  // why there is no trace; empty: it was written
  std::optional<double> device_busy_ns;  // how long the device was busy; none: the host did the work
};

// Profiles a trainer. Calls come one at a time; only the training thread and its helpers are profiled.
class PACELINE_EXPORT Profiler {
 public:
  virtual ~Profiler() = default;
  virtual void start() = 0;
  // Everything until its close belongs to this scope, which is also in the trace. Scopes nest. One that is
  // opened during a backward pass begins after the operators of that pass.
  virtual void open(const std::string& scope) = 0;
  virtual void close() = 0;
  // Stops profiling and writes a trace in Chrome's format (JSON), which Perfetto opens.
  virtual StepProfile stop(const std::string& trace_file) = 0;
};

// Trains one model, one optimizer step per call. The caller calls load, then step, save and restore in any
// order. Throws Error(kUnsupported) with the reason for what cannot be done here.
class PACELINE_EXPORT Trainer {
 public:
  virtual ~Trainer() = default;
  [[nodiscard]] virtual TrainerInfo info() const = 0;
  // `model.inputs` have the shapes of one micro-batch of one rank. `group` belongs to the same plug-in and
  // outlives the trainer; null: no group. All ranks get the weights of rank 0.
  virtual void load(const ModelSpec& model, const TrainSettings& settings, RankGroup* group) = 0;
  // Names, types and shapes of what step takes: the model's inputs, then the labels (classification: int64
  // [N]; language models: none, they are made from the inputs).
  [[nodiscard]] virtual std::vector<TensorSpec> batch_specs() const = 0;
  // The caller begins to fetch the batch of the next step.
  virtual void open_step() {}
  // One optimizer step over accumulation_steps micro-batches, `batches` one after the other in the order of
  // batch_specs. The caller may reuse the data when the call returns. Returns the outcome of this step, or on
  // an asynchronous device that of the previous step, so that the host never waits for the step it has just
  // enqueued. Outcomes come in the order of steps.
  virtual std::optional<StepOutcome> step(std::span<const TensorView> batches, double learning_rate,
                                          StepRecorder& recorder) = 0;
  // Waits for the step in flight and returns its outcome; none where step has returned them all.
  virtual std::optional<StepOutcome> finish() { return std::nullopt; }
  // Correct answers and loss on one micro-batch in evaluation mode: running statistics, no dropout, no step.
  virtual StepOutcome evaluate(std::span<const TensorView> batch) = 0;
  // A digest that is equal if parameters, and buffers that DDP keeps equal, are bit-identical.
  [[nodiscard]] virtual std::string fingerprint() const = 0;
  // Saves all that the next step depends on to one file: this rank's random state and, if `shared`, what all
  // ranks share: weights, buffers, optimizer, scaler. Throws Error(kIo); Error(kInternal), without writing,
  // if weights or optimizer have numbers that are not finite.
  virtual void save(const std::string& file, bool shared) = 0;
  // Continues from files of save. Throws Error(kData) for other files, another model or optimizer, and
  // numbers that are not finite.
  virtual void restore(const std::string& shared_file, const std::string& rank_file) = 0;
  // Creates a profiler; null: the trainer has none. Called after load, and after everything that is timed.
  [[nodiscard]] virtual std::unique_ptr<Profiler> profiler() { return nullptr; }
};

}  // namespace paceline::plugin
