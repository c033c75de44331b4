// SPDX-License-Identifier: MIT
#include "compare/runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/difference/step_parts.h"
#include "analysis/difference/stored_parts.h"
#include "base/error.h"
#include "base/units.h"
#include "compare/environment.h"
#include "result/figures/summarize.h"

namespace paceline::compare {
namespace {

void require_other_runs(const std::vector<SideRun>& sides) {
  for (std::size_t i = 0; i < sides.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const auto &a = sides[k], &b = sides[i];
      if (!a.stored.run.run_id.empty() && a.stored.run.run_id == b.stored.run.run_id)
        throw Error(
            ErrorCode::kUsage,
            fmt::format("{} and {} are the same run, {}: its figures are equal to themselves; name two "
                        "runs",
                        a.side.name, b.side.name, a.stored.run.run_id));
    }
}

void add_unmatched(const Matching& matching, std::size_t side, Comparison& comparison) {
  for (const auto* one : matching.only_a) comparison.unmatched.push_back({0, label_of(*one)});
  for (const auto* one : matching.only_b) comparison.unmatched.push_back({side, label_of(*one)});
}

struct StoredCase {
  const result::StoredRun& stored;
  const result::CaseResult& one;
  const ProcessFigures& figures;
};

using PartsOf = analysis::difference::TimedParts (*)(const result::StoredRun&, const result::CaseResult&);

struct FurtherParts {
  const char* of;
  PartsOf parts;
};
constexpr std::array kFurtherParts{
    FurtherParts{"all-reduces by size", analysis::difference::stored_exchange_parts},
    FurtherParts{"operators of the profiled steps", analysis::difference::stored_operator_parts}};

// Sizes of a sweep with the times of all processes, which may have stored them each for itself.
analysis::difference::TimedParts own_parts(const StoredCase& of) {
  if (of.one.collective()) return analysis::difference::size_parts(of.one, of.figures.size_ns);
  return analysis::difference::stored_parts(of.stored, of.one);
}

bool is_as_fast(const ComparedCase& compared) {
  return std::ranges::all_of(deciding(compared), [](const auto* figure) {
    return figure->scale != Scale::kRatio || figure->shows == stats::Verdict::kEquivalent;
  });
}

// Damaged files explain nothing.
template <typename Parts>
analysis::difference::Explanation explained(const StoredCase& a, const StoredCase& b, const Parts& parts) {
  try {
    return analysis::difference::explain(parts(a), parts(b));
  } catch (const Error& error) {
    analysis::difference::Explanation none;
    none.no_claim = error.what();
    return none;
  }
}

// Explains a case by its parts unless its times are equal.
void add_why(ComparedCase& compared, const StoredCase& a, const StoredCase& b) {
  if (is_as_fast(compared)) return;
  compared.why = explained(a, b, own_parts);
  if (!a.one.training() || !b.one.training()) return;
  for (const auto& further : kFurtherParts) {
    const auto parts = [&](const StoredCase& of) { return further.parts(of.stored, of.one); };
    if (auto why = explained(a, b, parts); why.no_claim.empty())
      compared.further.push_back({further.of, std::move(why)});
  }
}

// Names cases with figures that were measured until somebody ended the run.
void add_cut_short(const SideRun& side, Comparison& comparison) {
  for (const auto& one : side.stored.run.cases)
    if (result::is_cut_short(one))
      comparison.remarks.push_back(
          fmt::format("{}: {} was interrupted; its figures are of what was measured until then",
                      side.side.name, label_of(one)));
}

// With more than two sides a case of the first may lack several partners.
void keep_each_once(std::vector<Unmatched>& unmatched) {
  std::vector<Unmatched> kept;
  for (auto& one : unmatched)
    if (std::ranges::none_of(kept, [&](const auto& k) { return k.side == one.side && k.label == one.label; }))
      kept.push_back(std::move(one));
  unmatched = std::move(kept);
}

void compare_side(const std::vector<SideRun>& sides, std::size_t side, const RunOptions& options,
                  Comparison& comparison) {
  const auto &a = sides.front().stored, &b = sides[side].stored;
  const auto matching = match_cases(a.run, b.run, options.matches);
  add_unmatched(matching, side, comparison);
  for (auto& one : environment_differences(a.run, b.run, side))
    comparison.environment.push_back(std::move(one));
  for (auto& one : library_differences(matching.cases, side))
    comparison.environment.push_back(std::move(one));
  auto judge = options.judge;
  std::ranges::copy(a.run.resumed_utc, std::back_inserter(judge.resumed_utc));
  std::ranges::copy(b.run.resumed_utc, std::back_inserter(judge.resumed_utc));
  for (const auto& [mine, theirs, differs] : matching.cases) {
    const CaseSide left{mine, process_figures(sides.front(), *mine)},
        right{theirs, process_figures(sides[side], *theirs)};
    auto compared = judge_cases(left, right, judge);
    compared.label = label_of(*mine);
    compared.side = side;
    compared.id_a = mine->case_id, compared.id_b = theirs->case_id;
    compared.differs = differs;
    if (options.explains) add_why(compared, {a, *mine, left.extra}, {b, *theirs, right.extra});
    comparison.cases.push_back(std::move(compared));
  }
}

// By intervals of each side, for lack of answers to single inputs.
bool compares_accuracy_apart(const Comparison& comparison) {
  return std::ranges::any_of(comparison.cases, [](const auto& one) {
    return std::ranges::any_of(one.figures,
                               [](const auto& f) { return f.scale == Scale::kDifference && !f.p; });
  });
}

// Says where equal sides differ so far on this machine that the margin is wider than it would be.
void add_widened_margin(Comparison& comparison, const JudgeOptions& judge) {
  const double halfwidth = judge.equal.halfwidth(comparison.pairing);
  if (2 * halfwidth > judge.threshold.value_or(kMargin))
    comparison.remarks.push_back(
        fmt::format("the margin is {}: equal sides differed by up to {} on this machine",
                    format_percent(2 * halfwidth), format_percent(halfwidth)));
}

}  // namespace

std::string in_turns_command(const result::RunResult& run) {
  const auto kind = run.cases.empty() ? WorkloadKind::kInference : run.cases.front().benchmark.kind;
  return fmt::format("paceline compare {} --a … --b …", traits_of(kind).command.name);
}

Comparison compare_runs(const std::vector<SideRun>& sides, const RunOptions& options) {
  require_other_runs(sides);
  Comparison comparison;
  comparison.subject = plural(std::ssize(sides), "run");
  comparison.allow_env_diff = options.allow_env_diff;
  comparison.control = options.control;
  comparison.block_order = options.block_order;
  comparison.again = options.judge.again;
  for (const auto& one : sides) comparison.sides.push_back(one.side), add_cut_short(one, comparison);
  for (std::size_t side = 1; side < sides.size(); ++side) compare_side(sides, side, options, comparison);
  keep_each_once(comparison.unmatched);
  comparison.pairing = Pairing::kInTurns;
  for (const auto& one : comparison.cases) comparison.pairing = std::max(comparison.pairing, one.pairing);
  std::stable_partition(comparison.environment.begin(), comparison.environment.end(),
                        [](const auto& one) { return one.blocks; });
  if (compares_accuracy_apart(comparison))
    comparison.remarks.emplace_back(
        "accuracy: the answers to single inputs are not stored, so each side's interval counts, which is "
        "wider "
        "than that of answers in pairs");
  add_widened_margin(comparison, options.judge);
  settle(comparison);
  return comparison;
}

}  // namespace paceline::compare
