// SPDX-License-Identifier: MIT
#include "cli/compare/live_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/finding_table.h"
#include "base/error.h"
#include "base/random.h"
#include "base/units.h"
#include "cli/compare/live_options.h"
#include "cli/run/planned_run.h"
#include "compare/runs.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "result/figures/pair_ratio.h"
#include "run/case/case_run.h"
#include "run/pair_order.h"

namespace paceline::cli {
namespace {

constexpr std::int64_t kPairs = result::kPairsForClaim;

// An interval between processes needs many short ones.
void add_defaults(const config::FlagSet& flags, std::vector<std::string>& words) {
  if (!flags.has("repetitions")) words.insert(words.end(), {"--repetitions", std::to_string(kPairs)});
  const bool has_length = flags.has("iterations") || flags.has("stop.t_min_s") || flags.has("stop.t_max_s");
  if (flags.command == config::kInfer && !has_length) words.insert(words.end(), {"--stop.t_max_s", "3"});
}

Context context_of(const LiveWords& words, const LiveSide& side, const Context& context) {
  Context own{words.command, side.words, context.command_line, words.bits};
  for (const auto& one : side.env) own.arguments.push_back("--env." + one);
  return own;
}

// Pairs that were asked for; the plan allows twice as many.
std::int64_t pairs_of(const Planned& planned) {
  std::int64_t pairs = kPairs;
  for (const auto& c : planned.cases) pairs = std::max(pairs, c.settings.integer("repetitions"));
  for (const auto& c : planned.cases) require_pairs("--repetitions", c.settings.integer("repetitions"));
  return pairs;
}

Planned plan_side(const LiveWords& words, const LiveSide& side, const Context& context) {
  auto own = context_of(words, side, context);
  add_defaults(config::parse_flags(own.arguments, own.command), own.arguments);
  auto flags = typed_flags(own, own.command);
  refuse_options_of_runs(flags);
  return plan_run(own, flags, config::command_settings(flags), nullptr);
}

// Cases of one side in the run of both.
void join_side(const LiveSide& side, const Planned& planned, std::int64_t pairs, run::RunSetup& setup) {
  const auto workloads = setup.plan.workloads.size();
  setup.plan.workloads.insert(setup.plan.workloads.end(), planned.plan.workloads.begin(),
                              planned.plan.workloads.end());
  for (auto c : planned.cases) {
    c.id = (side.name == "A" ? "a-" : "b-") + c.id;
    c.workload += workloads;
    c.baseline_id.reset();
    c.settings.set("repetitions", 2 * pairs);
    setup.cases.push_back(std::move(c));
  }
}

std::vector<run::CasePair> pairs_between(std::size_t a, std::size_t b, const LiveWords& words) {
  if (a != b)
    throw Error(ErrorCode::kUsage,
                fmt::format("compare {}: A has {} and B has {}; give both the same lists of values",
                            words.command, plural(static_cast<std::int64_t>(a), "case"),
                            plural(static_cast<std::int64_t>(b), "case")));
  std::vector<run::CasePair> pairs;
  for (std::size_t i = 0; i < a; ++i) pairs.push_back({i, a + i});
  return pairs;
}

stats::Verdict verdict_of(const result::CaseResult& a, const result::CaseResult& b,
                          const compare::JudgeOptions& judge) {
  const auto compared = compare::judge_cases({&a, {}}, {&b, {}}, judge);
  const auto figures = compare::deciding(compared);
  return figures.empty() ? stats::Verdict::kInconclusive : figures.front()->verdict;
}

// Ratios of the control, which no side can change, over all pairs of processes.
std::optional<compare::Control> control_of(const result::RunResult& run,
                                           const std::vector<run::CasePair>& pairs, double margin) {
  std::vector<double> a_ns, b_ns;
  for (const auto& [a, b] : pairs)
    for (const auto& mine : run.cases[a].repetitions)
      for (const auto& theirs : run.cases[b].repetitions)
        if (mine.index == theirs.index && mine.control_ns && theirs.control_ns)
          a_ns.push_back(*mine.control_ns), b_ns.push_back(*theirs.control_ns);
  if (a_ns.empty()) return std::nullopt;
  return compare::judge_control(a_ns, b_ns, margin);
}

// A side of the run of both as a run by itself.
compare::SideRun side_run(const LiveWords& words, std::size_t index, const result::RunResult& run,
                          const std::filesystem::path& folder) {
  const auto& side = words.sides.at(index);
  auto own = run;
  const auto half = static_cast<std::ptrdiff_t>(run.cases.size() / 2);
  index == 0 ? own.cases.erase(own.cases.begin() + half, own.cases.end())
             : own.cases.erase(own.cases.begin(), own.cases.begin() + half);
  own.run_id += "/" + side.name;
  const auto what = fmt::format("{} {}", words.command, side.written.empty() ? "as it is" : side.written);
  return {{side.name, what, own.run_id}, {folder, std::move(own)}};
}

compare::Comparison judged(const LiveWords& words, const result::RunResult& run,
                           const std::vector<run::CasePair>& pairs, const std::filesystem::path& folder) {
  compare::RunOptions options;
  options.judge = judge_options(words);
  options.allow_env_diff = true;  // sides that differ are what was asked for
  options.control = control_of(run, pairs, options.judge.threshold.value_or(compare::kMargin));
  for (const auto& [a, b] : pairs) options.matches.push_back({run.cases[a].case_id, run.cases[b].case_id});
  auto comparison =
      compare::compare_runs({side_run(words, 0, run, folder), side_run(words, 1, run, folder)}, options);
  comparison.subject = "two sides of " + words.command;
  return comparison;
}

}  // namespace

MeasuredSides compare_live(const LiveWords& words, const Context& context, const Console& console) {
  auto a = plan_side(words, words.sides[0], context);
  const auto b = plan_side(words, words.sides[1], context);
  const auto pairs = pairs_between(a.cases.size(), b.cases.size(), words);
  const auto repetitions = std::max(pairs_of(a), pairs_of(b));
  if (!config::parse_flags(words.sides[0].words, words.bits).has("experiment_name"))
    a.plan.experiment_name = "compare";
  auto setup = setup_of(a, context);
  add_user_facts(a.plan, setup.environment);
  setup.plan.workloads.clear();
  setup.cases.clear();
  join_side(words.sides[0], a, repetitions, setup);
  join_side(words.sides[1], b, repetitions, setup);
  const auto folder = run_folder(a.plan, a.options);
  const auto judge = judge_options(words);
  run::PairOrder order(pairs, repetitions, hash64(folder.filename().string()),
                       [&](const run::CaseRun& mine, const run::CaseRun& theirs) {
                         return verdict_of(mine.result, theirs.result, judge);
                       });
  setup.schedule = &order;
  result::RunDirectory directory(folder);
  ProgressView view(console);
  for (const auto* planned : {&std::as_const(a), &b})
    for (const auto& remark : planned->plan.remarks) view.warning(remark);
  auto run = run_watched(std::move(setup), directory, view, nullptr);
  run.folder = folder.string();
  run.findings = analysis::find_all(run);
  directory.write_summary(run);
  auto comparison = judged(words, run, pairs, folder);
  keep_if_same(words, comparison, console);
  return {std::move(comparison), folder};
}

}  // namespace paceline::cli
