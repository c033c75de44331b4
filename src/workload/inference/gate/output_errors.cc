// SPDX-License-Identifier: MIT
#include "workload/inference/gate/output_errors.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <optional>
#include <vector>

namespace paceline::workload {
namespace {

using Values = std::span<const float>;

// Standard deviation of all elements, but at least a thousandth of the largest, for constants.
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

// The quantile of the errors by nearest rank.
double error_quantile(Values a, Values b) {
  std::vector<float> errors(a.size());
  std::transform(a.begin(), a.end(), b.begin(), errors.begin(),
                 [](float x, float y) { return std::abs(x - y); });
  const auto rank = std::ceil(kErrorQuantile * static_cast<double>(errors.size()));
  const auto at = errors.begin() + static_cast<std::ptrdiff_t>(std::max(1.0, rank)) - 1;
  std::nth_element(errors.begin(), at, errors.end());
  return static_cast<double>(*at);
}

// The value that fills more than half of the values (Boyer-Moore majority vote: it remains when unlike pairs
// cancel each other out).
std::optional<float> filling_value(Values values) {
  float candidate = 0;
  std::size_t lead = 0;
  for (const float v : values) {
    if (lead == 0) candidate = v;
    lead = v == candidate ? lead + 1 : lead - 1;
  }
  const auto count = std::count(values.begin(), values.end(), candidate);
  return 2 * static_cast<std::size_t>(count) > values.size() ? std::optional(candidate) : std::nullopt;
}

bool near_each_other(Values a, Values b, double distance) {
  for (std::size_t i = 0; i < kCoordinates; ++i)
    if (std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) > distance) return false;
  return true;
}

double largest_coordinate(const ComparedRows& rows) {
  double largest = 0;
  for (std::int64_t s = 0; s < rows.samples; ++s)
    for (std::int64_t p = 0; p < rows.positions; ++p)
      for (const float v : rows.row(s, p).first(kCoordinates))
        largest = std::max(largest, std::abs(static_cast<double>(v)));
  return largest;
}

// The box that fills more than half of the rows; empty: no box does.
std::vector<float> padding_of(const ComparedRows& rows) {
  std::vector<float> box;
  for (std::size_t column = 0; column < kCoordinates; ++column) {
    std::vector<float> values;
    for (std::size_t i = column; i < rows.values.size(); i += static_cast<std::size_t>(rows.length))
      values.push_back(rows.values[i]);
    const auto value = filling_value(values);
    if (!value) return {};
    box.push_back(*value);
  }
  return box;
}

// How far two boxes may differ and still be the same, column by column.
struct BoxLimits {
  double distance = 0;
  std::vector<double> columns;  // behind the coordinates
  std::vector<float> padding;
};

bool is_whole(float value) {
  return value == std::round(value);
}

BoxLimits box_limits(const ComparedRows& rows, double max_rel_err) {
  constexpr double kEqual = 0.5;  // for whole numbers
  const auto length = static_cast<std::size_t>(rows.length);
  BoxLimits limits{kBoxDistance * largest_coordinate(rows), {}, padding_of(rows)};
  std::vector<bool> whole(length, true);
  double largest = 0;
  for (std::size_t i = 0; i < rows.values.size(); ++i)
    whole[i % length] = whole[i % length] && is_whole(rows.values[i]);
  for (std::size_t i = 0; i < rows.values.size(); ++i)
    if (i % length >= kCoordinates && !whole[i % length])
      largest = std::max(largest, std::abs(static_cast<double>(rows.values[i])));
  for (std::size_t column = kCoordinates; column < length; ++column)
    limits.columns.push_back(whole[column] ? kEqual : max_rel_err * largest);
  return limits;
}

bool is_padding(Values row, const BoxLimits& limits) {
  return !limits.padding.empty() && near_each_other(row, limits.padding, limits.distance);
}

bool same_box(Values a, Values b, const BoxLimits& limits) {
  if (!near_each_other(a, b, limits.distance)) return false;
  for (std::size_t i = 0; i < limits.columns.size(); ++i) {
    const double x = static_cast<double>(a[kCoordinates + i]), y = static_cast<double>(b[kCoordinates + i]);
    if (std::abs(x - y) > limits.columns[i]) return false;
  }
  return true;
}

bool has_counterpart(Values box, const ComparedRows& others, std::int64_t sample, const BoxLimits& limits) {
  for (std::int64_t p = 0; p < others.positions; ++p)
    if (same_box(box, others.row(sample, p), limits)) return true;
  return false;
}

// How many boxes of `a` have a counterpart in `b`, over all samples.
double boxes_with_counterpart(const ComparedRows& a, const ComparedRows& b, const BoxLimits& limits) {
  std::int64_t found = 0, looked_at = 0;
  for (std::int64_t s = 0; s < a.samples; ++s)
    for (std::int64_t p = 0; p < a.positions; ++p) {
      if (is_padding(a.row(s, p), limits)) continue;
      ++looked_at;
      found += has_counterpart(a.row(s, p), b, s, limits) ? 1 : 0;
    }
  return looked_at == 0 ? 1 : static_cast<double>(found) / static_cast<double>(looked_at);
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

double difference(float a, float b) {
  if (std::abs(a) < FLT_MIN && std::abs(b) < FLT_MIN) return 0;
  return static_cast<double>(a) - static_cast<double>(b);
}

double rms_difference(const ComparedRows& a, const ComparedRows& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const double d = difference(a.values[i], b.values[i]);
    sum += d * d;
  }
  return std::sqrt(sum / std::max<double>(1, static_cast<double>(a.values.size())));
}

std::vector<double> mean_sample(const ComparedRows& rows) {
  const auto width = static_cast<std::size_t>(rows.positions * rows.length);
  std::vector<double> mean(width, 0.0);
  if (rows.samples > 1)
    for (std::size_t i = 0; i < rows.values.size(); ++i)
      mean[i % width] += static_cast<double>(rows.values[i]) / static_cast<double>(rows.samples);
  return mean;
}

double rms_of_what_depends(const ComparedRows& rows) {
  const auto mean = mean_sample(rows);
  double sum = 0;
  for (std::size_t i = 0; i < rows.values.size(); ++i) {
    const double d = static_cast<double>(rows.values[i]) - mean[i % mean.size()];
    sum += d * d;
  }
  return std::sqrt(sum / std::max<double>(1, static_cast<double>(rows.values.size())));
}

double eight_bit_step(const ComparedRows& rows) {
  if (rows.values.empty()) return 0;
  const auto [least, most] = std::ranges::minmax_element(rows.values);
  return (static_cast<double>(*most) - static_cast<double>(*least)) / 255;
}

double equal_share(const ComparedRows& a, const ComparedRows& b) {
  const bool one_value = b.positions * b.length == 1;
  const auto filling = one_value ? std::nullopt : filling_value(b.values);
  std::size_t equal = 0, looked_at = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (filling && a.values[i] == *filling && b.values[i] == *filling) continue;
    ++looked_at;
    equal += a.values[i] == b.values[i] ? 1U : 0U;
  }
  return looked_at == 0 ? 1 : static_cast<double>(equal) / static_cast<double>(looked_at);
}

double found_boxes(const ComparedRows& a, const ComparedRows& b, double max_rel_err) {
  const BoxLimits limits = box_limits(b, max_rel_err);
  return std::min(boxes_with_counterpart(a, b, limits), boxes_with_counterpart(b, a, limits));
}

}  // namespace paceline::workload
