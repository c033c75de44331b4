// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"

// Reads one output of several batches as rows of float32.
namespace paceline::workload {

// How many elements are kept of one output over all samples: 128 MB.
inline constexpr std::int64_t kKeptElements = 1 << 25;

// A sample with more elements than this is never kept whole.
inline constexpr std::int64_t kThinAbove = 1 << 20;

// Scale of errors: how little changes alter an output of the reference, as mean squares of the differences by
// column (Columns). Empty: not tried, or nothing finite came of it.
struct Yardstick {
  std::vector<double> inputs{};   // moved by a unit in the last place
  std::vector<double> weights{};  // moved likewise
  std::vector<double> order{};    // sums in another order, or all of it in float64
  std::vector<double> layer{};    // one layer, or the inputs, rounded to bfloat16
  std::vector<double> at_once{};  // sums over neighbouring axes in one sequence
  std::string layer_name{};       // what was rounded; empty: nothing
  double subnormal_weights = -1;  // their share in the file; below 0: not known
  std::vector<bool> flips{};      // integers: elements that such a change makes another
};

// Rows are [samples, positions, length]. Large outputs (logits over long sequences) keep fewer positions,
// evenly spaced and ending with the last, the same on both sides: at most 16 (for maps, as many as fit) above
// 2^20 elements per sample, and fewer where all rows would take more than `room`. That depends on
// `samples_planned`, too: set both before the first append.
struct ComparedRows {
  std::int64_t samples = 0;
  std::int64_t positions = 1;  // per sample
  std::int64_t length = 0;     // of one row
  std::vector<float> values;
  bool finite = true;
  std::int64_t samples_planned = 0;
  std::int64_t all_positions = 1;  // before positions were left out
  std::optional<DType> dtype{};    // of the outputs that were appended
  std::string name{};
  Shape sample_shape{};  // of the output without the batch
  std::int64_t room = kKeptElements;
  std::optional<Yardstick> yardstick{};  // of a reference

  [[nodiscard]] std::span<const float> row(std::int64_t sample, std::int64_t position) const {
    return std::span(values).subspan(static_cast<std::size_t>((sample * positions + position) * length),
                                     static_cast<std::size_t>(length));
  }
  [[nodiscard]] std::span<const float> sample(std::int64_t index) const {
    const auto width = static_cast<std::size_t>(positions * length);
    return std::span(values).subspan(static_cast<std::size_t>(index) * width, width);
  }
};

// Appends an output of one batch as float32, whatever its type; `finite` looks at all of it. Throws
// Error(kData) when the shape does not start with `batch`, when shape or type differ from the batches before,
// and when the output is no contiguous memory of a known type.
void append_output(ComparedRows& rows, const TensorView& output, std::int64_t batch);
// Why the shape of an output does not allow that; empty: it does.
std::string shape_problem(const ComparedRows& rows, const TensorView& output, std::int64_t batch);
// The first output alone. Throws Error(kData) where there is none.
void append_rows(ComparedRows& rows, std::span<const TensorView> outputs, std::int64_t batch);

// The first element that is NaN or infinite; below 0: none is.
std::int64_t first_not_finite(const TensorView& output);

// Row-major without gaps; dimensions of one element may have any stride.
bool is_contiguous(const TensorView& view);

// The samples named, in that order.
ComparedRows select_samples(const ComparedRows& rows, std::span<const std::int64_t> samples);

Tensor to_tensor(const ComparedRows& rows);  // [samples, positions, length]
ComparedRows to_rows(const Tensor& tensor);

}  // namespace paceline::workload
