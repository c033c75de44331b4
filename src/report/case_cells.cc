// SPDX-License-Identifier: MIT
#include "report/case_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "analysis/case_query.h"
#include "base/text.h"
#include "base/units.h"
#include "report/answer_parts.h"
#include "result/figures/device_figures.h"
#include "result/judged/reference.h"
#include "result/metric_table.h"

namespace paceline::report {
namespace {

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
  const std::string text = format_fixed(half, decimals);
  return parse_double(text) == 0.0 ? format_significant(half, 1) : text;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kReasons{{
    {"insufficient_samples", "too few independent samples (368 are needed)"},
    {"batched", "batches were timed, not single iterations"},
    {"pipelined", "blocks of inferences were timed, not single ones"},
    {"not_measured", "not measured"},
    {"not_finite", "the result was not a finite number"},
}};

std::string reason_in_words(const std::string& reason) {
  for (const auto& [code, words] : kReasons)
    if (code == reason) return std::string(words);
  return reason;
}

// "Requests by the size of their batch: 1: 20 %, 4: 80 %", for the most frequent sizes.
std::string batch_shares(std::vector<result::BatchSize> sizes) {
  constexpr std::size_t kShown = 8;
  std::int64_t all = 0;
  for (const auto& row : sizes) all += row.requests;
  if (all == 0) return "No request was completed.";
  std::ranges::stable_sort(sizes, std::greater(), &result::BatchSize::requests);
  if (sizes.size() > kShown) sizes.resize(kShown);
  std::ranges::sort(sizes, {}, &result::BatchSize::size);
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
  const auto compared =
      std::ranges::count_if(c.outputs, [](const auto& output) { return !output.judged_by.empty(); });
  if (c.outputs.size() > 1)
    text += fmt::format(" {} of {} outputs compared, {} is nearest to its limit.", compared, c.outputs.size(),
                        c.worst_output);
  return text;
}

// "images" counted one by one.
std::string one_item(const CaseResult& one) {
  auto item = one.throughput.item.empty() ? "items" : one.throughput.item;
  if (item.ends_with('s')) item.pop_back();
  return item;
}

// Counters advance in steps, so that energy of a short window is rough.
std::string brief_words(const Number& window_s) {
  return result::is_brief(window_s) ? fmt::format(" (over {} s only)", format_significant(*window_s, 2)) : "";
}

}  // namespace

std::string or_none(const Number& number, std::string (*format)(double)) {
  return number ? format(*number) : kNone;
}
std::string percent_or_none(const Number& number) {
  return number ? format_percent(*number) : kNone;
}
std::string spaced(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

std::string significant_or_none(const Number& number) {
  return number ? format_significant(*number) : kNone;
}

bool is_offline(const CaseResult& one) {
  return traits_of(one.benchmark.scenario).all_at_start;
}

bool is_training(const CaseResult& one) {
  return analysis::is_ok(one) && one.training();
}

std::string accuracy_text(const CaseResult& one) {
  const auto& c = one.correctness;
  if (!c.checked || c.judged_by.empty()) return {};
  const auto remark = result::check_remark(one);
  const double tiny =
      std::max(c.subnormal_outputs.value().value_or(0), c.subnormal_weights.value().value_or(0));
  const std::string subnormal =
      tiny > 0
          ? fmt::format(" Subnormal, which engines may flush to 0: {} of its outputs, {} of its weights.",
                        percent_or_none(c.subnormal_outputs), percent_or_none(c.subnormal_weights))
          : "";
  const std::string doubt = remark ? fmt::format(" {}: {}.", remark.word(), remark.why) : "";
  const std::string claim =
      c.claim.verdict == answer::Verdict::kNotAsked
          ? ""
          : fmt::format(" Claim {}: {}.", join(split(c.claim.verdict.words(), '_'), " "), c.claim.detail);
  const bool partly = c.samples_given && c.samples < *c.samples_given;
  const std::string given =
      partly ? fmt::format(" of {} given, {} of which ran", *c.samples_given, *c.samples_run) : "";
  return fmt::format("Accuracy: judged by its {} ({}) over {} distinct inputs{} ({}), against {}.{}{}{}{}",
                     c.judged_by, c.judged_because, c.samples, given, c.inputs, c.reference, outputs_text(c),
                     doubt, subnormal, claim);
}

std::string batching_text(const CaseResult& one) {
  if (!one.load() || one.load()->max_batch <= 1) return {};
  const auto& load = *one.load();
  const std::string patience = load.batch_timeout_ns > 0
                                   ? fmt::format("whose first waits at most {} for the others",
                                                 format_duration_ns(load.batch_timeout_ns))
                                   : "which wait for no others";
  return fmt::format("Batches: up to {} requests, {}; {}. {}", load.max_batch, patience, load.batching,
                     batch_shares(load.batch_sizes));
}

// "54.1 ±0.9" or "54.1 (53.0–58.9)", all with the same number of decimals.
std::string around(const std::string& text, double value, double low, double high) {
  const int decimals = decimals_of(text);
  const double half = std::max(value - low, high - value);
  const bool beyond_zero = low >= 0 && value < half;  // times and rates have no negative end
  if (!beyond_zero && about_symmetric(value - low, value, high - value))
    return text + " ±" + half_width_text(half, decimals);
  return fmt::format("{} ({}–{})", text, format_fixed(low, decimals), format_fixed(high, decimals));
}

std::string with_interval(const result::Estimate& estimate, double scale) {
  if (!estimate.value) return {};
  const double value = *estimate.value * scale;
  const std::string text = format_significant(value);
  if (!estimate.ci_low || !estimate.ci_high) return text;
  return around(text, value, *estimate.ci_low * scale, *estimate.ci_high * scale);
}

std::string decides_text(const CaseResult& one) {
  const auto share = result::device_share(one);
  if (!share) return {};
  if (result::device_decides(one))
    return fmt::format("the device decides: {} of the wall time", format_percent(*share));
  if (const auto launch = result::launch_share(one); launch && *launch >= result::kHostDecides)
    return fmt::format("the host decides: starting an inference takes {} of the device time",
                       format_percent(*launch));
  if (const auto busy = result::kernel_share(one); busy && *busy < result::kDeviceDecides)
    return fmt::format("the host decides: a kernel ran in {} of the time", format_percent(*busy));
  return fmt::format("the host decides: device time is {} of the wall time", format_percent(*share));
}

std::string p50_reason(const CaseResult& one) {
  if (!one.back_to_back_ns.value) return {};
  return fmt::format("{} ms per inference back to back, which is no latency",
                     with_interval(one.back_to_back_ns, 1e-6));
}

std::string p99_reason(const CaseResult& one) {
  if (is_offline(one)) return "a submission as a whole has a throughput, no latency";
  if (one.back_to_back_ns.value) return {};  // p50 says it
  const auto p99 = result::find_metric("p99_ms")->get(one);
  return p99.value ? std::string() : reason_in_words(p99.reason);
}

std::string highest_quantile_text(const CaseResult& one) {
  if (!one.stats.highest_claimable_p) return {};
  return fmt::format("p{:g} is the highest quantile its samples can carry",
                     std::floor(*one.stats.highest_claimable_p * 1000) / 10);
}

std::string launcher_words(const std::string& launcher) {
  if (launcher == "by hand") return "by hand, one command per host";
  if (launcher == "environment") return "by hand, with RANK and WORLD_SIZE";
  return "by " + (launcher.empty() ? "paceline" : launcher);
}

std::string outcome_text(const CaseResult& one) {
  if (analysis::is_ok(one)) return {};
  if (one.reason_code == result::kNotMeasured) return "not measured: " + one.reason;
  const std::string code = one.reason_code.empty() ? "" : " (" + one.reason_code + ")";
  return (one.outcome == result::Outcome::kSkipped ? "skipped" : "failed") + code + ": " + one.reason;
}

std::string energy_text(const CaseResult& one, const Number& each, const Number& above_idle,
                        const Number& idle_w, const Number& window_s) {
  if (!each) return {};
  auto text = fmt::format("{} J per {}", format_significant(*each, 2), one_item(one));
  if (above_idle && idle_w)
    text +=
        fmt::format(", {} above {} W of idle", format_significant(*above_idle, 2), format_fixed(*idle_w, 0));
  return text + brief_words(window_s);
}

std::string energy_cell(const Number& each, const Number& window_s) {
  return each ? format_significant(*each) + brief_words(window_s) : kNone;
}

}  // namespace paceline::report
