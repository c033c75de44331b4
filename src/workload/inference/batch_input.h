// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "workload/inference/pass_parts.h"

namespace paceline::workload {

// Joins the inputs of up to max_requests requests to the input of one inference. A single request is handed
// over where it lies; several are copied side by side, as every server that forms batches must.
class BatchInput {
 public:
  // Request i brings batch i of `source`, modulo `batches`.
  BatchInput(Inputs& source, std::int64_t batches, std::int64_t max_requests);
  // The inputs of `requests` requests. `filled_up`: a whole batch, whose other rows stay as they were.
  std::span<const TensorView> gather(std::int64_t requests, bool filled_up);

 private:
  std::vector<std::vector<TensorView>> requests_;  // what each request brings
  std::vector<Tensor> together_;                   // empty: one request at a time
  std::vector<std::vector<TensorView>> views_;     // of `together_`, by the number of requests
};

}  // namespace paceline::workload
