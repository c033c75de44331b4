// SPDX-License-Identifier: MIT
// The command `profile`: of a training that it runs, or of what another program recorded.
#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "cli/answer_output.h"
#include "cli/command_table.h"
#include "cli/profile/profile_options.h"
#include "cli/profile/profile_source.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "config/plan.h"

namespace paceline::cli {
namespace fs = std::filesystem;

namespace {

// `profile --tool nsys infer …`: the word is the command whose case is profiled; unset: train, or infer where
// only that takes all of the words.
Context with_workload(Context context) {
  auto& words = context.arguments;
  const auto is_workload = [](const std::string& word) { return word == "infer" || word == "train"; };
  const auto tool = std::ranges::find_if(words, [](const auto& word) { return word.starts_with("--tool"); });
  auto at = std::ranges::find_if(words, is_workload);
  const auto behind_tool =
      tool == words.end() ? 0 : tool - words.begin() + (tool->find('=') == std::string::npos ? 2 : 1);
  if (at != words.end() && at != words.begin() && at - words.begin() != behind_tool) at = words.end();
  const bool named = at != words.end();
  bool infers = named && *at == "infer";
  if (named) words.erase(at);
  const unsigned infer = config::kInfer | config::kProfile;
  if (!named && tool != words.end())
    infers = !config::parse_flags(words, context.command).problems.empty() &&
             config::parse_flags(words, infer).problems.empty();
  if (infers) context.command = infer;
  return context;
}

}  // namespace

ExitCode profile_command(const Context& typed) {
  const auto context = with_workload(typed);
  const auto flags = config::parse_flags(context.arguments, context.command);
  const auto options = config::command_settings(flags);
  const bool kernels = options.flag("kernels");
  if (kernels && (!options.has("from") || is_self_test(options)))
    throw Error(
        ErrorCode::kUsage,
        "--kernels reads traces; a profile on a GPU leaves trace_rank0.json in the folder of its case: add "
        "--from FILE");
  const bool infers = (context.command & config::kInfer) != 0;
  if (infers && !options.has("tool"))
    throw Error(ErrorCode::kUsage,
                "profile infer needs --tool nsys or --tool ncu; infer --layer-profile times the layers of an "
                "inference");
  if (options.has("tool") || !options.has("from") || is_self_test(options)) return run_cases(context);
  if (!flags.problems.empty()) throw config::ConfigErrors(flags.problems, ErrorCode::kUsage);
  check_from(flags);
  const auto console = make_console(options.flag("json"), options.flag("quiet"), options.flag("verbose"),
                                    options.flag("no_color"));
  const auto output = answer_output(flags, options, "profile", "output_dir");
  const fs::path from = options.text("from");
  const auto answer = answer_of_profile(
      from, {.kernels = kernels, .expect = config::plan_level_settings(flags).texts("expect")});
  show(answer, output, console);
  return answer::exit_code_of(answer);
}

}  // namespace paceline::cli
