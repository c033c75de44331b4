// SPDX-License-Identifier: MIT
// The command `validate`.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "base/display_text.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/answer_output.h"
#include "cli/command_table.h"
#include "cli/duration.h"
#include "cli/interrupts.h"
#include "cli/overwriting.h"
#include "cli/validate/fleet.h"
#include "cli/version.h"
#include "cluster/roll_call.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "host/checks/differences.h"
#include "host/checks/gpu_links.h"
#include "host/checks/host_checks.h"
#include "host/machine/environment.h"
#include "result/stored/result_json.h"
#include "run/checks/machine_checks.h"

namespace paceline::cli {
namespace {

host::Machine this_machine(const Context& context, std::vector<host::Fact> found) {
  host::Machine machine{suite().version,
                        cluster::host_name(),
                        format_utc(std::time(nullptr)),
                        host::facts_of(host::capture_environment(context.command_line)),
                        {}};
  machine.facts.insert(machine.facts.begin(), host::Fact{"Paceline", suite().version, {}});
  std::ranges::move(found, std::back_inserter(machine.facts));
  machine.facts.push_back(host::gpu_links_fact());
  return machine;
}

}  // namespace

ExitCode validate_command(const Context& context) {
  const auto flags = config::parse_flags(context.arguments, config::kValidate);
  const auto options = config::command_settings(flags);
  const Console console = make_console(options.flag("json"), options.flag("quiet"), options.flag("verbose"),
                                       options.flag("no_color"));
  const std::string save = options.has("save") ? options.text("save") : "";
  const std::string expect = options.has("expect_machine") ? options.text("expect_machine") : "";
  if (!save.empty()) check_overwrites_no_input(flags, "save", {{save}});
  const double load_s = options.has("load") ? seconds_of("--load", options.text("load")) : 0;
  const auto output = answer_output(flags, options, "validate", "output");
  if (options.has("hosts")) return validate_fleet(options, output, console);
  const auto expected = expect.empty() ? std::nullopt : std::optional(host::read_machine(expect));
  const InterruptGuard guard;
  const auto& interrupt = InterruptGuard::flag();
  std::vector<host::Fact> plugins;
  auto checks = host::host_checks({});
  std::ranges::move(run::plugin_checks(plugins, interrupt), std::back_inserter(checks));
  std::ranges::move(run::software_checks(plugins, interrupt), std::back_inserter(checks));
  auto rows = host::run_checks(checks);
  auto machine = this_machine(context, std::move(plugins));
  if (load_s > 0) {
    auto load =
        run::load_machine(load_s, expected ? expected->load : std::vector<host::LoadFigure>(), interrupt);
    machine.load = std::move(load.figures);
    machine.load_disturbed = load.disturbed;
    std::ranges::move(load.rows, std::back_inserter(rows));
    rows.push_back(run::round_trip(interrupt));
  }
  const auto differences = expected ? host::differences(machine, *expected) : std::vector<host::Difference>();
  if (expected) std::ranges::move(host::rows_of(differences, expect), std::back_inserter(rows));
  if (interrupt) {
    print(stderr, "paceline: interrupted: the checks were not finished, and nothing is reported or saved\n");
    return ExitCode::kInterrupted;
  }
  auto answer = host::answer_of(rows);
  answer.data["machine"] = host::to_json(machine);
  if (expected) answer.data["differences"] = host::differences_json(differences);
  show(answer, output, console);
  if (!save.empty()) write_file_atomic(save, result::json_text(host::to_json(machine)));
  return answer::exit_code_of(answer);
}

}  // namespace paceline::cli
