// SPDX-License-Identifier: MIT
#include "workload/inference/gate/accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/error.h"
#include "stats/proportion.h"

namespace paceline::workload {
namespace {

using result::Correctness;
using result::Estimate;
using Row = std::span<const float>;

constexpr double kConfidence = 0.95;
constexpr std::int64_t kTop = 5;

double largest_magnitude(const std::vector<float>& v) {
  double m = 0;
  for (float x : v) m = std::max(m, std::abs(static_cast<double>(x)));
  return m;
}

double max_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double m = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    m = std::max(m, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return m;
}

// Mean over samples of each element of a sample's output.
std::vector<double> batch_mean(const ComparedRows& rows) {
  const auto width = static_cast<std::size_t>(rows.positions * rows.length);
  std::vector<double> mean(width, 0.0);
  for (std::size_t i = 0; i < rows.values.size(); ++i) mean[i % width] += static_cast<double>(rows.values[i]);
  for (auto& m : mean) m /= static_cast<double>(rows.samples);
  return mean;
}

// Cosine of a - mean_a and b - mean_b; 1 for two zero vectors, 0 where only one is zero.
double cosine(Row a, Row b, std::span<const double> mean_a, std::span<const double> mean_b) {
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]) - mean_a[i], y = static_cast<double>(b[i]) - mean_b[i];
    ab += x * y, aa += x * x, bb += y * y;
  }
  if (aa == 0 && bb == 0) return 1;
  return aa == 0 || bb == 0 ? 0.0 : ab / std::sqrt(aa * bb);
}

double worst_cosine(const ComparedRows& a, const ComparedRows& b, std::span<const double> mean_a,
                    std::span<const double> mean_b) {
  double worst = 1;
  for (std::int64_t s = 0; s < a.samples; ++s)
    worst = std::min(worst, cosine(a.sample(s), b.sample(s), mean_a, mean_b));
  return worst;
}

Number plain_cosine(const ComparedRows& a, const ComparedRows& b) {
  const std::vector<double> zero(static_cast<std::size_t>(a.positions * a.length), 0.0);
  return worst_cosine(a, b, zero, zero);
}

Number centred_cosine(const ComparedRows& a, const ComparedRows& b) {
  if (a.samples < 2) return Number::missing("needs two samples");
  return worst_cosine(a, b, batch_mean(a), batch_mean(b));
}

std::int64_t answer_of(Row row) {
  return std::max_element(row.begin(), row.end()) - row.begin();
}

// True when fewer than five elements are larger.
bool among_the_top(Row row, std::int64_t answer) {
  const float value = row[static_cast<std::size_t>(answer)];
  return std::count_if(row.begin(), row.end(), [&](float other) { return other > value; }) < kTop;
}

double log_sum_exp(Row row) {
  const double largest = static_cast<double>(*std::max_element(row.begin(), row.end()));
  double sum = 0;
  for (float x : row) sum += std::exp(static_cast<double>(x) - largest);
  return largest + std::log(sum);
}

// KL(softmax(b) || softmax(a)); never below 0 but for rounding.
double divergence(Row a, Row b) {
  const double norm_a = log_sum_exp(a), norm_b = log_sum_exp(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double log_p = static_cast<double>(b[i]) - norm_b, log_q = static_cast<double>(a[i]) - norm_a;
    sum += std::exp(log_p) * (log_p - log_q);
  }
  return std::max(0.0, sum);
}

// Sums over the samples the share of each sample's rows for which `holds`.
template <typename Predicate>
double sum_of_shares(const ComparedRows& a, const ComparedRows& b, Predicate holds) {
  std::int64_t count = 0;
  for (std::int64_t s = 0; s < a.samples; ++s)
    for (std::int64_t p = 0; p < a.positions; ++p)
      if (holds(a.row(s, p), b.row(s, p))) ++count;
  return static_cast<double>(count) / static_cast<double>(a.positions);
}

// Samples, not rows, are the independent unit.
Estimate share(double sum, std::int64_t samples, const char* method) {
  const auto n = static_cast<double>(samples);
  const auto interval = stats::binomial_interval(sum, n, kConfidence);
  return {sum / n, interval.low, interval.high, kConfidence, method};
}

Estimate no_estimate(const std::string& why) {
  return {Number::missing(why), Number::missing(why), Number::missing(why), kConfidence, ""};
}

double mean_divergence(const ComparedRows& a, const ComparedRows& b) {
  double sum = 0;
  for (std::int64_t s = 0; s < a.samples; ++s)
    for (std::int64_t p = 0; p < a.positions; ++p) sum += divergence(a.row(s, p), b.row(s, p));
  return sum / static_cast<double>(a.samples * a.positions);
}

bool same_answer(Row a, Row b) {
  return answer_of(a) == answer_of(b);
}

void measure_answers(Correctness& c, const ComparedRows& a, const ComparedRows& b) {
  const double same = sum_of_shares(a, b, same_answer);
  c.kl_nats = mean_divergence(a, b);
  c.reference_answers = static_cast<std::int64_t>(answer_counts(b).size());
  if (c.answers == "tokens") {
    c.next_token = share(same, a.samples, "clopper_pearson_samples");
    c.top1 = c.top5 = no_estimate("the output contains tokens: see next_token");
    return;
  }
  c.top1 = share(same, a.samples, "clopper_pearson");
  c.next_token = no_estimate("the output contains classes: see top1");
  c.top5 = a.length > kTop
               ? share(sum_of_shares(a, b, [](Row x, Row y) { return among_the_top(x, answer_of(y)); }),
                       a.samples, "clopper_pearson")
               : no_estimate("needs more than five classes");
}

void no_answers(Correctness& c) {
  const std::string why = "the output contains no class scores (accuracy.answers says otherwise)";
  c.kl_nats = Number::missing(why);
  c.reference_answers = Count::missing(why);
  c.top1 = c.top5 = c.next_token = no_estimate(why);
}

void check_labels(const ComparedRows& rows, std::span<const std::int64_t> labels, const std::string& file) {
  if (rows.positions != 1)
    throw Error(ErrorCode::kData,
                fmt::format("labels '{}': the model's output is {}, not one row of class scores per input",
                            file, shape_text(rows)));
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] < 0 || labels[i] >= rows.length)
      throw Error(ErrorCode::kData,
                  fmt::format("labels '{}': label {} is {}, the model has {} classes (0 to {})", file, i + 1,
                              labels[i], rows.length, rows.length - 1));
}

std::vector<bool> right_answers(const ComparedRows& rows, std::span<const std::int64_t> labels) {
  std::vector<bool> right;
  for (std::int64_t s = 0; s < rows.samples; ++s)
    right.push_back(answer_of(rows.row(s, 0)) == labels[static_cast<std::size_t>(s)]);
  return right;
}

double count(const std::vector<bool>& right) {
  return static_cast<double>(std::count(right.begin(), right.end(), true));
}

}  // namespace

bool same_shape(const ComparedRows& a, const ComparedRows& b) {
  return a.samples == b.samples && a.positions == b.positions && a.length == b.length;
}

std::string shape_text(const ComparedRows& rows) {
  return fmt::format("[{}, {}, {}]", rows.samples, rows.positions, rows.length);
}

std::map<std::int64_t, std::int64_t> answer_counts(const ComparedRows& rows) {
  std::map<std::int64_t, std::int64_t> counts;
  for (std::int64_t s = 0; s < rows.samples; ++s)
    for (std::int64_t p = 0; p < rows.positions; ++p) ++counts[answer_of(rows.row(s, p))];
  return counts;
}

double most_frequent_answer(const ComparedRows& rows) {
  std::int64_t most = 0;
  for (const auto& [answer, n] : answer_counts(rows)) most = std::max(most, n);
  return static_cast<double>(most) / static_cast<double>(rows.samples * rows.positions);
}

double common_share(const ComparedRows& rows) {
  ComparedRows centred = rows;
  const auto length = static_cast<std::ptrdiff_t>(rows.length);
  for (auto row = centred.values.begin(); row != centred.values.end(); row += length) {
    const double mean = std::accumulate(row, row + length, 0.0) / static_cast<double>(length);
    std::transform(row, row + length, row,
                   [&](float v) { return static_cast<float>(static_cast<double>(v) - mean); });
  }
  double all = 0, common = 0;
  for (const float v : centred.values) all += static_cast<double>(v) * static_cast<double>(v);
  for (const double m : batch_mean(centred)) common += m * m;
  return all > 0 ? common * static_cast<double>(rows.samples) / all : 1;
}

void measure_agreement(Correctness& c, const ComparedRows& a, const ComparedRows& b,
                       const std::string& answers) {
  const double scale = largest_magnitude(b.values);
  c.max_abs_err = max_difference(a.values, b.values);
  c.max_rel_err = scale > 0 ? *c.max_abs_err / scale : *c.max_abs_err;
  c.cosine = plain_cosine(a, b);
  c.centred_cosine = centred_cosine(a, b);
  c.answers = answers;
  if (answers == "none")
    no_answers(c);
  else
    measure_answers(c, a, b);
  c.top1_agreement = answers == "tokens" ? c.next_token.value : c.top1.value;
}

result::LabelledAccuracy measure_labelled(const ComparedRows& outputs, const ComparedRows* reference,
                                          std::span<const std::int64_t> labels, const std::string& file) {
  check_labels(outputs, labels, file);
  result::LabelledAccuracy found;
  found.labels = file;
  const auto mine = right_answers(outputs, labels);
  found.top1 = share(count(mine), outputs.samples, "clopper_pearson");
  found.answers.right_base64 = result::stored_answers(mine);
  if (!reference) {
    found.reference_top1 = found.change = no_estimate("no reference");
    return found;
  }
  const auto theirs = right_answers(*reference, labels);
  stats::PairedCounts pairs{0, 0, static_cast<double>(outputs.samples)};
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (theirs[i] && !mine[i]) ++pairs.lost;
    if (!theirs[i] && mine[i]) ++pairs.gained;
  }
  const auto interval = stats::paired_change_interval(pairs, kConfidence);
  found.reference_top1 = share(count(theirs), outputs.samples, "clopper_pearson");
  found.change = {(pairs.gained - pairs.lost) / pairs.trials, interval.low, interval.high, kConfidence,
                  "tango_score"};
  found.lost = static_cast<std::int64_t>(pairs.lost);
  found.gained = static_cast<std::int64_t>(pairs.gained);
  return found;
}

}  // namespace paceline::workload
