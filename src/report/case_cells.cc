// SPDX-License-Identifier: MIT
#include "report/case_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analysis/case_query.h"
#include "base/text.h"
#include "base/units.h"
#include "report/section.h"
#include "result/metric_table.h"
#include "result/noise_rules.h"

namespace paceline::report {
namespace {

using result::CaseResult;
using result::RunResult;

int decimals_of(const std::string& number) {
  const auto dot = number.find('.');
  return dot == std::string::npos ? 0 : static_cast<int>(number.size() - dot - 1);
}

// One number for both sides is fair where they differ by at most a third, or by less than 1 % of the value.
bool about_symmetric(double below, double value, double above) {
  constexpr double kAlike = 2.0 / 3, kTooLittleToSee = 0.01;
  const double narrow = std::min(below, above), wide = std::max(below, above);
  return narrow >= kAlike * wide || wide - narrow < kTooLittleToSee * value;
}

std::string half_width_text(double half, int decimals) {
  const std::string text = fmt::format("{:.{}f}", half, decimals);
  return std::stod(text) == 0 ? format_significant(half, 1) : text;
}

// "54.1 ±0.9" or "54.1 (53.0–58.9)", all with the same number of decimals.
std::string around(const std::string& text, double value, double low, double high) {
  const int decimals = decimals_of(text);
  if (about_symmetric(value - low, value, high - value))
    return text + " ±" + half_width_text(std::max(value - low, high - value), decimals);
  return fmt::format("{} ({:.{}f}–{:.{}f})", text, low, decimals, high, decimals);
}

// Ratios in a column have two decimals. One that its interval does not decide is shown as that interval.
std::string ratio_text(const result::SpeedUp& s) {
  const auto& ratio = s.ratio;
  if (s.verdict == "inconclusive") return fmt::format("{:.2f}–{:.2f}", *ratio.ci_low, *ratio.ci_high);
  return around(fmt::format("{:.2f}", *ratio.value), *ratio.value, *ratio.ci_low, *ratio.ci_high);
}

bool is_base(const RunResult& run, const CaseResult& one) {
  const auto& baseline = one.speedup.baseline_case_id;
  return analysis::is_baseline(run, one) && (baseline.empty() || baseline == one.case_id);
}

void fill_speedup(const RunResult& run, const CaseResult& one, CaseCells& cells) {
  if (is_base(run, one)) {
    cells.speedup = "1.00 (base)";
    return;
  }
  cells.no_claim = analysis::no_claim_reason(one);
  if (cells.no_claim.empty() && !one.speedup.baseline_case_id.empty())
    cells.speedup = ratio_text(one.speedup);
}

bool is_offline(const CaseResult& one) {
  return one.benchmark.scenario == "offline";
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kReasons{{
    {"insufficient_samples", "too few independent samples (368 are needed)"},
    {"batched", "batches were timed, not single iterations"},
    {"not_measured", "not measured"},
    {"not_finite", "the result was not a finite number"},
}};

std::string reason_in_words(const std::string& reason) {
  for (const auto& [code, words] : kReasons)
    if (code == reason) return std::string(words);
  return reason;
}

bool judged_by_answers(const CaseResult& one) {
  return one.correctness.judged_by == "answers" && one.correctness.top1_agreement;
}

// "Requests by the size of their batch: 1: 20 %, 4: 80 %", for the most frequent sizes.
std::string batch_shares(std::vector<result::BatchSize> sizes) {
  constexpr std::size_t kShown = 8;
  std::int64_t all = 0;
  for (const auto& row : sizes) all += row.requests;
  if (all == 0) return "No request was completed.";
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const auto& a, const auto& b) { return a.requests > b.requests; });
  if (sizes.size() > kShown) sizes.resize(kShown);
  std::sort(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.size < b.size; });
  std::vector<std::string> shares;
  for (const auto& row : sizes)
    shares.push_back(fmt::format(
        "{}: {}", row.size, format_percent(static_cast<double>(row.requests) / static_cast<double>(all))));
  return fmt::format("Requests by the size of their batch: {}.", join(shares, ", "));
}

// " output 'mask' (dense): 0.98 quantile of its errors 0.02, largest 0.9." for maps; of several outputs, the
// one nearest to its limit.
std::string outputs_text(const result::Correctness& c) {
  std::string text;
  for (const auto& output : c.outputs)
    if (output.quantile_err && output.max_rel_err)
      text += fmt::format(
          " Output '{}' ({}): 0.98 quantile of its errors {} standard deviations, largest error {}.",
          output.name, output.kind, format_significant(*output.quantile_err),
          format_significant(*output.max_rel_err));
  const auto compared = std::count_if(c.outputs.begin(), c.outputs.end(),
                                      [](const auto& output) { return !output.judged_by.empty(); });
  if (c.outputs.size() > 1)
    text += fmt::format(" {} of {} outputs compared, {} is nearest to its limit.", compared, c.outputs.size(),
                        c.worst_output);
  return text;
}

}  // namespace

std::string or_none(const result::Number& number, std::string (*format)(double)) {
  return number ? format(*number) : kNone;
}
std::string percent_or_none(const result::Number& number) {
  return number ? format_percent(*number) : kNone;
}
std::string significant_or_none(const result::Number& number) {
  return number ? format_significant(*number) : kNone;
}

bool is_training(const CaseResult& one) {
  return analysis::is_ok(one) && !one.training.empty();
}

bool shows_kept(std::span<const ReportRun> runs) {
  for (const ReportRun& run : runs)
    for (const CaseResult& one : run.result.cases)
      if (analysis::is_ok(one) && judged_by_answers(one)) return true;
  return false;
}

std::string accuracy_text(const CaseResult& one) {
  const auto& c = one.correctness;
  if (!c.checked || c.judged_by.empty()) return {};
  const std::string claim =
      c.claim.verdict.empty()
          ? ""
          : fmt::format(" Claim {}: {}.", join(split(c.claim.verdict, '_'), " "), c.claim.detail);
  return fmt::format("Accuracy: judged by its {} ({}) over {} distinct inputs ({}), against {}.{}{}",
                     c.judged_by, c.judged_because, c.samples, c.inputs, c.reference, outputs_text(c), claim);
}

std::string batching_text(const CaseResult& one) {
  if (one.load.empty() || one.load.front().max_batch <= 1) return {};
  const auto& load = one.load.front();
  const std::string patience = load.batch_timeout_ns > 0
                                   ? fmt::format("whose first waits at most {} for the others",
                                                 format_duration_ns(load.batch_timeout_ns))
                                   : "which wait for no others";
  return fmt::format("Batches: up to {} requests, {}; {}. {}", load.max_batch, patience, load.batching,
                     batch_shares(load.batch_sizes));
}

std::string grade_text(const CaseResult& one, std::size_t shown) {
  std::string letter(1, result::grade_letter(one.grade));
  const auto& reasons = one.grade_reasons;
  if (reasons.empty()) return letter;
  if (reasons.size() <= shown) return letter + "  " + join(reasons, ", ");
  const std::vector<std::string> first(reasons.begin(), reasons.begin() + static_cast<std::ptrdiff_t>(shown));
  return fmt::format("{}  {}, and {} more", letter, join(first, ", "), reasons.size() - shown);
}

std::string with_interval(const result::Estimate& estimate, double scale) {
  if (!estimate.value) return {};
  const double value = *estimate.value * scale;
  const std::string text = format_significant(value);
  if (!estimate.ci_low || !estimate.ci_high) return text;
  return around(text, value, *estimate.ci_low * scale, *estimate.ci_high * scale);
}

CaseCells cells_of(const RunResult& run, const CaseResult& one) {
  CaseCells cells;
  if (!analysis::is_ok(one)) return cells;
  if (!is_offline(one)) cells.p50_ms = with_interval(one.headline.p50_ns, 1e-6);
  if (const auto p99 = result::find_metric("p99_ms")->get(one).value; p99 && !is_offline(one))
    cells.p99_ms = format_significant(*p99);
  if (one.throughput.per_s.value) cells.throughput = format_rate(*one.throughput.per_s.value);
  fill_speedup(run, one, cells);
  const auto& memory = one.memory.rss_peak_above_load_bytes;
  if (memory) cells.memory = format_bytes(static_cast<double>(*memory));
  if (judged_by_answers(one)) cells.kept = format_percent(*one.correctness.top1_agreement);
  if (const auto& share = one.flops.share_of_measured_peak) cells.of_peak = format_percent(*share, 0);
  if (one.noise.foreign_cpu_frac) cells.foreign = format_percent(*one.noise.foreign_cpu_frac);
  cells.grade = grade_text(one, one.grade_reasons.size());
  return cells;
}

std::string p99_reason(const CaseResult& one) {
  if (is_offline(one)) return "a submission as a whole has a throughput, no latency";
  const auto p99 = result::find_metric("p99_ms")->get(one);
  return p99.value ? std::string() : reason_in_words(p99.reason);
}

std::string highest_quantile_text(const CaseResult& one) {
  if (!one.stats.highest_claimable_p) return {};
  return fmt::format("p{:g} is the highest quantile its samples can carry",
                     std::floor(*one.stats.highest_claimable_p * 1000) / 10);
}

std::string outcome_text(const CaseResult& one) {
  if (analysis::is_ok(one)) return {};
  if (one.reason_code == result::kNotMeasured) return "not measured: " + one.reason;
  const std::string code = one.reason_code.empty() ? "" : " (" + one.reason_code + ")";
  return (one.outcome == result::Outcome::kSkipped ? "skipped" : "failed") + code + ": " + one.reason;
}

std::string throughput_head(const RunResult& run) {
  std::string item;
  for (const CaseResult& one : run.cases) {
    if (!analysis::is_ok(one)) continue;
    if (!item.empty() && item != one.throughput.item) return "items/s";
    item = one.throughput.item;
  }
  return (item.empty() ? "items" : item) + "/s";
}

}  // namespace paceline::report
