// SPDX-License-Identifier: MIT
#include "cli/tune/raced_arms.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/finding_table.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/rapl.h"
#include "cli/interrupts.h"
#include "cli/run/planned_run.h"
#include "cli/tune/arm_space.h"
#include "cli/tune/serving.h"
#include "cli/tune/stored_search.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "run/case/case_run.h"
#include "run/case/kind_rules.h"
#include "run/race_order.h"

namespace paceline::cli {
namespace {

// Mistyped options are reported before a folder or a model is looked at.
void check_words(const TuneRequest& request) {
  const auto command = config::command_of(request.kind);
  use_plugin_options(config::parse_flags(request.words, command));
  const auto typed = config::parse_flags(request.words, command);
  if (!typed.problems.empty()) throw config::ConfigErrors(typed.problems, ErrorCode::kUsage);
}

// Typed words with those of the axes; those of a run to resume stand in its plan.
std::vector<std::string> words_of_command(const TuneRequest& request, std::size_t rounds) {
  const auto typed = config::parse_flags(request.words, config::command_of(request.kind));
  return typed.has("resume") ? request.words : words_of_arms(request, typed, rounds);
}

void require_objective(const TuneRequest& request) {
  if (request.objective->name != "energy") return;
  auto counters = rapl::counters(rapl::powercap_folder());
  if (const auto why = rapl::refusal(counters); !why.empty())
    throw Error(ErrorCode::kUnavailable,
                fmt::format("--objective energy cannot be measured here: {}; choose another objective", why));
}

// Takes the cases that cannot run out of the plan's.
std::vector<LeftOutArm> take_unavailable(std::vector<config::Case>& cases) {
  std::vector<LeftOutArm> left_out;
  for (const auto& c : cases)
    if (!c.not_available.empty()) left_out.push_back({c.label, c.not_available});
  std::erase_if(cases, [](const config::Case& c) { return !c.not_available.empty(); });
  return left_out;
}

void require_choice(const std::vector<config::Case>& cases, const std::vector<LeftOutArm>& left_out,
                    WorkloadKind kind) {
  if (cases.size() > kMostArms)
    throw Error(ErrorCode::kUsage, fmt::format("this space has {} arms, and a search takes {} at most; write "
                                               "fewer values, or search one part after the other",
                                               cases.size(), kMostArms));
  if (cases.size() > 1) return;
  const auto why = left_out.empty() ? "" : fmt::format(" ({}: {})", left_out[0].label, left_out[0].reason);
  throw Error(ErrorCode::kUsage,
              fmt::format("there is nothing to choose: {}{}; write several values, e.g. --threads 1,2, or "
                          "measure it with paceline {}",
                          cases.empty() ? "no arm can run here" : "the only arm is " + cases[0].label, why,
                          traits_of(kind).command.name));
}

std::vector<std::string> keys_of(const std::vector<config::Case>& cases) {
  std::vector<std::string> keys;
  for (const auto& c : cases) keys.push_back(c.id);
  return keys;
}

double items_of(const config::Case& c) {
  return run::kind_rules(c.kind).items_per_iteration(c);
}

// An interrupted first round: its arms are not compared, but their figures are known, and why others failed.
void take_first_figures(const TuneRequest& request, const RacedArms& raced, tune::Search& search) {
  const auto& run = raced.run;
  if (search.rounds() > 0) return;
  std::vector<tune::Outcome> outcomes;
  for (std::size_t i = 0; i < run.cases.size(); ++i) {
    const auto& one = run.cases[i];
    if (one.repetitions.empty() && (one.outcome == result::Outcome::kOk || one.reason.empty())) continue;
    if (one.repetitions.empty() && one.reason_code == result::kNotMeasured) continue;
    auto& outcome = outcomes.emplace_back(
        outcome_of(request, {&run.cases[i], nullptr, nullptr, items_of(raced.cases[i])}, 0));
    outcome.arm = i;
  }
  if (!outcomes.empty()) search.take(outcomes);
}

result::RunResult run_race(const TuneRequest& request, run::RunSetup setup,
                           const std::filesystem::path& folder, const Planned& planned, RacedArms& raced,
                           const Console& console) {
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  run::RaceOrder order(
      raced.search,
      [&](const run::CaseRun& c, std::int64_t repetition) {
        if (!c.model_file.empty()) keep_model_file(folder, c.definition, c.model_file);
        return outcome_of(request, {&c.result, &c.samples, &c.sampled, items_of(c.definition)}, repetition);
      },
      [&] { return request.budget_s - static_cast<double>(clock.now_ns() - begin) * 1e-9; });
  setup.schedule = &order;
  result::RunDirectory directory(folder);
  keep_search(folder, request);
  ProgressView view(console);
  for (const auto& remark : planned.plan.remarks) view.warning(remark);
  auto run = run_watched(std::move(setup), directory, view, nullptr);
  raced.cut_short = order.was_cut_short();
  run.folder = folder.string();
  run.findings = analysis::find_all(run);
  directory.write_summary(run);
  return run;
}

}  // namespace

RacedArms race_arms(TuneRequest& request, const Context& context, const Console& console) {
  take_stored_search(request);
  check_words(request);
  require_objective(request);
  const tune::Rules rules;
  Context own{std::string(traits_of(request.kind).command.name),
              words_of_command(request, rules.looks.back()), context.command_line,
              config::command_of(request.kind)};
  auto flags = typed_flags(own, own.command);
  auto planned = plan_run(own, flags, config::command_settings(flags), nullptr);
  auto left_out = take_unavailable(planned.cases);
  require_choice(planned.cases, left_out, request.kind);
  for (auto& c : planned.cases) c.baseline_id.reset();
  auto setup = setup_of(planned, context);
  setup.previous = planned.previous;
  add_user_facts(planned.plan, setup.environment);
  const auto folder = run_folder(planned.plan, planned.options);
  RacedArms raced{tune::Search(keys_of(planned.cases), rules),
                  {},
                  planned.plan,
                  planned.cases,
                  std::move(left_out),
                  folder,
                  false};
  raced.run = run_race(request, std::move(setup), folder, planned, raced, console);
  take_first_figures(request, raced, raced.search);
  return raced;
}

}  // namespace paceline::cli
