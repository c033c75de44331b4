// SPDX-License-Identifier: MIT
// The commands `run`, `infer`, `train` and `comm`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/own_environment.h"
#include "cli/answer_output.h"
#include "cli/command_table.h"
#include "cli/exit_rules.h"
#include "cli/failure.h"
#include "cli/interrupts.h"
#include "cli/profile/nsight_run.h"
#include "cli/profile/profile_options.h"
#include "cli/run/dry_run.h"
#include "cli/run/launched_run.h"
#include "cli/run/machine_watch.h"
#include "cli/run/next_command.h"
#include "cli/run/planned_run.h"
#include "cli/run/progress_view.h"
#include "cli/run/resumed_run.h"
#include "cli/run/run_output.h"
#include "cluster/launch_words.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "config/plan.h"
#include "host/machine/environment.h"
#include "result/judged/reasons.h"
#include "result/run_directory.h"
#include "result/stored/result_json.h"
#include "run/device_choice.h"
#include "run/executors.h"
#include "run/follower.h"
#include "run/kinds.h"
#include "run/ranks/launch.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

// torchrun's own parser takes --monitor for one of its flags, so a variable says the same.
bool is_monitored(const config::Settings& options) {
  const auto environment = own_environment();
  const auto said = environment.find("PACELINE_MONITOR");
  if (options.flag("monitor") || said == environment.end() || said->second.empty() || said->second == "0")
    return options.flag("monitor");
  if (said->second == "1") return true;
  throw Error(ErrorCode::kUsage,
              fmt::format("PACELINE_MONITOR '{}': 1 records the machine as --monitor does, 0 does not",
                          said->second));
}

// Runs in the process that writes the run: the only one, or the leader of a launch.
ExitCode write_run(const Planned& p, run::RunSetup setup, const AnswerOutput& output, const Console& console,
                   std::function<NextCommands(const result::RunResult&)> next = {}) {
  std::optional<NsightRun> tool;
  if (p.options.has("tool")) tool.emplace(p.options, setup.command_line);
  const auto files = p.cases.size() == 1 ? result::CaseFiles::kBesideSummary : result::CaseFiles::kInFolders;
  result::RunDirectory directory(run_folder(p.plan, p.options), files);
  ProgressView view(console);
  for (const auto& remark : p.plan.remarks) view.warning(remark);
  setup.previous = p.previous;
  add_user_facts(p.plan, setup.environment);
  if (p.options.has("resume") && p.previous.run.cases.empty())
    set_damaged_summary_aside(directory.path(), view);
  if (setup.launch) setup.launch->name_run(directory.path().filename().string());
  std::optional<MachineWatch> machine;
  if (is_monitored(p.options)) machine.emplace(directory.path(), console, view);
  auto result = run_watched(std::move(setup), directory, view, tool ? &*tool : nullptr);
  machine.reset();
  if (tool && !InterruptGuard::flag()) tool->collect(result, console);
  const auto code = finish_run(
      result, directory, console,
      {p.gates,
       p.options,
       p.options.has("target") && !is_self_test(p.options) && !tool ? p.options.text("target") : "",
       is_self_test(p.options) ? std::optional(output) : std::nullopt,
       std::move(next),
       {p.plan.settings.flag("allow_noisy"), p.plan.settings.flag("strict"), InterruptGuard::flag()},
       is_self_test(p.options) || tool ? fs::path() : fs::path(p.plan.settings.text("output_dir"))});
  if (tool && !InterruptGuard::flag()) tool->tell(console);
  return code;
}

ExitCode follow_run(const run::RunSetup& setup, const Console& console) {
  ProgressView view(console);
  run::ProcessExecutor processes;
  const bool well = run::follow_plan(setup, view, InterruptGuard::flag(), processes);
  if (InterruptGuard::flag()) return ExitCode::kInterrupted;
  return well ? ExitCode::kOk : result::reason_of(setup.launch->failure()->reason_code).exit_code;
}

int hosts_of(const cluster::LaunchPlace& place) {
  return (place.world + place.local_world - 1) / place.local_world;
}

ExitCode show_plan(const Planned& p, const AnswerOutput& output, const Console& console, int hosts) {
  ProgressView view(console);
  const auto engines = engine_directory(p.plugins);
  for (const auto& remark : p.plan.remarks) view.warning(remark);
  run::report_remarks(p.plan, p.cases, engines, hosts, view);
  const auto cases =
      outlook_of(p.cases, engines, hosts,
                 {p.plan.settings.text("output_dir"), host::host_digest().value().value_or("")});
  if (!console.json && output.formats.empty())
    for (const auto& words : run::device_lines(p.cases)) console.say("device   " + words);
  show(planned_answer(p.plan.experiment_name, cases), output, console);
  return ExitCode::kOk;
}

// Place of this process in a launch. For `run`, which may have no ranks, a mistake in the launcher's
// variables waits until the plan is known.
struct FoundPlace {
  std::optional<cluster::LaunchPlace> place;
  std::optional<Error> mistake{};
};

FoundPlace find_launch_place(const config::FlagSet& flags, const config::Settings& options) {
  try {
    return {launch_place(flags, options)};
  } catch (const Error& e) {
    if (flags.command != config::kRun) throw;
    return {{}, e};
  }
}

void check_launch_place(const FoundPlace& found, const config::FlagSet& flags, const Planned& planned) {
  if (found.mistake) throw Error(*found.mistake);
  if (found.place && !found.place->alone())
    check_launched_world(*found.place, flags, planned.cases, planned.only);
}

// A launcher's single process, such as the shell of `srun -n1 --pty bash`, is no launch.
void print_single_process(const cluster::LaunchPlace& place, const Console& console) {
  console.say(
      fmt::format("{}, which is no launch: all ranks are started here", cluster::started_words(place)));
}

// Documents of a plan or of a self-test; a run has its report. Throws Error(kUsage) for --format beside one.
AnswerOutput documents_of(const config::FlagSet& flags, const config::Settings& options) {
  if (flags.has("answer_format") && !options.flag("dry_run") && !is_self_test(options))
    throw Error(
        ErrorCode::kUsage,
        "--format: a run writes its report itself, and paceline report --format makes others; here it "
        "is for --dry-run and --self-test");
  return answer_output(flags, options, options.flag("dry_run") ? "plan" : "self_test", "");
}

ExitCode execute_here(const Planned& planned, const Context& context, const config::FlagSet& flags,
                      const Console& console) {
  const auto output = documents_of(flags, planned.options);
  if (planned.options.flag("dry_run")) return show_plan(planned, output, console, 1);
  check_output_files(flags);
  return write_run(planned, setup_of(planned, context), output, console, [&](const result::RunResult& run) {
    return next_commands(context, flags, planned.cases, engine_directory(planned.plugins), run);
  });
}

// One process of several that a launcher started.
ExitCode execute_launched(const Planned& planned, const Context& context, const config::FlagSet& flags,
                          Console console, LaunchStart& start) {
  const auto& place = start.place();
  const auto output = documents_of(flags, planned.options);
  if (planned.options.flag("dry_run"))
    return place.leads() ? show_plan(planned, output, console, hosts_of(place)) : ExitCode::kOk;
  if (place.leads()) check_output_files(flags);
  console.terminal = false;  // ranks share it, and launchers show their output as lines
  return run_launched(start, setup_of(planned, context), console, [&](const run::RunSetup& setup) {
    return place.leads() ? write_run(planned, setup, output, console) : follow_run(setup, console);
  });
}

// `start`: of the launch that this process belongs to; null: none.
ExitCode execute(const Context& context, config::FlagSet flags, const config::Settings& options,
                 const FoundPlace& found, LaunchStart* start) {
  const Console console = make_console(options.flag("json"), options.flag("quiet"), options.flag("verbose"),
                                       options.flag("no_color"));
  if (start && is_self_test(options))
    throw Error(ErrorCode::kUsage,
                fmt::format("--self-test starts its two ranks itself, but {}; run it without a launcher",
                            cluster::started_words(start->place())));
  const auto planned = plan_run(context, flags, options, start);
  const bool ranks = any_by_ranks(planned.cases);
  ranks ? check_launch_place(found, flags, planned) : refuse_rank_options(flags);
  if (ranks && found.place && !start && !options.flag("dry_run")) print_single_process(*found.place, console);
  if (start && !ranks) {
    refuse_ranks_of_one_process(start->place());
    start->close_notes();
  }
  return start && ranks ? execute_launched(planned, context, flags, console, *start)
                        : execute_here(planned, context, flags, console);
}

}  // namespace

ExitCode run_cases(const Context& context) {
  const auto flags = typed_flags(context, context.command);
  const auto options = config::command_settings(flags);
  const InterruptGuard guard;
  static_cast<void>(is_monitored(options));  // a wrong value ends here, before a folder is made
  refuse_launch_of_inference(flags);
  const auto found = find_launch_place(flags, options);
  if (!found.place || found.place->alone()) return execute(context, flags, options, found, nullptr);
  LaunchStart start(*found.place);
  try {
    return execute(context, flags, options, found, &start);
  } catch (const std::exception& e) {
    const auto code = print_failure();
    start.end(e);
    return code;
  }
}

}  // namespace paceline::cli
