// SPDX-License-Identifier: MIT
// The command `compare`.
#include <fmt/format.h>

#include <algorithm>

#include "answer/render/answer_forms.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/answer_output.h"
#include "cli/command_table.h"
#include "cli/compare/command_sides.h"
#include "cli/compare/compare_options.h"
#include "cli/compare/live_sides.h"
#include "cli/compare/live_words.h"
#include "cli/compare/profile_sides.h"
#include "cli/compare/stored_sides.h"
#include "cli/interrupts.h"
#include "compare/comparison_answer.h"
#include "compare/runs.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "result/stored/result_json.h"

namespace paceline::cli {
namespace {

constexpr double kMarginOfProfiles = 0.03;

compare::Comparison compared_runs(const std::vector<std::string>& names, const config::Settings& options,
                                  const Console& console) {
  compare::RunOptions request;
  request.judge.threshold = asked_threshold(options);
  request.matches = asked_matches(options);
  request.allow_env_diff = options.flag("allow_env_diff");
  const auto sides = stored_sides(names, console);
  request.judge.again = compare::in_turns_command(sides.front().stored.run);
  return compare::compare_runs(sides, request);
}

compare::Comparison compared_files(const config::FlagSet& flags, const config::Settings& options,
                                   const Console& console) {
  const auto names = named_sides(flags.positionals, options, console);
  require_sides(names);
  const auto* const source = common_source(names);
  if (!source) return compared_runs(names, options, console);
  for (const auto& setting : flags.settings)
    if (setting.name == "match" || setting.name == "allow_env_diff")
      throw Error(ErrorCode::kUsage,
                  fmt::format("{} is about stored runs; these are profiles", setting.written));
  return compare::compare_profiles(profile_sides(*source, names),
                                   asked_threshold(options).value_or(kMarginOfProfiles));
}

bool is_other_program(const LiveSide& side) {
  return !side.program.empty();
}

// Measures both sides; their runs, the page and its data stay in one folder.
ExitCode compare_here(const LiveWords& words, const Context& context) {
  const auto options = config::command_settings(words.own);
  const auto console = make_console(options.flag("json"), options.flag("quiet"), options.flag("verbose"),
                                    options.flag("no_color"));
  const auto output = answer_output(words.own, options, "compare", "output");
  const InterruptGuard guard;
  const bool programs = std::ranges::any_of(words.sides, is_other_program);
  auto measured = (programs ? compare_programs : compare_live)(words, context, console);
  for (const auto& side : words.sides)
    if (!side.remark.empty()) measured.comparison.remarks.push_back(side.remark);
  if (InterruptGuard::flag())
    measured.comparison.remarks.emplace_back("interrupted: only the pairs that were complete by then count");
  const auto answer = compare::answer_of(measured.comparison);
  const auto page = measured.folder / "compare.html";
  replace_file(page, answer::html_of(answer));
  replace_file(measured.folder / "compare.json", result::json_text(answer::json_of(answer)));
  console.say(fmt::format("\nreport  {}\n", on_one_line(page.string())));
  show(answer, output, console);
  return InterruptGuard::flag() ? ExitCode::kInterrupted : answer::exit_code_of(answer);
}

}  // namespace

ExitCode compare_command(const Context& context) {
  if (const auto live = live_words(context.arguments)) return compare_here(*live, context);
  const auto flags = config::parse_flags(context.arguments, config::kCompare);
  const auto options = config::command_settings(flags);
  const auto console = make_console(options.flag("json"), options.flag("quiet"), options.flag("verbose"),
                                    options.flag("no_color"));
  const auto output = answer_output(flags, options, "compare", "output");
  const bool commands = options.has("command");
  check_compare_options(flags, commands);
  const auto compared =
      commands ? compared_commands(flags, options, console) : compared_files(flags, options, console);
  const auto answer = compare::answer_of(compared);
  show(answer, output, console);
  return commands && InterruptGuard::flag() ? ExitCode::kInterrupted : answer::exit_code_of(answer);
}

}  // namespace paceline::cli
