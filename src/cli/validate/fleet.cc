// SPDX-License-Identifier: MIT
#include "cli/validate/fleet.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "answer/render/terminal.h"
#include "answer/section.h"
#include "answer/text_layout.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/duration.h"
#include "cli/interrupts.h"
#include "cli/validate/fleet_hosts.h"
#include "host/checks/differences.h"
#include "host/checks/fleet.h"
#include "host/system_files.h"
#include "result/stored/result_json.h"

namespace paceline::cli {
namespace {

using host::CheckStatus;
using host::FleetDifference;

constexpr std::size_t kMostColumns = 8;  // more hosts: those that are alike share a column
constexpr std::size_t kWidestValue = 28;
constexpr double kLongestLoad = 8;  // core sets and GPUs, twice, and the last round of each

enum class Origin { kFleet, kFile, kCheck };  // what a host was compared with, or its own check

// A line about one or several hosts.
struct Issue {
  Origin origin;
  CheckStatus status;
  std::vector<std::string> hosts, texts;  // the text of each host
  std::string name, fix;
};

struct Fleet {
  std::vector<std::string> hosts;  // those that answered
  std::vector<host::Machine> machines;
  std::vector<HostAnswer> silent;
  host::FleetView view;
  std::vector<Issue> issues;  // FAIL before WARN
};

// Hosts that need the same fix share a line.
void add_issue(std::vector<Issue>& all, Origin origin, const std::string& host, const host::CheckedRow& row) {
  const auto same = std::ranges::find_if(all, [&](const Issue& one) {
    return one.origin == origin && one.status == row.result.status && one.name == row.name &&
           one.fix == row.result.fix && std::ranges::find(one.hosts, host) == one.hosts.end();
  });
  if (same == all.end())
    all.push_back({origin, row.result.status, {host}, {row.result.text}, row.name, row.result.fix});
  else
    same->hosts.push_back(host), same->texts.push_back(row.result.text);
}

void add_outliers(Fleet& fleet) {
  for (const auto& one : fleet.view.differences)
    for (std::size_t i = 0; i < one.outliers.size(); ++i) {
      const auto host = one.outliers[i];
      add_issue(fleet.issues, Origin::kFleet, fleet.hosts[host],
                {one.name,
                 {},
                 {one.verdicts[i], fmt::format("{}, but {} on the other hosts", one.values[host], one.usual),
                  one.fix}});
    }
}

Fleet gather(std::vector<HostAnswer> answers, const std::optional<host::Machine>& expected,
             const std::string& origin) {
  Fleet fleet;
  for (auto& answer : answers) {
    if (!answer.machine) {
      fleet.silent.push_back(std::move(answer));
      continue;
    }
    fleet.hosts.push_back(answer.host);
    fleet.machines.push_back(std::move(*answer.machine));
  }
  fleet.view = host::compare_fleet(fleet.machines);
  add_outliers(fleet);
  for (std::size_t i = 0; expected && i < fleet.machines.size(); ++i)
    for (const auto& row : host::rows_of(host::differences(fleet.machines[i], *expected), origin))
      if (row.result.status != CheckStatus::kPass)
        add_issue(fleet.issues, Origin::kFile, fleet.hosts[i], row);
  for (const auto& answer : answers)
    for (const auto& row : answer.checks) add_issue(fleet.issues, Origin::kCheck, answer.host, row);
  std::ranges::stable_partition(fleet.issues,
                                [](const auto& one) { return one.status == CheckStatus::kFail; });
  return fleet;
}

bool is_outlier(const FleetDifference& one, std::size_t host) {
  return std::ranges::find(one.outliers, host) != one.outliers.end();
}

std::string cell_text(const FleetDifference& one, std::size_t host) {
  return one.values[host] + (is_outlier(one, host) ? " *" : "");
}

// The first host of each column, with how many are in it.
std::vector<std::pair<std::size_t, std::size_t>> columns_of(const Fleet& fleet) {
  std::vector<std::pair<std::size_t, std::size_t>> columns;
  std::map<std::vector<std::string>, std::size_t> known;
  for (std::size_t i = 0; i < fleet.hosts.size(); ++i) {
    std::vector<std::string> cells;
    for (const auto& one : fleet.view.differences) cells.push_back(cell_text(one, i));
    const auto [place, fresh] = known.try_emplace(cells, columns.size());
    if (fresh || fleet.hosts.size() <= kMostColumns)
      columns.emplace_back(i, 1);
    else
      ++columns[place->second].second;
  }
  return columns;
}

std::string table_text(const Fleet& fleet, const Console& console) {
  const auto columns = columns_of(fleet);
  answer::Table table{.heads = {"what differs"}, .numbers_from = answer::kNoNumbers};
  table.columns_kept = columns.size() + 1;
  table.most.assign(columns.size() + 1, kWidestValue);
  for (const auto& [host, count] : columns)
    table.heads.push_back(fleet.hosts[host] + (count > 1 ? fmt::format(" and {} more", count - 1) : ""));
  for (const auto& one : fleet.view.differences) {
    std::vector<answer::Cell> cells{one.name};
    for (const auto& [host, count] : columns) cells.emplace_back(cell_text(one, host));
    table.rows.push_back(
        {.cells = std::move(cells),
         .tone = one.status == CheckStatus::kFail ? answer::Tone::kProblem : answer::Tone::kWarning});
  }
  return answer::terminal_of(table, {console.width, console.ascii, console.colour}, 0);
}

// Lists once what all share, except what is not known, not there or not limited.
std::string alike_text(const Fleet& fleet, const Console& console) {
  std::vector<std::string> facts;
  for (const auto& [name, value] : fleet.view.alike) {
    const auto* fact = host::find_fact(fleet.machines.front(), name);
    if (fact && !fact->value.is_null()) facts.push_back(fmt::format("{} {}", name, shown_value(value, 40)));
  }
  std::string text;
  for (const auto& line : answer::wrap("alike: " + join(facts, "; "), console.width)) text += line + "\n";
  return text;
}

std::string issue_text(const Issue& one, std::size_t hosts) {
  const auto who = one.hosts.size() == hosts && hosts > 1 ? std::string("all") : join(one.hosts, ", ");
  const auto fix = one.fix.empty() ? "" : "  → " + one.fix;
  const auto& text = one.texts.front();
  const bool varies = std::ranges::count(one.texts, text) < std::ssize(one.texts);
  const auto where = varies ? fmt::format("on {} ", one.hosts.front()) : "";
  return fmt::format("{}  {}: {}: {}{}{}\n", host::status_name(one.status), who, one.name, where, text, fix);
}

// "node2 (CPU quota), node3 (library spin)"
std::string outliers_in_words(const Fleet& fleet) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < fleet.hosts.size(); ++i) {
    std::vector<std::string> names;
    for (const auto& one : fleet.view.differences)
      if (is_outlier(one, i)) names.push_back(one.name);
    if (!names.empty()) words.push_back(fmt::format("{} ({})", fleet.hosts[i], join(names, ", ")));
  }
  return join(words, ", ");
}

std::string verdict_of(const Fleet& fleet) {
  const auto count = std::ssize(fleet.hosts);
  const auto silent = fleet.silent.empty()
                          ? ""
                          : fmt::format("; {} gave no answer", plural(std::ssize(fleet.silent), "host"));
  const auto undecided =
      std::ranges::count_if(fleet.view.differences, [](const auto& one) { return one.outliers.empty(); });
  std::string text = outliers_in_words(fleet);
  if (!text.empty()) text = "outliers: " + text;
  if (undecided > 0)
    text += fmt::format("{}{} differ in {} and no majority says which is right: compare with --expect FILE",
                        text.empty() ? "" : "; ", plural(count, "host"), plural(undecided, "thing"));
  if (text.empty())
    text = count > 1    ? fmt::format("{} are alike", plural(count, "host"))
           : count == 1 ? plural(count, "host")
                        : "no host to compare";
  return text + silent;
}

nlohmann::json to_json(const Fleet& fleet) {
  using Json = nlohmann::json;
  Json hosts = Json::array(), alike = Json::object(), differences = Json::array(), issues = Json::array();
  for (std::size_t i = 0; i < fleet.hosts.size(); ++i)
    hosts.push_back({{"host", fleet.hosts[i]}, {"machine", host::to_json(fleet.machines[i])}});
  for (const auto& answer : fleet.silent)
    hosts.push_back({{"host", answer.host}, {"machine", nullptr}, {"reason", answer.reason}});
  for (const auto& [name, value] : fleet.view.alike) alike[name] = value;
  for (const auto& one : fleet.view.differences) {
    Json values = Json::object(), outliers = Json::array();
    for (std::size_t i = 0; i < fleet.hosts.size(); ++i) values[fleet.hosts[i]] = one.values[i];
    for (const auto i : one.outliers) outliers.push_back(fleet.hosts[i]);
    differences.push_back({{"name", one.name},
                           {"status", host::status_name(one.status)},
                           {"values", values},
                           {"usual", one.usual.empty() ? Json() : Json(one.usual)},
                           {"outliers", outliers},
                           {"fix", one.fix}});
  }
  for (const auto& one : fleet.issues) {
    Json texts = Json::object();
    for (std::size_t i = 0; i < one.hosts.size(); ++i) texts[one.hosts[i]] = one.texts[i];
    issues.push_back({{"status", host::status_name(one.status)},
                      {"hosts", one.hosts},
                      {"name", one.name},
                      {"texts", texts},
                      {"fix", one.fix}});
  }
  return {{"verdict", verdict_of(fleet)},
          {"hosts", hosts},
          {"alike", alike},
          {"differences", differences},
          {"complaints", issues}};
}

void show(const Fleet& fleet, const Console& console) {
  std::string text;
  if (!console.quiet && !fleet.machines.empty()) text += alike_text(fleet, console) + "\n";
  if (!fleet.view.differences.empty()) text += table_text(fleet, console) + "\n";
  for (const auto& one : fleet.issues)
    if (!console.quiet || one.status == CheckStatus::kFail) text += issue_text(one, fleet.hosts.size());
  for (const auto& answer : fleet.silent) text += fmt::format("FAIL  {} {}\n", answer.host, answer.reason);
  print(console.text(), for_terminal(text + verdict_of(fleet) + "\n"));
}

bool any_failed(const Fleet& fleet) {
  const auto fails = [](const auto& one) { return one.status == CheckStatus::kFail; };
  return std::ranges::any_of(fleet.issues, fails) || std::ranges::any_of(fleet.view.differences, fails);
}

ExitCode print_interrupted(const std::vector<HostAnswer>& answers, bool saves) {
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

ExitCode validate_fleet(const config::Settings& options, const Console& console) {
  const InterruptGuard guard;
  const auto origin = options.has("expect_machine") ? options.text("expect_machine") : "";
  const auto expected = origin.empty() ? std::nullopt : std::optional(host::read_machine(origin));
  const auto hosts = host_names(options.texts("hosts"));
  HostQuestion question{host::words_of(options.text("rsh")), {}};
  if (options.has("load")) {
    question.arguments = {"--load", options.text("load")};
    question.timeout_s += kLongestLoad * seconds_of("--load", options.text("load"));
  }
  auto answers = ask_hosts(hosts, question, InterruptGuard::flag());
  if (InterruptGuard::flag()) return print_interrupted(answers, options.has("save"));
  const auto fleet = gather(std::move(answers), expected, origin);
  show(fleet, console);
  if (options.has("save") && !fleet.machines.empty())
    write_file_atomic(options.text("save"),
                      result::json_text(host::to_json(host::usual_machine(fleet.machines))));
  if (console.json) console.result(result::json_text(to_json(fleet)));
  if (!fleet.silent.empty()) return ExitCode::kWorkloadFailed;
  return any_failed(fleet) ? ExitCode::kEnvironmentInvalid : ExitCode::kOk;
}

}  // namespace paceline::cli
