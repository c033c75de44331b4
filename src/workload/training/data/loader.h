// SPDX-License-Identifier: MIT
// The data loader: batches of a rank, step by step.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "pass/train_spec.h"

namespace paceline::workload {

struct LoaderSetup {
  pass::DataSpec data;
  std::vector<TensorSpec> specs;   // Trainer::batch_specs(): one micro-batch of one rank
  std::int64_t micro_batches = 1;  // per step
  int rank = 0;
  int world = 1;
  std::int64_t classes = 0;     // number that the model tells apart; 0: not known
  std::int64_t vocabulary = 0;  // token ids are below it; 0: not known
};

// The position of training in its data, counted in samples of all ranks, so that it holds for another number
// of ranks or another batch size.
struct DataPosition {
  std::int64_t epoch = 0;
  std::int64_t samples = 0;  // used so far in this epoch
};

// The batches of one rank, in an order that depends on the seed, the epoch, rank and world alone, never on
// the number of workers. Workers are threads with the calling thread's CPU affinity; each makes one
// micro-batch at a time, all together at most workers * prefetch ahead. Only one thread may use it. Throws
// Error(kConfig, kData, kIo) naming source, file, what it holds and what is needed.
class Loader {
 public:
  explicit Loader(const LoaderSetup& setup);
  ~Loader();  // waits for the samples in work, not for whole batches
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // Waits for the data of the next step and returns its micro-batches one after the other, each in the order
  // of the specs, as Trainer::step takes them. Valid until the next call of next or seek. Throws the error of
  // a worker.
  std::span<const TensorView> next();

  // Makes the following next() return this step, counted from 0 over all epochs.
  void seek(std::int64_t step);
  // Continues with the last whole step before the position: data of an unfinished step are seen again.
  void seek(const DataPosition& position);

  [[nodiscard]] std::int64_t step() const;      // the one that the following next() returns
  [[nodiscard]] std::int64_t epoch() const;     // of that step
  [[nodiscard]] DataPosition position() const;  // before that step
  [[nodiscard]] std::int64_t steps_per_epoch() const;
  [[nodiscard]] std::int64_t samples_per_step() const;  // of this rank
  // Remark for users about the data; may be empty.
  [[nodiscard]] const std::string& remark() const;
  // How much there is, and what is left out; may be empty.
  [[nodiscard]] const std::string& contents() const;
  // Rate that the workers could deliver: workers * samples made / time spent making them. If they share CPUs
  // with the training, that time includes waiting for them. Missing before the first batch is made, and for
  // the one batch that never changes.
  [[nodiscard]] std::optional<double> deliverable_samples_per_s() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline::workload
