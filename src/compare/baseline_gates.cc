// SPDX-License-Identifier: MIT
#include "compare/baseline_gates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "analysis/gates.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/runs.h"
#include "compare/words.h"

namespace paceline::compare {
namespace {

using analysis::Gate;
using result::GateResult;

// As stats::Verdict.
constexpr std::array kOfComparison{answer::Verdict::kNo, answer::Verdict::kYes, answer::Verdict::kYes,
                                   answer::Verdict::kCannotSay};

// A verdict depends on the bound, and on nothing else of a gate.
Comparison with_baseline(const Gate& gate, const result::StoredRun& baseline, const result::StoredRun& now) {
  RunOptions options;
  options.judge.threshold = gate.bound;
  options.explains = false;
  options.judge.again = in_turns_command(now.run);
  return compare_runs(
      {{{"A", gate.baseline, baseline.run.run_id}, baseline}, {{"B", "this run", now.run.run_id}, now}},
      options);
}

// Why the case cannot be compared; empty: it can.
std::string obstacle(const Gate& gate, const ComparedCase* compared) {
  if (!compared) return fmt::format("no case of '{}' is the same", gate.baseline);
  if (!compared->differs.empty())
    return fmt::format("the case of '{}' is another one ({})", gate.baseline, compared->differs);
  if (!compared->failed_a.empty())
    return fmt::format("it has no result in '{}': {}", gate.baseline, compared->failed_a);
  return compared->failed_b;
}

std::string without_figure(const Gate& gate, const ComparedCase& compared) {
  std::vector<std::string> names;
  for (const auto& figure : compared.figures) names.push_back(figure.name);
  return fmt::format("{} is no figure that both runs have; they have {}", gate.metric,
                     names.empty() ? "none" : join(names, ", "));
}

std::string words_of_figure(const Figure& figure, const ComparedCase& compared) {
  auto words =
      fmt::format("{} after {}: {}: {}", value_words(figure, figure.b), value_words(figure, figure.a),
                  change_with_range(figure, compared.pairing), stats::verdict_name(figure.verdict));
  return figure.doubt.empty() ? words : words + "; " + figure.doubt;
}

// A share of answers may fall by the bound, in points: its interval decides.
void decide_on_share(const Figure& figure, double bound, GateResult& decided) {
  decided.verdict = figure.ci->low >= -bound   ? answer::Verdict::kYes
                    : figure.ci->high < -bound ? answer::Verdict::kNo
                                               : answer::Verdict::kCannotSay;
  decided.detail = fmt::format("{} after {}: {} ({} to {}) of all answers; it may fall by {}",
                               value_words(figure, figure.b), value_words(figure, figure.a),
                               format_percent(*figure.change), format_percent(figure.ci->low),
                               format_percent(figure.ci->high), format_percent(bound));
}

void decide_on_figure(const Gate& gate, const ComparedCase& compared, const std::string& blocked,
                      GateResult& decided) {
  const auto figure = std::ranges::find(compared.figures, gate.metric, &Figure::name);
  if (figure == compared.figures.end()) {
    decided.detail = without_figure(gate, compared);
    return;
  }
  decided.verdict = kOfComparison.at(static_cast<std::size_t>(figure->verdict));
  decided.detail = words_of_figure(*figure, compared);
  if (figure->scale == Scale::kDifference && figure->ci) decide_on_share(*figure, gate.bound, decided);
  decided.invalid = blocked;
}

GateResult decide_with_baseline(const Gate& gate, const Comparison& comparison,
                                const result::CaseResult& one) {
  GateResult decided{gate.expression, one.case_id, gate.metric, answer::Verdict::kCannotSay, {}};
  const auto found = std::ranges::find(comparison.cases, one.case_id, &ComparedCase::id_b);
  const auto* compared = found == comparison.cases.end() ? nullptr : &*found;
  decided.detail = obstacle(gate, compared);
  if (decided.detail.empty()) decide_on_figure(gate, *compared, blocked_by(comparison), decided);
  decided.detail = fmt::format("{}: {}", label_of(one), decided.detail);
  return decided;
}

// Reads each baseline once, and compares it once per bound.
class Baselines {
 public:
  Baselines(const result::StoredRun& now, const BaselineReader& read) : now_(now), read_(read) {}

  const Comparison& compared(const Gate& gate) {
    auto& one = by_bound_[{gate.baseline, gate.bound}];
    if (!one) one = with_baseline(gate, stored(gate.baseline), now_);
    return *one;
  }

 private:
  const result::StoredRun& stored(const std::string& name) {
    auto& one = stored_[name];
    if (!one) one = read_(name);
    return *one;
  }

  const result::StoredRun& now_;
  const BaselineReader& read_;
  std::map<std::string, std::optional<result::StoredRun>> stored_;
  std::map<std::pair<std::string, double>, std::optional<Comparison>> by_bound_;
};

}  // namespace

std::vector<GateResult> baseline_gates(const std::vector<std::string>& expressions,
                                       const result::StoredRun& now, const BaselineReader& read) {
  std::vector<GateResult> decided;
  Baselines baselines(now, read);
  for (const auto& expression : expressions) {
    const auto gate = analysis::parse_gate(expression);
    if (gate.baseline.empty()) continue;
    const auto& comparison = baselines.compared(gate);
    for (const auto& one : now.run.cases)
      if (analysis::selects(gate, one)) decided.push_back(decide_with_baseline(gate, comparison, one));
  }
  return decided;
}

}  // namespace paceline::compare
