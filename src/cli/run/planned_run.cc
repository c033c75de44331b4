// SPDX-License-Identifier: MIT
#include "cli/run/planned_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/gates.h"
#include "base/error.h"
#include "base/file.h"
#include "base/own_environment.h"
#include "base/text.h"
#include "cli/interrupts.h"
#include "cli/profile/nsight_run.h"
#include "cli/profile/profile_options.h"
#include "cli/run/baseline_run.h"
#include "cli/run/launched_run.h"
#include "cli/run/live_file.h"
#include "cli/run/missing_gpus.h"
#include "cli/run/plan_trust.h"
#include "cli/run/resumed_run.h"
#include "cli/run/source_commit.h"
#include "cli/run/sweep_tables.h"
#include "cli/version.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "host/machine/environment.h"
#include "run/case/case_identity.h"
#include "run/coordinator.h"
#include "run/device_choice.h"
#include "run/executors.h"
#include "run/kinds.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kAskAbove = 1000;  // cases

// The text of the plan: from a file, or from the run to resume; none: infer and train read flags.
std::optional<config::PlanText> plan_text(const config::FlagSet& flags, const config::Settings& options) {
  if (is_self_test(options)) return self_test_plan();
  const bool only_flags = config::find_command_row(flags.command)->most_words == 0;
  const auto path = only_flags && !options.has("resume") ? std::nullopt : plan_path(flags, options);
  if (path && options.has("resume")) check_resumable(flags, options, *path);
  if (path) return config::read_plan_text(*path);
  if (flags.command != config::kRun) return std::nullopt;
  if (!flags.problems.empty()) throw config::ConfigErrors(flags.problems, ErrorCode::kUsage);
  throw Error(ErrorCode::kUsage,
              "no plan given; usage: paceline run PLAN.yaml (examples: examples/plans/quickstart.yaml)");
}

config::Plan read_plan(const config::FlagSet& flags, const std::optional<config::PlanText>& text,
                       const config::ExtraNames& extra) {
  if (text) return config::load_plan_text(text->text, text->source, flags, extra);
  return config::plan_from_flags(flags, extra);
}

// "3" or "2-5" as numbers of cases, the smallest first; empty for other words.
std::vector<std::size_t> case_numbers(const std::string& word, std::size_t count) {
  const auto ends = split(word, '-');
  if (ends.empty() || ends.size() > 2) return {};
  const auto first = parse_int(ends.front()), last = parse_int(ends.back());
  if (!first || !last || *first < 1 || *last < *first || *last > static_cast<long long>(count)) return {};
  std::vector<std::size_t> numbers;
  for (long long n = *first; n <= *last; ++n) numbers.push_back(static_cast<std::size_t>(n));
  return numbers;
}

// --only accepts numbers from --dry-run, ranges of them, or case ids.
std::set<std::string> selected_cases(const std::vector<config::Case>& cases,
                                     const std::vector<std::string>& wanted) {
  std::set<std::string> ids;
  std::vector<std::string> all;
  std::vector<bool> chosen(cases.size());
  for (const auto& c : cases) all.push_back(c.id);
  for (const auto& word : wanted) {
    const auto numbers = case_numbers(word, cases.size());
    for (const std::size_t number : numbers) chosen[number - 1] = true;
    if (numbers.empty() && std::find(all.begin(), all.end(), word) != all.end()) {
      ids.insert(word);
    } else if (numbers.empty()) {
      const auto near = nearest_name(word, all);
      throw Error(ErrorCode::kUsage,
                  fmt::format("--only {}: no such case{}; --dry-run lists them (1 to {})", word,
                              near ? fmt::format("; did you mean '{}'?", *near) : "", cases.size()));
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    if (chosen[i]) ids.insert(all[i]);
  return ids;
}

// Parses the gates and tries them on the cases before anything runs, so that a typing error costs nothing.
std::vector<std::string> expectations(const config::Plan& plan, const std::vector<config::Case>& cases,
                                      const std::optional<config::PlanText>& text) {
  auto gates = plan.settings.texts("expect");
  result::RunResult planned;
  if (!gates.empty())
    for (const auto& c : cases) planned.cases.push_back(run::new_case_result(c, ""));
  std::vector<config::Diagnostic> mistakes;
  for (const auto& gate : gates) {
    try {
      analysis::decide_gates({gate}, planned);
      if (const auto baseline = analysis::parse_gate(gate).baseline; !baseline.empty())
        baseline_run(baseline, plan.settings.text("output_dir"), [](const auto&) {});  // it warns at the end
    } catch (const Error& e) {
      const auto place = text ? config::place_in_plan(*text, {"expect"}, gate) : config::Place{};
      mistakes.push_back(config::diagnostic(place, e.what()));
    }
  }
  if (!mistakes.empty()) throw config::ConfigErrors(mistakes);
  return gates;
}

void check_dump_folder(const std::vector<config::Case>& cases) {
  for (const auto& c : cases)
    if (c.settings.has("dump_outputs") && c.settings.text("dump_outputs") == "-")
      throw Error(
          ErrorCode::kUsage,
          "--dump-outputs -: outputs are files in a folder, which standard output is not; name a folder");
}

bool wants_peaks(const config::Plan& plan) {
  return std::any_of(plan.workloads.begin(), plan.workloads.end(), [](const auto& w) {
    return w.settings.has("measure_peak") && w.settings.flag("measure_peak");
  });
}

void check_size(const config::Plan& plan, const config::Settings& options) {
  const auto count = config::count_cases(plan);
  if (count > kAskAbove && !options.flag("yes") && !options.flag("dry_run"))
    throw Error(
        ErrorCode::kUsage,
        fmt::format("this plan has {} cases; add --yes to run them all, or --dry-run to see them", count));
}

void check_in_process(const config::Plan& plan, const std::vector<config::Case>& cases) {
  if (!plan.settings.flag("in_process")) return;
  const bool one = cases.size() == 1 &&
                   (!cases[0].settings.has("repetitions") || cases[0].settings.integer("repetitions") == 1);
  if (!one)
    throw Error(ErrorCode::kUsage, fmt::format("--in-process runs a single case once; this plan has {}",
                                               cases.size() == 1 ? "1 case with several repetitions"
                                                                 : fmt::format("{} cases", cases.size())));
  if (const auto why = run::kind_rules(cases[0].kind).not_in_process(cases[0]); !why.empty())
    throw Error(ErrorCode::kUsage, "--in-process is one process, and " + why);
  if (cases[0].settings.has("cross_check") && cases[0].settings.flag("cross_check"))
    throw Error(ErrorCode::kUsage,
                "--cross-check needs fresh processes, and --in-process has none; leave one of them out");
}

// Empty where this user has no such folder.
fs::path kept_folder() {
  try {
    return cache_dir() / "made";
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

fs::path run_folder(const config::Plan& plan, const config::Settings& options) {
  if (options.has("resume")) return options.text("resume");
  if (plan.settings.text("output_dir") == "-")
    throw Error(
        ErrorCode::kUsage,
        "--output-dir -: a run is a folder of files, which standard output is not; name a folder, and "
        "--json prints the summary");
  return fs::path(plan.settings.text("output_dir")) / plan.experiment_name / result::new_run_id();
}

config::FlagSet typed_flags(const Context& context, unsigned command) {
  auto flags = config::parse_flags(context.arguments, command);
  return (command & config::kProfile) != 0 ? with_profile(std::move(flags)) : flags;
}

Planned plan_run(const Context& context, config::FlagSet& flags, const config::Settings& options,
                 const LaunchStart* start) {
  const auto with_world = [&] { return start ? with_world_of(start->place(), flags) : flags; };
  const auto text = plan_text(with_world(), options);
  if (!is_self_test(options)) check_trust(flags, options, text);
  const auto timeout_s = early_timeout_s(flags, text);
  Planned p{options, describe_plugins(plugin_files(flags, text), text, timeout_s), {}, {}, {}, {}};
  use_plugin_options(p.plugins);
  flags = typed_flags(context, flags.command);
  p.plan = read_plan(with_world(), text, extra_names(p.plugins, timeout_s));
  check_size(p.plan, options);
  p.cases = config::expand(p.plan);
  const auto gpus = run::gpus_here(InterruptGuard::flag());
  check_gpus(p.plan, p.cases, flags, gpus);
  run::settle_devices(p.cases, engine_directory(p.plugins), gpus);
  p.gates = expectations(p.plan, p.cases, text);
  for (const auto& workload : p.plan.workloads)
    run::kind_rules(workload.kind).check_environment(own_environment());
  check_in_process(p.plan, p.cases);
  check_tool(options, p.cases, engine_directory(p.plugins));
  check_dump_folder(p.cases);
  p.only = selected_cases(p.cases, options.texts("only"));
  if (options.has("resume")) p.previous = previous_run(options.text("resume"));
  check_same_plan(p.previous, p.cases, flags);
  return p;
}

run::RunSetup setup_of(const Planned& p, const Context& context) {
  run::RunSetup setup{p.plan,
                      p.cases,
                      p.only,
                      p.plan.settings.flag("in_process"),
                      wants_peaks(p.plan),
                      engine_directory(p.plugins),
                      suite(),
                      context.command_line,
                      host::capture_environment(context.command_line),
                      {}};
  setup.kept_folder = kept_folder();
  setup.fresh = p.options.has("fresh") && p.options.flag("fresh");
  return setup;
}

void add_user_facts(const config::Plan& plan, nlohmann::json& environment) {
  if (const auto notes = plan.settings.texts("note"); !notes.empty()) environment["notes"] = notes;
  if (auto sources = source_commit(plan.source); !sources.is_null())
    environment["sources"] = std::move(sources);
}

result::RunResult run_watched(run::RunSetup setup, result::RunDirectory& directory, ProgressView& view,
                              NsightRun* tool) {
  SweepTables sweeps(view);
  LiveFile live(directory.path());
  std::vector<run::RunObserver*> all{&view, &live};
  if (!setup.schedule) all.insert(all.begin(), &sweeps);  // a comparison has a table of both sides
  run::Observers observers(std::move(all));
  run::ProcessExecutor::FrontOf front_of;
  if (tool) front_of = [tool](const auto& request) { return tool->front_of(request); };
  run::ProcessExecutor processes(setup.in_process, front_of);
  return run::run_plan(std::move(setup), directory, observers, InterruptGuard::flag(), processes);
}

}  // namespace paceline::cli
