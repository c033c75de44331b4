// SPDX-License-Identifier: MIT
#include "cli/validate/fleet.h"

#include <fmt/format.h>

#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/duration.h"
#include "cli/interrupts.h"
#include "cli/version.h"
#include "host/checks/fleet.h"
#include "host/checks/fleet_report.h"
#include "host/system_files.h"
#include "result/stored/result_json.h"
#include "run/checks/fleet_hosts.h"

namespace paceline::cli {
namespace {

constexpr double kLongestLoad = 8;  // core sets and GPUs, twice, and the last round of each

ExitCode say_interrupted(const std::vector<host::HostReply>& answers, bool saves) {
  std::vector<std::string> missing;
  for (const auto& answer : answers)
    if (!answer.machine) missing.push_back(answer.host);
  print(stderr, for_terminal(fmt::format(
                    "paceline: interrupted: {} of {} had answered{}{}; nothing was compared{}\n",
                    answers.size() - missing.size(), plural(std::ssize(answers), "host"),
                    missing.empty() ? "" : ", not ", join(missing, ", "), saves ? " or saved" : "")));
  return ExitCode::kInterrupted;
}

}  // namespace

ExitCode validate_fleet(const config::Settings& options, const AnswerOutput& output, const Console& console) {
  const InterruptGuard guard;
  const auto origin = options.has("expect_machine") ? options.text("expect_machine") : "";
  const auto expected = origin.empty() ? std::nullopt : std::optional(host::read_machine(origin));
  const auto hosts = run::host_names(options.texts("hosts"));
  run::HostQuestion question{host::words_of(options.text("rsh")), {}};
  question.version = suite().version;
  if (options.has("load")) {
    question.arguments = {"--load", options.text("load")};
    question.timeout_s += kLongestLoad * seconds_of("--load", options.text("load"));
  }
  const auto replies = run::ask_hosts(hosts, question, InterruptGuard::flag());
  if (InterruptGuard::flag()) return say_interrupted(replies, options.has("save"));
  const auto answer = host::fleet_report(replies, expected, origin);
  show(answer, output, console);
  if (const auto machines = host::machines_of(replies); options.has("save") && !machines.empty())
    write_file_atomic(options.text("save"), result::json_text(host::to_json(host::usual_machine(machines))));
  return answer::exit_code_of(answer);
}

}  // namespace paceline::cli
