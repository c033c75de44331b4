// SPDX-License-Identifier: MIT
#include "workload/inference/output_errors.h"

#include <algorithm>
#include <cmath>

namespace paceline::workload {
namespace {

using Values = std::span<const float>;

// Standard deviation of all elements, at least a thousandth of the largest: what is constant has a scale too.
double scale_of(Values values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0, largest = 0;
  for (const float v : values) sum += static_cast<double>(v);
  const double mean = sum / n;
  for (const float v : values) {
    const auto value = static_cast<double>(v);
    squares += (value - mean) * (value - mean);
    largest = std::max(largest, std::abs(value));
  }
  const double scale = std::max(std::sqrt(squares / n), 1e-3 * largest);
  return scale > 0 ? scale : 1;
}

// Nearest rank.
double error_quantile(Values a, Values b) {
  std::vector<float> errors(a.size());
  std::transform(a.begin(), a.end(), b.begin(), errors.begin(),
                 [](float x, float y) { return std::abs(x - y); });
  const auto rank = std::ceil(kErrorQuantile * static_cast<double>(errors.size()));
  const auto at = errors.begin() + static_cast<std::ptrdiff_t>(std::max(1.0, rank)) - 1;
  std::nth_element(errors.begin(), at, errors.end());
  return static_cast<double>(*at);
}

bool near_each_other(Values a, Values b, double distance) {
  for (std::size_t i = 0; i < kCoordinates; ++i)
    if (std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) > distance) return false;
  return true;
}

// Boxes of `a` that have one of `b`, of all samples.
double boxes_with_counterpart(const ComparedRows& a, const ComparedRows& b, double distance) {
  std::int64_t found = 0;
  for (std::int64_t s = 0; s < a.samples; ++s)
    for (std::int64_t p = 0; p < a.positions; ++p)
      for (std::int64_t q = 0; q < b.positions; ++q)
        if (near_each_other(a.row(s, p), b.row(s, q), distance)) {
          ++found;
          break;
        }
  return static_cast<double>(found) / static_cast<double>(a.samples * a.positions);
}

double largest_coordinate(const ComparedRows& rows) {
  double largest = 0;
  for (std::int64_t s = 0; s < rows.samples; ++s)
    for (std::int64_t p = 0; p < rows.positions; ++p)
      for (const float v : rows.row(s, p).first(kCoordinates))
        largest = std::max(largest, std::abs(static_cast<double>(v)));
  return largest;
}

}  // namespace

void measure_quantile_error(result::OutputAgreement& output, const ComparedRows& a, const ComparedRows& b,
                            double scale) {
  const double unit = scale > 0 ? scale : scale_of(b.values);
  double worst = 0;
  for (std::int64_t s = 0; s < a.samples; ++s)
    worst = std::max(worst, error_quantile(a.sample(s), b.sample(s)));
  output.scale = unit;
  output.quantile_err = error_quantile(a.values, b.values) / unit;
  output.quantile_err_worst = worst / unit;
}

double equal_share(const ComparedRows& a, const ComparedRows& b) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) equal += a.values[i] == b.values[i] ? 1U : 0U;
  return static_cast<double>(equal) / static_cast<double>(a.values.size());
}

double found_boxes(const ComparedRows& a, const ComparedRows& b) {
  const double distance = kBoxDistance * largest_coordinate(b);
  return std::min(boxes_with_counterpart(a, b, distance), boxes_with_counterpart(b, a, distance));
}

}  // namespace paceline::workload
