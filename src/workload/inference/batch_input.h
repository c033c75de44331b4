// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "workload/inference/pass_parts.h"

namespace paceline::workload {

// The inputs of up to max_requests requests as the input of one inference. A single request is handed over
// where it lies; several are copied side by side, as every server that forms batches must.
class BatchInput {
 public:
  // Request i brings batch i of `source`, from the first again after `batches` of them.
  BatchInput(Inputs& source, std::int64_t batches, std::int64_t max_requests);
  // The inputs of so many requests. Filled up: a whole batch, whose other rows are what lay there before.
  std::span<const TensorView> gather(std::int64_t requests, bool filled_up);

 private:
  std::vector<std::vector<TensorView>> requests_;  // what each request brings
  std::vector<Tensor> together_;                   // none: one request at a time
  std::vector<std::vector<TensorView>> views_;     // of `together_`, by the number of requests
};

}  // namespace paceline::workload
