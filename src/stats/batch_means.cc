// SPDX-License-Identifier: MIT
#include "stats/batch_means.h"

#include <cmath>
#include <vector>

#include "stats/autocorrelation.h"
#include "stats/spread.h"
#include "stats/student_t.h"

namespace paceline::stats {
namespace {

constexpr int kBatches = 20;
constexpr int kFewestBatches = 10;
constexpr double kLargestLag1 = 0.3;

std::vector<double> contiguous_means(std::span<const double> x, int batches) {
  std::vector<double> means;
  const auto count = static_cast<std::size_t>(batches);
  for (std::size_t i = 0; i < count; ++i) {
    const auto begin = i * x.size() / count;
    means.push_back(mean(x.subspan(begin, (i + 1) * x.size() / count - begin)));
  }
  return means;
}

}  // namespace

MeanEstimate mean_interval(std::span<const double> x, double confidence) {
  MeanEstimate estimate;
  estimate.value = mean(x);
  estimate.confidence = confidence;
  if (x.size() < kBatches) {
    estimate.reason = kInsufficientSamples;
    return estimate;
  }
  auto means = contiguous_means(x, kBatches);
  if (lag1_autocorrelation(means) > kLargestLag1) means = contiguous_means(x, kFewestBatches);
  estimate.batches = static_cast<int>(means.size());
  const double half =
      student_t(estimate.batches - 1, confidence) * *stddev(means) / std::sqrt(estimate.batches);
  estimate.ci = Interval{estimate.value - half, estimate.value + half};
  return estimate;
}

RateEstimate throughput_interval(std::span<const double> periods_ns, double items_per_period,
                                 double confidence) {
  const auto period = mean_interval(periods_ns, confidence);
  const double scale = items_per_period * 1e9;
  RateEstimate rate;
  rate.per_s = scale / period.value;
  rate.confidence = confidence;
  rate.batches = period.batches;
  rate.reason = period.reason;
  if (!period.ci) return rate;
  if (period.ci->low > 0) {
    rate.ci = Interval{scale / period.ci->high, scale / period.ci->low};
  } else {
    rate.reason = "the interval of the time per item reaches zero";
  }
  return rate;
}

}  // namespace paceline::stats
