// SPDX-License-Identifier: MIT
// Inputs that an engine has not seen yet: samples, then scaled copies of some.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "pass/pass.h"
#include "workload/inference/pass_parts.h"

namespace paceline::workload {

// One batch of inputs. Views stay valid as long as the object.
struct UnseenBatch {
  std::unique_ptr<Inputs> inputs;
  std::vector<Tensor> scaled;  // empty: the batch consists of samples
  std::vector<TensorView> views;
  std::optional<FirstSample> answered;  // the samples whose reference answers belong to this batch
};

// Batches of inputs that were not timed: first those that consist of samples, each of which begins at another
// one, then copies of the last whole batch, multiplied by 1 - k/128 each. The spec must live as long.
class UnseenInputs {
 public:
  explicit UnseenInputs(const pass::PassSpec& spec)
      : spec_(spec), of_samples_(spec.inference.samples - spec.batch) {}
  [[nodiscard]] std::int64_t of_samples() const { return of_samples_; }
  // Whether copies exist: every input that has a batch is float16, float32 or float64. Integers are never
  // changed, because they may be indices. Throws Error(kData) for files that cannot be read.
  [[nodiscard]] bool can_scale() const;
  [[nodiscard]] UnseenBatch batch(std::int64_t index) const;

 private:
  [[nodiscard]] bool has_batch(std::size_t input) const;
  const pass::PassSpec& spec_;
  std::int64_t of_samples_;
};

}  // namespace paceline::workload
