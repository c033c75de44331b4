// SPDX-License-Identifier: MIT
// The command `tune`.
#include <fmt/format.h>

#include "answer/render/answer_forms.h"
#include "base/display_text.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/answer_output.h"
#include "cli/command_table.h"
#include "cli/interrupts.h"
#include "cli/tune/arm_plan.h"
#include "cli/tune/raced_arms.h"
#include "cli/tune/serving.h"
#include "cli/tune/tune_answer.h"
#include "config/flags.h"
#include "result/stored/result_json.h"

namespace paceline::cli {
namespace {

// The plan of the arm to take, and the program that serves its model; those of an earlier answer go.
void write_best(const TuneOutcome& outcome) {
  const auto& folder = outcome.raced.folder;
  std::error_code missing;
  for (const auto* name : {kPlanFile, kServingFile}) std::filesystem::remove(folder / name, missing);
  if (!outcome.found.arm) return;
  const auto& arm = outcome.raced.cases.at(*outcome.found.arm);
  replace_file(folder / kPlanFile, plan_of_arm(outcome.raced.plan, arm));
  if (!traits_of(arm.kind).checks_outputs) return;
  const auto lines = program_of_arm(folder, arm).lines;
  if (!lines.empty()) replace_file(folder / kServingFile, join(lines, "\n") + "\n");
}

}  // namespace

ExitCode tune_command(const Context& context) {
  auto request = tune_request(context.arguments);
  const auto options = config::command_settings(request.own);
  const auto console = make_console(options.flag("json"), options.flag("quiet"), options.flag("verbose"),
                                    options.flag("no_color"));
  const auto output = answer_output(request.own, options, "tune", "output");
  const InterruptGuard guard;
  const auto raced = race_arms(request, context, console);
  const auto outcome = outcome_of(request, raced, InterruptGuard::flag());
  write_best(outcome);
  const auto answer = answer_of(outcome);
  const auto page = raced.folder / "tune.html";
  replace_file(page, answer::html_of(answer));
  replace_file(raced.folder / "tune.json", result::json_text(answer::json_of(answer)));
  console.say(fmt::format("\nreport  {}\n", on_one_line(page.string())));
  show(answer, output, console);
  return InterruptGuard::flag() ? ExitCode::kInterrupted : answer::exit_code_of(answer);
}

}  // namespace paceline::cli
