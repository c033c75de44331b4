// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "workload/training/train_spec.h"

namespace paceline::workload {

struct LoaderSetup {
  DataSpec data;
  std::vector<TensorSpec> specs;   // Trainer::batch_specs(): one micro-batch of one rank
  std::int64_t micro_batches = 1;  // a step
  int rank = 0;
  int world = 1;
  std::int64_t classes = 0;     // that the model tells apart; 0: not known
  std::int64_t vocabulary = 0;  // token ids are below it; 0: not known
};

// Where training stands in its data. Counted in samples of all ranks, so that it means the same for another
// number of ranks or another batch size.
struct DataPosition {
  std::int64_t epoch = 0;
  std::int64_t samples = 0;  // of this epoch, already used
};

// The batches of one rank in an order that depends on the seed, the epoch, rank and world alone, never on the
// number of workers. Workers are threads of the calling thread's CPU affinity; each makes a micro-batch at a
// time, all together at most workers * prefetch ahead.
// One thread uses it. Throws Error(kConfig, kData, kIo): source, file, what it holds and what is needed.
class Loader {
 public:
  explicit Loader(const LoaderSetup& setup);
  ~Loader();  // waits for the samples in work, not for batches
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // Waits for the next step's data: its micro-batches one after the other, each in the order of the specs, as
  // Trainer::step takes them. Valid until the next call of next or seek. Throws what a worker failed with.
  std::span<const TensorView> next();

  // The following next() brings this step, counted from 0 on over all epochs.
  void seek(std::int64_t step);
  // The last whole step before it: data of an unfinished one are seen again.
  void seek(const DataPosition& position);

  [[nodiscard]] std::int64_t step() const;      // that the following next() brings
  [[nodiscard]] std::int64_t epoch() const;     // of that step
  [[nodiscard]] DataPosition position() const;  // before that step
  [[nodiscard]] std::int64_t steps_per_epoch() const;
  [[nodiscard]] std::int64_t samples_per_step() const;  // of this rank
  // What a person should know of the data, in words; empty: nothing.
  [[nodiscard]] const std::string& remark() const;
  // What the workers could have delivered: workers * samples made / time spent making them. Where they share
  // their CPUs with the training, the time holds that too. Missing before the first batch is made, and for
  // the one batch that is always the same.
  [[nodiscard]] std::optional<double> deliverable_samples_per_s() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace paceline::workload
