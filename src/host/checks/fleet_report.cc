// SPDX-License-Identifier: MIT
#include "host/checks/fleet_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/display_text.h"
#include "base/text.h"
#include "base/units.h"
#include "host/checks/check_fields.h"
#include "host/checks/differences.h"
#include "host/checks/fleet.h"

namespace paceline::host {
namespace {

constexpr std::size_t kMostColumns = 8;  // more hosts: those that are alike share a column
constexpr std::size_t kWidestValue = 28;

enum class Origin { kFleet, kFile, kCheck };  // what a host was compared with, or its own check

// One or several hosts that need the same fix.
struct Issue {
  Origin origin;  // not stored
  Verdict status;
  std::vector<std::string> hosts;
  std::string name;
  std::map<std::string, std::string> texts;  // of each host
  std::string fix;
};

// FleetDifference with the names of hosts.
struct NamedDifference {
  std::string name;
  Verdict status;
  std::map<std::string, std::string> values;
  Maybe<std::string> usual;
  std::vector<std::string> outliers;
  std::string fix;
};

PACELINE_FIELDS(Issue, status, hosts, name, texts, fix);
PACELINE_FIELDS(NamedDifference, name, status, values, usual, outliers, fix);

struct Fleet {
  std::vector<std::string> hosts;  // those that answered
  std::vector<Machine> machines;
  std::vector<const HostReply*> silent;
  FleetView view;
  std::vector<Issue> issues;  // FAIL before WARN
};

void add_issue(std::vector<Issue>& all, Origin origin, const std::string& host, const CheckedRow& row) {
  const auto same = std::ranges::find_if(all, [&](const Issue& one) {
    return one.origin == origin && one.status == row.result.status && one.name == row.name &&
           one.fix == row.result.fix && !one.texts.contains(host);
  });
  auto& issue = same == all.end()
                    ? all.emplace_back(Issue{origin, row.result.status, {}, row.name, {}, row.result.fix})
                    : *same;
  issue.hosts.push_back(host);
  issue.texts[host] = row.result.text;
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

Fleet gather(const std::vector<HostReply>& replies, const std::optional<Machine>& expected,
             const std::string& origin) {
  Fleet fleet;
  for (const auto& reply : replies) {
    if (!reply.machine) {
      fleet.silent.push_back(&reply);
      continue;
    }
    fleet.hosts.push_back(reply.host);
    fleet.machines.push_back(*reply.machine);
  }
  fleet.view = compare_fleet(fleet.machines);
  add_outliers(fleet);
  for (std::size_t i = 0; expected && i < fleet.machines.size(); ++i)
    for (const auto& row : rows_of(differences(fleet.machines[i], *expected), origin))
      if (row.result.status != Verdict::kYes) add_issue(fleet.issues, Origin::kFile, fleet.hosts[i], row);
  for (const auto& reply : replies)
    for (const auto& row : reply.checks) add_issue(fleet.issues, Origin::kCheck, reply.host, row);
  std::stable_partition(fleet.issues.begin(), fleet.issues.end(),
                        [](const auto& one) { return one.status == Verdict::kNo; });
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

answer::Table table_of(const Fleet& fleet) {
  const auto columns = columns_of(fleet);
  answer::Table table{.heads = {"what differs"}, .numbers_from = answer::kNoNumbers};
  table.columns_kept = columns.size() + 1;
  table.most.assign(columns.size() + 1, kWidestValue);
  for (const auto& [host, count] : columns)
    table.heads.push_back(fleet.hosts[host] + (count > 1 ? fmt::format(" and {} more", count - 1) : ""));
  for (const auto& one : fleet.view.differences) {
    std::vector<answer::Cell> cells{one.name};
    for (const auto& [host, count] : columns) cells.emplace_back(cell_text(one, host));
    table.rows.push_back({.cells = std::move(cells), .tone = answer::traits_of(one.status).tone});
  }
  return table;
}

// Facts that all share, each once, without what is not known, not there or not limited.
std::string alike_text(const Fleet& fleet) {
  std::vector<std::string> facts;
  for (const auto& [name, value] : fleet.view.alike) {
    const auto* fact = find_fact(fleet.machines.front(), name);
    if (fact && !fact->value.is_null())
      facts.push_back(fmt::format("{} {}", name, paceline::shown_value(value, 40)));
  }
  return "alike: " + join(facts, "; ");
}

answer::Check check_of(const Issue& one, std::size_t hosts) {
  const auto who = one.hosts.size() == hosts && hosts > 1 ? std::string("all") : join(one.hosts, ", ");
  const auto& text = one.texts.at(one.hosts.front());
  const bool varies = std::ranges::any_of(one.texts, [&](const auto& each) { return each.second != text; });
  const auto where = varies ? fmt::format("on {} ", one.hosts.front()) : "";
  auto check = check_of(CheckedRow{who, {}, {one.status, {}, one.fix}});
  check.text = fmt::format("{}: {}{}", one.name, where, text);
  return check;
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

std::string sentence_of(const Fleet& fleet) {
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

NamedDifference named(const FleetDifference& one, const std::vector<std::string>& hosts) {
  NamedDifference out{one.name, one.status, {}, Maybe<std::string>::missing("no majority"), {}, one.fix};
  for (std::size_t i = 0; i < hosts.size(); ++i) out.values[hosts[i]] = one.values[i];
  if (!one.usual.empty()) out.usual = one.usual;
  for (const auto i : one.outliers) out.outliers.push_back(hosts[i]);
  return out;
}

nlohmann::json data_of(const Fleet& fleet, const std::string& sentence) {
  using archive::Json, archive::Writer;
  Json hosts = Json::array();
  for (std::size_t i = 0; i < fleet.hosts.size(); ++i)
    hosts.push_back({{"host", fleet.hosts[i]}, {"machine", to_json(fleet.machines[i])}});
  for (const auto* reply : fleet.silent)
    hosts.push_back({{"host", reply->host}, {"machine", nullptr}, {"reason", reply->reason}});
  std::vector<NamedDifference> differences;
  for (const auto& one : fleet.view.differences) differences.push_back(named(one, fleet.hosts));
  const std::map<std::string, std::string> alike(fleet.view.alike.begin(), fleet.view.alike.end());
  return {{"verdict", sentence},
          {"hosts", hosts},
          {"alike", Writer::write(alike)},
          {"differences", Writer::write(differences)},
          {"complaints", Writer::write(fleet.issues)}};
}

}  // namespace

std::vector<Machine> machines_of(const std::vector<HostReply>& replies) {
  std::vector<Machine> machines;
  for (const auto& reply : replies)
    if (reply.machine) machines.push_back(*reply.machine);
  return machines;
}

answer::Answer fleet_report(const std::vector<HostReply>& replies, const std::optional<Machine>& expected,
                            const std::string& origin) {
  const auto fleet = gather(replies, expected, origin);
  answer::Answer answer{.title = "Fleet of " + plural(std::ssize(replies), "host"),
                        .sentence = sentence_of(fleet)};
  if (!fleet.machines.empty()) answer.sections.push_back({.paragraphs = {alike_text(fleet)}});
  if (!fleet.view.differences.empty()) answer.sections.push_back({.table = table_of(fleet)});
  for (const auto& one : fleet.issues) answer.checks.push_back(check_of(one, fleet.hosts.size()));
  // Without a majority nobody is the outlier, and the difference may still stop a run.
  for (const auto& one : fleet.view.differences)
    if (one.outliers.empty() && one.status == Verdict::kNo)
      answer.checks.push_back(
          check_of(CheckedRow{"all", {}, {one.status, one.name + ": they differ", one.fix}}));
  for (const auto* reply : fleet.silent)
    answer.checks.push_back({.name = reply->host,
                             .verdict = Verdict::kNo,
                             .text = reply->reason,
                             .exit = ExitCode::kWorkloadFailed});
  answer.data = data_of(fleet, answer.sentence);
  return answer;
}

}  // namespace paceline::host
