// SPDX-License-Identifier: MIT
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
  std::vector<Tensor> scaled;
  std::vector<TensorView> views;
  std::optional<FirstSample> answered;  // the samples whose reference answers belong to this batch
};

// Batches of inputs that were not timed, all different: first those that consist of samples, each of which
// begins at another one, then copies of the last whole batch whose floating-point values are scaled a little.
class UnseenInputs {
 public:
  explicit UnseenInputs(const pass::PassSpec& spec);
  // How many of the wanted batches there are. Integers are never changed, because they may be indices.
  [[nodiscard]] std::int64_t available(std::int64_t wanted) const;
  [[nodiscard]] std::int64_t of_samples() const { return of_samples_; }
  [[nodiscard]] UnseenBatch batch(std::int64_t index) const;

 private:
  const pass::PassSpec& spec_;
  std::int64_t of_samples_;
  bool can_scale_;
};

}  // namespace paceline::workload
