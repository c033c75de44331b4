// SPDX-License-Identifier: MIT
// The command `profile`: of a training that it runs, or of traces that another program wrote.
#include "analysis/traces/trace_study.h"
#include "base/display_text.h"
#include "cli/command_table.h"
#include "cli/nsight_profile.h"
#include "cli/profile_options.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "config/plan.h"
#include "report/traces.h"
#include "result/result_json.h"

namespace paceline::cli {

ExitCode profile_command(const Context& context) {
  const auto flags = config::parse_flags(context.arguments, context.command);
  const auto options = config::command_settings(flags);
  if (!options.has("from") || is_self_test(options)) return run_cases(context);
  if (!flags.problems.empty()) throw config::ConfigErrors(flags.problems, ErrorCode::kUsage);
  check_from(flags);
  const auto console = make_console(options.flag("json"), options.flag("quiet"), options.flag("verbose"),
                                    options.flag("no_color"));
  if (profile_of_nsight(options.text("from"), console)) return ExitCode::kOk;
  const auto study = analysis::traces::read_traces(options.text("from"));
  if (console.json) console.result(result::json_text(report::to_json(study)));
  print(console.text(), for_terminal(report::text_of(study)));
  return ExitCode::kOk;
}

}  // namespace paceline::cli
