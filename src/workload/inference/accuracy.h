// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/tensor.h"
#include "result/case_result.h"
#include "workload/pass.h"

// Output checks: no correctness, no number. Formulas and readings: docs/metrics.md, "Accuracy".
namespace paceline::workload {

// Rows that are compared: [samples, row length] in float32. Long sequences of logits are thinned to at most
// 16 evenly spaced positions a sample, on both sides alike, so that a reference stays small.
struct ComparedRows {
  std::int64_t samples = 0;
  std::int64_t positions = 1;  // per sample
  std::int64_t length = 0;     // of one row
  std::vector<float> values;
  bool finite = true;
};

// Appends the first output of one batch; float16/bfloat16/float64 are converted. Throws Error(kData) for
// other types or when the shape does not start with `batch`.
void append_rows(ComparedRows& rows, std::span<const TensorView> outputs, std::int64_t batch);

// max|a-b| / max|b|, top-1 agreement, worst centred cosine (batch-mean output removed from both sides; absent
// for fewer than two samples), and whether they are within tolerance.
result::Correctness compare_outputs(const ComparedRows& outputs, const ComparedRows& reference,
                                    const Tolerance& tolerance);

Tensor to_tensor(const ComparedRows& rows);  // [samples, positions, length]
ComparedRows to_rows(const Tensor& tensor);

}  // namespace paceline::workload
