// SPDX-License-Identifier: MIT
#include "compare/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "compare/figure_rows.h"
#include "result/figures/pair_ratio.h"
#include "result/figures/pairing.h"
#include "result/judged/noise_rules.h"
#include "stats/holm.h"
#include "stats/median.h"

namespace paceline::compare {
namespace {

using stats::Verdict;

bool is_positive(const Number& value) {
  return value && *value > 0;
}

// One that claims a larger ratio instead of a worse one.
Verdict of_better(Verdict larger, stats::Better better) {
  if (better == stats::Better::kLower) return larger;
  if (larger == Verdict::kRegression) return Verdict::kImprovement;
  return larger == Verdict::kImprovement ? Verdict::kRegression : larger;
}

constexpr std::string_view kMemoryUnit = "MB";  // no load of the machine changes it

stats::CompareConfig config_of(const Figure& figure) {
  return {
      .delta = figure.delta, .aa_halfwidth = {}, .confidence = figure.confidence, .better = figure.better};
}

void take(Figure& figure, const stats::Comparison& found, const std::string& reason) {
  figure.pairs = found.pairs;
  figure.delta = found.delta;
  figure.confidence = found.confidence;
  figure.doubt = reason.empty() ? found.no_size : reason;
  if (found.ci_ratio && reason.empty()) figure.ci = found.ci_ratio;
  figure.change = found.no_size.empty() ? Number(found.estimate_ratio) : Number::missing(found.no_size);
  if (found.pairs > 0) figure.p = found.p_sign;
  if (reason.empty()) figure.verdict = figure.shows = found.verdict;
}

std::string cannot_tell(const Figure& figure) {
  return fmt::format("the interval neither excludes a change nor keeps it within the margin of {}",
                     format_percent(figure.delta, 0));
}

struct Values {
  std::vector<double> a, b;
};

Values of_neighbours(const FigureRow& row, const CaseSide& a, const CaseSide& b,
                     const result::Pairing& pairing) {
  Values values;
  for (const auto& [mine, theirs] : pairing.neighbours) {
    const auto from = row.value(a, *mine), to = row.value(b, *theirs);
    if (!is_positive(from) || !is_positive(to)) continue;
    values.a.push_back(*from), values.b.push_back(*to);
  }
  return values;
}

std::vector<double> of_side(const FigureRow& row, const CaseSide& side) {
  std::vector<double> values;
  for (const auto& r : side.one->repetitions)
    if (const auto value = row.value(side, r); is_positive(value)) values.push_back(*value);
  return values;
}

void judge_headline(Figure& figure, result::Figure which, const CaseSide& a, const CaseSide& b,
                    const JudgeOptions& options) {
  const auto found =
      result::pair_ratio(*b.one, *a.one, which, options.resumed_utc, figure.confidence, figure.delta);
  if (!found.found) {
    figure.doubt = found.reason;
    return;
  }
  auto comparison = *found.found;
  comparison.verdict = of_better(comparison.verdict, figure.better);
  take(figure, comparison, found.reason);
}

// Figures that deserve a row: both sides have a value, or each process of both.
bool is_there(const Figure& figure, const Values& values) {
  return (figure.a && figure.b && *figure.a > 0 && *figure.b > 0) || !values.a.empty();
}

void state_missing_verdict(Figure& figure) {
  if (figure.verdict == Verdict::kInconclusive && figure.doubt.empty()) figure.doubt = cannot_tell(figure);
}

std::string failure_of(const result::CaseResult& one) {
  if (one.outcome == result::Outcome::kOk) return {};
  return one.reason.empty() ? std::string(result::name_of(one.outcome)) : one.reason;
}

std::string distortion_of(const CaseSide& a, const CaseSide& b) {
  const auto first = result::distortion(*a.one);
  return first.empty() ? result::distortion(*b.one) : first;
}

void withhold(Figure& figure, const std::string& why) {
  figure.doubt = figure.doubt.empty() || figure.verdict != Verdict::kInconclusive ? why : figure.doubt;
  figure.verdict = Verdict::kInconclusive;
}

void judge_row(Figure& figure, const FigureRow& row, bool headline, const FigureRows& rows, const CaseSide& a,
               const CaseSide& b, const JudgeOptions& options, Pairing pairing) {
  if (pairing == Pairing::kApart) return judge_apart(figure, of_side(row, a), of_side(row, b), options.again);
  if (headline) return judge_headline(figure, rows.headline, a, b, options);
  const auto values = of_neighbours(row, a, b, result::pair_repetitions(*a.one, *b.one, options.resumed_utc));
  judge_pairs(figure, values.a, values.b);
}

}  // namespace

double margin_of(const JudgeOptions& options, Pairing pairing) {
  return std::max(options.threshold.value_or(kMargin), 2 * options.equal.halfwidth(pairing));
}

void judge_pairs(Figure& figure, const std::vector<double>& a, const std::vector<double>& b) {
  if (a.empty()) {
    figure.doubt = "no process ran on both sides";
    return;
  }
  auto config = config_of(figure);
  config.any_spread = figure.unit == kMemoryUnit;
  const auto found = stats::compare_pairs(a, b, config);
  take(figure, found, found.reason);
  state_missing_verdict(figure);
}

void judge_apart(Figure& figure, const std::vector<double>& a, const std::vector<double>& b,
                 const std::string& again) {
  if (a.empty() || b.empty()) {
    figure.doubt = "the processes of a side have no such value";
    return;
  }
  const auto found = stats::compare_apart(a, b, config_of(figure));
  take(figure, found, found.reason);
  figure.p = Number::missing("not measured in pairs");
  figure.shows = found.reason.empty() ? found.apart_verdict : Verdict::kInconclusive;
  if (!found.reason.empty())
    figure.doubt = std::min(a.size(), b.size()) == 1 ? "a side has one process, which has no spread: measure "
                                                       "six or more (--repetitions 6)"
                                                     : found.reason;
  else if (figure.shows == Verdict::kRegression || figure.shows == Verdict::kImprovement)
    figure.doubt =
        "suspected: the runs were not measured in turns, so drift between them may be the cause; "
        "measure both in one run: " +
        again;
  else if (figure.shows == Verdict::kEquivalent)
    figure.doubt =
        "no change is seen, but runs at different times cannot show that there is none; measure "
        "both in one run: " +
        again;
  else
    figure.doubt = cannot_tell(figure);
}

Control judge_control(const std::vector<double>& a_ns, const std::vector<double>& b_ns, double margin) {
  constexpr double kNsPerMs = 1e6;
  Control control;
  auto& figure = control.figure;
  figure.name = "control_ms", figure.title = "control", figure.unit = "ms", figure.delta = margin;
  if (a_ns.empty() || b_ns.empty()) {
    figure.doubt = "it was not measured";
    return control;
  }
  judge_pairs(figure, a_ns, b_ns);
  figure.a = stats::median(a_ns) / kNsPerMs, figure.b = stats::median(b_ns) / kNsPerMs;
  const auto& ci = figure.ci;
  const bool excludes_one = ci && (ci->low > 1 || ci->high < 1);
  control.moved =
      excludes_one && figure.change && std::abs(std::log(*figure.change)) > std::log1p(margin) / 2;
  return control;
}

namespace {

bool worked_in_turns(const result::CaseResult& one) {
  return std::ranges::all_of(one.repetitions,
                             [](const auto& r) { return r.in_turns.value().value_or(false); });
}

Pairing pairing_of(const CaseSide& a, const CaseSide& b, const JudgeOptions& options) {
  const bool neighbours = result::in_turns(*a.one, *b.one, options.resumed_utc) &&
                          !result::pair_repetitions(*a.one, *b.one, options.resumed_utc).neighbours.empty() &&
                          std::min(a.one->repetitions.size(), b.one->repetitions.size()) > 1;
  if (!neighbours) return Pairing::kApart;
  return worked_in_turns(*a.one) && worked_in_turns(*b.one) ? Pairing::kInTurns : Pairing::kAlternating;
}

ComparedCase judged(const CaseSide& a, const CaseSide& b, const JudgeOptions& options) {
  ComparedCase compared;
  compared.failed_a = failure_of(*a.one), compared.failed_b = failure_of(*b.one);
  compared.skipped_b = b.one->outcome == result::Outcome::kSkipped;
  compared.pairing = options.pairing.value_or(pairing_of(a, b, options));
  if (!compared.failed_a.empty() || !compared.failed_b.empty()) return compared;
  const auto rows = figure_rows(a, b);
  const auto distorted = distortion_of(a, b);
  for (const auto& row : rows.rows) {
    Figure figure = row.figure;
    figure.a = row.whole(a), figure.b = row.whole(b);
    figure.delta = margin_of(options, compared.pairing);
    figure.confidence = a.one->headline.p50_ns.confidence;
    const bool headline = &row == rows.rows.data() && !traits_of(a.one->benchmark.kind).sweeps;
    if (!is_there(figure, {of_side(row, a), of_side(row, b)})) continue;
    judge_row(figure, row, headline, rows, a, b, options, compared.pairing);
    if (!distorted.empty()) withhold(figure, distorted);
    state_missing_verdict(figure);
    compared.figures.push_back(std::move(figure));
  }
  for (auto& figure : figures_of_cases(*a.one, *b.one)) compared.figures.push_back(std::move(figure));
  return compared;
}

}  // namespace

ComparedCase judge_cases(const CaseSide& a, const CaseSide& b, const JudgeOptions& options) {
  const bool paired = options.pairing && *options.pairing != Pairing::kApart;
  if (!paired || a.one->run_id == b.one->run_id) return judged(a, b, options);
  // Whoever paired the processes knows more than their start times in whole seconds tell of two runs.
  auto of_one_run = *b.one;
  of_one_run.run_id = a.one->run_id;
  return judged(a, {&of_one_run, b.extra}, options);
}

namespace {

// Speed and answers are two questions: each has its own family of tests, so that labels cost no power for
// speed.
std::vector<Figure*> family_of(Comparison& comparison, Scale scale) {
  std::vector<Figure*> family;
  for (auto& one : comparison.cases)
    for (auto& figure : one.figures)
      if (figure.scale == scale && figure.p && (figure.decides || scale == Scale::kDifference))
        family.push_back(&figure);
  return family;
}

std::string too_many_tests(const Figure& figure, std::int64_t tests, double alpha) {
  const auto p = format_significant(*figure.p_holm, 2);
  if (figure.scale == Scale::kDifference)
    return fmt::format("the answers do not tell it apart among {} cases with labels (p {} after Holm)", tests,
                       p);
  return fmt::format("{} pairs of processes do not tell it apart among {} verdicts (p {} after Holm); {} can",
                     figure.pairs, tests, p, stats::pairs_for_tests(tests, alpha));
}

void settle_family(const std::vector<Figure*>& family) {
  std::vector<double> p;
  for (const auto* figure : family) p.push_back(*figure->p);
  const auto adjusted = stats::holm(p);
  for (std::size_t i = 0; i < family.size(); ++i) {
    auto& figure = *family[i];
    figure.p_holm = adjusted[i];
    const bool claims = figure.verdict == Verdict::kRegression || figure.verdict == Verdict::kImprovement;
    const double alpha = 1 - figure.confidence;
    if (claims && adjusted[i] > alpha) withhold(figure, too_many_tests(figure, std::ssize(family), alpha));
  }
}

}  // namespace

void settle(Comparison& comparison) {
  for (const auto scale : {Scale::kRatio, Scale::kDifference}) settle_family(family_of(comparison, scale));
  const auto why = blocked_by(comparison);
  if (why.empty()) return;
  for (auto& one : comparison.cases)
    for (auto& figure : one.figures) withhold(figure, why);
}

}  // namespace paceline::compare
