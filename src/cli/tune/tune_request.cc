// SPDX-License-Identifier: MIT
#include "cli/tune/tune_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/case_query.h"
#include "analysis/metric_value.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/duration.h"
#include "cli/own_words.h"
#include "config/flags.h"
#include "config/inference/slo.h"
#include "config/option_table.h"

namespace paceline::cli {
namespace {

using answer::Verdict;

constexpr std::array<std::string_view, 11> kOfTune{"objective", "tune_slo", "min_accuracy",  "budget",
                                                   "axes",      "output",   "answer_format", "json",
                                                   "quiet",     "verbose",  "no_color"};
// Quantiles of latency that have a metric with an interval.
constexpr std::array<std::pair<int, std::string_view>, 4> kQuantileMetrics{
    {{50, "p50_ms"}, {90, "p90_ms"}, {95, "p95_ms"}, {99, "p99_ms"}}};

// Values of a kind where nothing is typed; a look of training takes longer.
struct KindDefaults {
  WorkloadKind kind;
  std::string_view objective, budget;
};
constexpr std::array kKindDefaults{KindDefaults{WorkloadKind::kInference, "latency", "3m"},
                                   KindDefaults{WorkloadKind::kTraining, "throughput", "15m"}};

const KindDefaults& defaults_of(WorkloadKind kind) {
  const auto* row = std::ranges::find(kKindDefaults, kind, &KindDefaults::kind);
  if (row == kKindDefaults.end())
    throw Error(ErrorCode::kUsage, fmt::format("tune {0}: a search is about infer or train; compare cases of "
                                               "{0} with paceline compare {0}",
                                               traits_of(kind).command.name));
  return *row;
}

// Takes the command off the front whose cases are the arms; without one they are those of infer.
void take_kind(TuneRequest& request, std::vector<std::string>& words) {
  const auto* row = std::ranges::find_if(kWorkloadKinds, [&](const KindTraits& kind) {
    return !words.empty() && kind.command.name == words.front();
  });
  if (row == kWorkloadKinds.end()) return;
  request.kind = row->kind;
  request.names_kind = true;
  words.erase(words.begin());
}

// A search trains for a few steps, which no claim about a trained model follows from.
void refuse_accuracy(const TuneRequest& request, const config::Settings& options) {
  if (traits_of(request.kind).checks_outputs || !options.has("min_accuracy")) return;
  throw Error(ErrorCode::kUsage,
              fmt::format("--min-accuracy {}: the few steps of a search say nothing about a trained model; "
                          "leave it out, and train with its result",
                          shown_value(options.texts("min_accuracy").front())));
}

std::string text_or(const config::Settings& options, std::string_view name, std::string_view fallback) {
  return options.has(name) ? options.text(name) : std::string(fallback);
}

std::string metric_of(double p, const std::string& flag, const std::string& text) {
  for (const auto& [percent, metric] : kQuantileMetrics)
    if (std::abs(percent - 100 * p) < 1e-7) return std::string(metric);
  throw Error(ErrorCode::kUsage, fmt::format("{} {}: a limit is on p50, p90, p95 or p99", flag, text));
}

// "top1>=-0.5%" as a share; none for other text.
std::optional<double> top1_change(const std::string& text) {
  const auto sign = text.find(">=");
  if (sign == std::string::npos || trim(text.substr(0, sign)) != "top1") return std::nullopt;
  auto number = trim(std::string_view(text).substr(sign + 2));
  const bool percent = number.ends_with('%');
  if (percent) number = trim(number.substr(0, number.size() - 1));
  const auto value = parse_double(number);
  const double change = value.value_or(1) / (percent ? -100 : -1);
  if (change <= 0 || change >= 1)
    throw Error(ErrorCode::kUsage,
                fmt::format("--min-accuracy {}: write the largest loss of top-1 accuracy as a negative share "
                            "or percentage, e.g. 'top1>=-0.5%', or a gate such as 'top1_agreement >= 0.99'",
                            shown_value(text)));
  return change;
}

void add_limits(TuneRequest& request, const config::Settings& options) {
  for (const auto& text : options.texts("tune_slo")) request.limits.push_back(parse_limit("--slo", text));
  for (const auto& text : options.texts("min_accuracy")) {
    if (const auto change = top1_change(text)) {
      request.most_top1_change = std::min(request.most_top1_change.value_or(1), *change);
      request.limits.push_back({text, std::nullopt, true});
    } else {
      request.limits.push_back(parse_limit("--min-accuracy", text));
    }
  }
}

Number excess_over(const analysis::Gate& gate, double value) {
  const bool at_most = gate.op.front() == '<';
  const double over = at_most ? value - gate.bound : gate.bound - value;
  return gate.bound > 0 ? over / gate.bound : over;
}

tune::Constraint on_gate(const Limit& limit, const result::CaseResult& one) {
  const auto decided = analysis::decide_gate(*limit.gate, one);
  const auto value = analysis::metric_value(*result::find_metric(limit.gate->metric), one);
  tune::Constraint constraint{limit.written, decided.verdict.value, Number::missing(value.reason),
                              decided.detail, limit.is_exact};
  if (!value.value) return constraint;
  constraint.excess = excess_over(*limit.gate, *value.value);
  constraint.value = metric_words(limit.gate->metric, one);
  const auto range = metric_range(limit.gate->metric, one);
  if (!range.empty()) constraint.value += fmt::format(" ({})", range);
  return constraint;
}

tune::Constraint on_claim(const Limit& limit, const result::CaseResult& one) {
  const auto& claim = one.correctness.claim;
  tune::Constraint constraint{limit.written, claim.verdict.value, Number::missing(claim.detail), claim.detail,
                              true};
  if (constraint.verdict == Verdict::kNotAsked) {
    constraint.verdict = Verdict::kCannotSay;
    constraint.value = "its answers were not compared";
  }
  if (claim.bound && claim.limit) constraint.excess = *claim.bound - *claim.limit;
  return constraint;
}

}  // namespace

Limit parse_limit(const std::string& flag, const std::string& text) {
  auto plain = text;
  std::erase(plain, ' ');
  const auto sign = plain.find("<=");
  const bool is_quantile = plain.size() > 1 && plain.front() == 'p' && plain.find('_') == std::string::npos;
  try {
    if (!is_quantile) {
      const auto gate = analysis::parse_gate(text);
      return {text, gate, result::find_metric(gate.metric)->topic.of_check};
    }
    if (sign != std::string::npos) plain.erase(sign, 1);
    const auto slo = config::parse_slo(plain);
    const auto metric = metric_of(slo.p, flag, text);
    return {text, analysis::Gate{text, metric, {}, "<=", slo.bound_s * 1e3}};
  } catch (const Error& error) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{} {}: {}; write e.g. 'p99<=20ms'", flag, shown_value(text), error.what()));
  }
}

TuneRequest tune_request(const std::vector<std::string>& arguments) {
  TuneRequest request;
  auto words = arguments;
  take_kind(request, words);
  const auto& defaults = defaults_of(request.kind);
  auto split = split_own_words(words, config::kTune, kOfTune);
  request.own = config::parse_flags(split.own, config::kTune);
  request.words = std::move(split.others);
  const auto options = config::command_settings(request.own);
  refuse_accuracy(request, options);
  request.objective = &find_objective(request.kind, text_or(options, "objective", defaults.objective));
  request.budget_s = seconds_of("--budget", text_or(options, "budget", defaults.budget));
  request.axes = options.texts("axes");
  add_limits(request, options);
  return request;
}

std::int64_t samples_for_percentiles(const TuneRequest& request) {
  std::int64_t most = 0;
  const auto add = [&](std::string_view name) {
    for (const auto& [percent, metric] : kQuantileMetrics)
      if (name == metric && percent > 50) most = std::max(most, fewest_samples(percent));
  };
  add(request.objective->metric);
  for (const auto& limit : request.limits)
    if (limit.gate) add(limit.gate->metric);
  return most;
}

tune::Outcome outcome_of(const TuneRequest& request, const MeasuredArm& arm, std::int64_t repetition) {
  const auto& one = *arm.one;
  tune::Outcome outcome;
  if (one.outcome != result::Outcome::kOk) {
    outcome.cost = Number::missing(one.reason);
    if (one.reason_code != result::kNotMeasured) outcome.failed = one.reason.empty() ? "failed" : one.reason;
    return outcome;
  }
  outcome.cost = request.objective->cost(arm, repetition);
  for (const auto& limit : request.limits)
    outcome.constraints.push_back(limit.gate ? on_gate(limit, one) : on_claim(limit, one));
  return outcome;
}

}  // namespace paceline::cli
