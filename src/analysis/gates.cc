// SPDX-License-Identifier: MIT
#include "analysis/gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "analysis/case_query.h"
#include "analysis/metric_value.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "result/figures/summarize_load.h"
#include "result/judged/noise_rules.h"
#include "result/stored/benchmark_params.h"

namespace paceline::analysis {
namespace {

using result::GateResult;

struct Operator {
  std::string_view sign;
  bool (*holds)(double, double);
};
constexpr std::array<Operator, 4> kOperators{{
    {"<=", [](double a, double b) { return a <= b; }},
    {">=", [](double a, double b) { return a >= b; }},
    {"<", [](double a, double b) { return a < b; }},
    {">", [](double a, double b) { return a > b; }},
}};
constexpr std::string_view kForm = "METRIC[@SELECTOR] OP VALUE, e.g. 'p50_ms@resnet50/eager/b1 <= 60'";
constexpr std::string_view kBaseline = "baseline:";
constexpr double kBaselineMargin = 0.03;  // unless the gate has its own

[[noreturn]] void refuse(std::string_view expression, const std::string& why) {
  throw Error(ErrorCode::kUsage, fmt::format("gate '{}': {}", expression, why));
}

bool holds(const Gate& gate, double value) {
  for (const Operator& op : kOperators)
    if (op.sign == gate.op) return op.holds(value, gate.bound);
  return false;
}

void check_metric(const Gate& gate) {
  if (result::find_metric(gate.metric)) return;
  std::vector<std::string> names;
  for (const auto& metric : result::metrics()) names.emplace_back(metric.name);
  const auto close = nearest_name(gate.metric, names);
  const std::string hint = close ? "did you mean '" + *close + "'?" : "known: " + join(names, ", ");
  refuse(gate.expression, fmt::format("unknown metric '{}'; {}", gate.metric, hint));
}

// "0.85", or "85%" of a metric without a unit, such as a share.
double parse_bound(const Gate& gate, std::string_view text) {
  const bool percent = text.ends_with('%');
  const auto value = parse_double(percent ? trim(text.substr(0, text.size() - 1)) : text);
  if (!value) refuse(gate.expression, fmt::format("'{}' is not a number; write {}", text, kForm));
  const auto unit = result::find_metric(gate.metric)->unit;
  if (percent && unit != "1")
    refuse(gate.expression,
           fmt::format("'{}': {} is in {}, not a share; write {:g}", text, gate.metric, unit, *value));
  return percent ? *value / 100 : *value;
}

// The gate must ask that the figure is not worse, by a margin on the worse side.
[[noreturn]] void refuse_baseline(const Gate& gate, bool lower, const std::string& why) {
  refuse(gate.expression, fmt::format("{}; write '{} {} baseline:NAME {} 3%'", why, gate.metric,
                                      lower ? "<=" : ">=", lower ? '+' : '-'));
}

// "baseline:NAME", or "baseline:NAME + 3%"; names may contain signs, so that a blank stands before the
// margin.
void parse_baseline(Gate& gate, std::string_view text) {
  const auto better = result::find_metric(gate.metric)->better;
  const bool lower = better == result::Better::kLower;
  if (better == result::Better::kNeither || lower != gate.op.starts_with('<'))
    refuse_baseline(gate, lower, "a gate against a baseline says that a figure is not worse");
  text = trim(text.substr(kBaseline.size()));
  const auto sign = text.find_last_of("+-");
  gate.bound = kBaselineMargin;
  if (text.ends_with('%') && sign != std::string_view::npos && sign > 0 && text[sign - 1] == ' ') {
    const auto number = trim(text.substr(sign + 1, text.size() - sign - 2));
    const auto percent = parse_double(number);
    if (!percent || *percent <= 0 || *percent >= 100 || (text[sign] == '+') != lower)
      refuse_baseline(gate, lower, fmt::format("'{}' is no margin here", trim(text.substr(sign))));
    gate.bound = *percent / 100;
    text = text.substr(0, sign);
  }
  gate.baseline = trim(text);
  if (gate.baseline.empty()) refuse_baseline(gate, lower, "the baseline has no name");
}

void parse_left(Gate& gate, std::string_view left) {
  const auto at = left.find('@');
  gate.metric = trim(left.substr(0, at));
  auto selector = at == std::string_view::npos ? std::string_view() : trim(left.substr(at + 1));
  if (selector.size() > 1 && selector.front() == '/') selector.remove_prefix(1);  // an absolute path
  if (at != std::string_view::npos)
    for (const std::string& word : split(selector, '/')) gate.selector.emplace_back(trim(word));
  const bool empty_word =
      std::any_of(gate.selector.begin(), gate.selector.end(), [](const auto& w) { return w.empty(); });
  if (gate.metric.empty() || empty_word) refuse(gate.expression, fmt::format("write {}", kForm));
}

bool is_number(std::string_view word) {
  return parse_int(word).has_value();
}

// The file of a model as it was given; empty: a name alone.
std::string model_path(const CaseResult& one) {
  const auto& config = one.config_effective;
  if (config.is_object() && config.contains("model") && config.at("model").is_string())
    return config.at("model");
  const auto given = one.benchmark.params.find("model");
  return given == one.benchmark.params.end() ? "" : given->second;
}

// Whether the selector, which is split at slashes, is the path of the case's model, or its last parts.
bool names_model(const std::vector<std::string>& selector, const std::string& path) {
  auto parts = split(path, '/');
  auto wanted = selector;
  if (!wanted.empty() && wanted.front().starts_with("model=")) wanted.front().erase(0, 6);
  std::erase(parts, ""), std::erase(wanted, "");
  return wanted.size() > 1 && wanted.size() <= parts.size() &&
         std::equal(wanted.rbegin(), wanted.rend(), parts.rbegin());
}

std::set<std::string> words_of(const CaseResult& one) {
  const result::Benchmark& b = one.benchmark;
  const auto& kind = traits_of(b.kind);
  std::set<std::string> words{one.case_id,
                              b.id,
                              b.model,
                              b.engine,
                              b.precision,
                              b.layout,
                              std::string(traits_of(b.scenario).name),
                              std::string(kind.name),
                              "b" + std::to_string(b.batch_per_rank),
                              std::to_string(kind.by_ranks ? b.world_size : b.batch_per_rank)};
  for (const auto& text : {one.label, one.case_id})
    for (const char separator : {' ', '/'})
      for (const std::string& word : split(text, separator))
        if (!is_number(word)) words.insert(word);
  for (const auto& [key, value] : result::parameters_of(b)) words.insert(fmt::format("{}={}", key, value));
  if (kind.has_latency && !b.params.contains("timing")) words.insert("timing=sync");
  return words;
}

// Ratios of two times that may be equal: a gate near 1 needs the margin of verdicts.
constexpr std::array<std::string_view, 2> kRatios{"speedup", "cross_check_ratio"};

bool is_ratio(std::string_view metric) {
  return std::find(kRatios.begin(), kRatios.end(), metric) != kRatios.end();
}

// Enough digits, at least three, to tell the value, its interval and the bound apart.
int digits_for(const result::MetricValue& v, double bound) {
  constexpr int kFewest = 3, kMost = 8;
  std::vector<double> shown{*v.value, bound};
  if (v.ci_low && v.ci_high) shown.insert(shown.end(), {*v.ci_low, *v.ci_high});
  const auto distinct = [&](int digits) {
    for (const double a : shown)
      for (const double b : shown)
        if (a != b && (a == bound || b == bound) &&
            format_significant(a, digits) == format_significant(b, digits))
          return false;
    return true;
  };
  for (int digits = kFewest; digits < kMost; ++digits)
    if (distinct(digits)) return digits;
  return kMost;
}

std::string value_text(const result::Metric& metric, const result::MetricValue& v, double bound) {
  const int digits = digits_for(v, bound);
  std::string text = (v.at_least ? "at least " : "") + format_significant(*v.value, digits);
  if (v.ci_low && v.ci_high) text += fmt::format(" ({})", format_range(*v.ci_low, *v.ci_high, digits));
  return metric.unit == "1" ? text : fmt::format("{} {}", text, metric.unit);
}

// A lower bound is an interval without an upper end.
answer::Verdict verdict_of(const Gate& gate, const result::MetricValue& v) {
  const bool low = holds(gate, *v.ci_low);
  const bool high = holds(gate, v.ci_high.value_or(std::numeric_limits<double>::infinity()));
  if (low && high) return answer::Verdict::kYes;
  return low || high ? answer::Verdict::kCannotSay : answer::Verdict::kNo;
}

// A decided gate says that a ratio lies beyond its bound. Where that claims a difference of the two cases,
// the estimate must differ by a relevant amount (methodology: gates).
bool within_margin(const Gate& gate, answer::ExpectationVerdict verdict, double ratio, double margin) {
  const bool above = (verdict == answer::Verdict::kYes) == gate.op.starts_with('>');
  return above ? gate.bound >= 1 && ratio < 1 + margin : gate.bound <= 1 && ratio > 1 / (1 + margin);
}

// Decides on a metric with its interval.
void decide_on_interval(const Gate& gate, const CaseResult& one, const result::MetricValue& v,
                        GateResult& decided) {
  decided.verdict = verdict_of(gate, v);
  if (!is_ratio(gate.metric) || decided.verdict == answer::Verdict::kCannotSay) return;
  const double margin = result::smallest_difference(result::profile_of(one));
  if (!within_margin(gate, decided.verdict, *v.value, margin)) return;
  decided.verdict = answer::Verdict::kCannotSay;
  decided.detail +=
      fmt::format("; a difference below {} does not count, so a gate at {:g} is not decided by it",
                  format_percent(margin, 0), gate.bound);
}

std::string labels_text(const result::RunResult& run) {
  std::vector<const CaseResult*> cases;
  for (const CaseResult& one : run.cases) cases.push_back(&one);
  return cases.empty() ? "none" : list_labels(cases, 5);
}

}  // namespace

Gate parse_gate(std::string_view expression) {
  Gate gate;
  gate.expression = trim(expression);
  const auto sign = gate.expression.find_first_of("<>");
  if (sign == std::string::npos)
    refuse(gate.expression, fmt::format("no <=, >=, < or > in it; write {}", kForm));
  const std::string_view rest = std::string_view(gate.expression).substr(sign);
  for (const Operator& op : kOperators)
    if (gate.op.empty() && rest.starts_with(op.sign)) gate.op = op.sign;
  const std::string_view bound = trim(rest.substr(gate.op.size()));
  parse_left(gate, trim(std::string_view(gate.expression).substr(0, sign)));
  check_metric(gate);
  if (bound.starts_with(kBaseline))
    parse_baseline(gate, bound);
  else
    gate.bound = parse_bound(gate, bound);
  return gate;
}

bool selects(const Gate& gate, const CaseResult& one) {
  if (names_model(gate.selector, model_path(one))) return true;
  const std::set<std::string> words = words_of(one);
  return std::all_of(gate.selector.begin(), gate.selector.end(),
                     [&](const std::string& word) { return words.count(word) > 0; });
}

bool noise_counts(const result::RunResult& run, const CaseResult& one, bool strict) {
  if (!is_ok(one) || one.grade != result::Grade::kC) return false;
  return strict || std::ranges::any_of(run.gates, [&](const GateResult& gate) {
           const auto* metric = result::find_metric(gate.metric);  // none: slo, min_busbw
           return gate.case_id == one.case_id && (metric == nullptr || !metric->topic.outlives_noise);
         });
}

GateResult decide_gate(const Gate& gate, const CaseResult& one) {
  const result::Metric& metric = *result::find_metric(gate.metric);
  const result::MetricValue v = metric_value(metric, one);
  GateResult decided{gate.expression, one.case_id, gate.metric, answer::Verdict::kCannotSay, ""};
  if (!v.value) {
    decided.detail = fmt::format("{}: {} is missing: {}", one.label, metric.name, v.reason);
  } else if (v.ci_low && (v.ci_high || v.at_least)) {
    decided.detail = fmt::format("{}: {} {}", one.label, metric.name, value_text(metric, v, gate.bound));
    decide_on_interval(gate, one, v, decided);
  } else if (v.estimated) {
    decided.detail = fmt::format("{}: {} {} has no interval; measure longer or with six repetitions",
                                 one.label, metric.name, value_text(metric, v, gate.bound));
  } else {
    decided.verdict = holds(gate, *v.value) ? answer::Verdict::kYes : answer::Verdict::kNo;
    decided.detail = fmt::format("{}: {} {}", one.label, metric.name, value_text(metric, v, gate.bound));
  }
  return decided;
}

std::vector<GateResult> objective_gates(const result::RunResult& run) {
  std::vector<GateResult> decided;
  for (const CaseResult& one : run.cases) {
    if (!is_ok(one) || !one.load()) continue;
    const auto& capacity = one.load()->capacity;
    const std::string searched =
        capacity.trials.empty() ? "" : "; capacity: " + result::capacity_in_words(capacity);
    if (const auto& slo = one.load()->slo)
      decided.push_back({fmt::format("slo p{:g}={}", slo->p * 100, format_duration_ns(slo->bound_ns)),
                         one.case_id, "slo", slo->verdict,
                         fmt::format("{}: {}{}", one.label, slo->detail, searched)});
  }
  return decided;
}

std::vector<GateResult> decide_gates(const std::vector<std::string>& expressions,
                                     const result::RunResult& run) {
  std::vector<GateResult> decided;
  for (const std::string& expression : expressions) {
    const Gate gate = parse_gate(expression);
    bool matches = false;
    for (const CaseResult& one : run.cases) {
      if (!selects(gate, one)) continue;
      matches = true;
      if (gate.baseline.empty()) decided.push_back(decide_gate(gate, one));
    }
    if (!matches)
      refuse(gate.expression,
             fmt::format("no case matches '{}'; cases: {}", join(gate.selector, "/"), labels_text(run)));
  }
  return decided;
}

std::vector<GateResult> accuracy_gates(const result::RunResult& run) {
  std::vector<GateResult> decided;
  for (const CaseResult& one : run.cases) {
    const result::AccuracyClaim& claim = one.correctness.claim;
    if (!claim.limit || claim.verdict == answer::Verdict::kNotAsked) continue;
    decided.push_back({fmt::format("top-1 change < {:g} %", *claim.limit * 100), one.case_id,
                       claim.basis == "labels" ? "top1_change" : "top1_agreement", claim.verdict.value,
                       fmt::format("{}: {}", one.label, claim.detail)});
  }
  return decided;
}

}  // namespace paceline::analysis
