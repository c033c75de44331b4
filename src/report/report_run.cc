// SPDX-License-Identifier: MIT
#include "report/report_run.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "analysis/finding_table.h"
#include "base/text.h"
#include "base/units.h"

namespace paceline::report {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

}  // namespace

std::string title_of(const result::RunResult& run) {
  constexpr std::array<std::string_view, 2> kCommands{"infer", "train"};
  const bool named = std::find(kCommands.begin(), kCommands.end(), run.experiment_name) == kCommands.end();
  if (named || run.cases.empty()) return run.experiment_name;
  if (run.cases.size() == 1) return run.cases.front().label;
  std::vector<std::string> models;
  for (const auto& one : run.cases)
    if (!contains(models, one.benchmark.model)) models.push_back(one.benchmark.model);
  const auto cases = plural(std::ssize(run.cases), "case");
  if (models.size() > 3) return plural(std::ssize(models), "model") + ": " + cases;
  return join(models, ", ") + ": " + cases;
}

std::string run_letter(std::size_t index) {
  return index < 26 ? std::string(1, static_cast<char>('A' + index)) : "R" + std::to_string(index + 1);
}

std::string name_of(const ReportCase& entry) {
  return entry.letter.empty() ? entry.one->label : entry.letter + ": " + entry.one->label;
}

std::vector<ReportCase> side_by_side(std::span<const ReportRun> runs) {
  std::vector<std::vector<ReportCase>> groups;  // by case, in the order in which they first appear
  std::map<std::string_view, std::size_t> group_of;
  for (std::size_t index = 0; index < runs.size(); ++index)
    for (const auto& one : runs[index].result.cases) {
      const auto group = group_of.emplace(one.case_id, groups.size()).first->second;
      if (group == groups.size()) groups.emplace_back();
      groups[group].push_back({&runs[index], &one, runs.size() > 1 ? run_letter(index) : ""});
    }
  std::vector<ReportCase> cases;
  for (const auto& group : groups) cases.insert(cases.end(), group.begin(), group.end());
  return cases;
}

std::vector<result::Finding> findings_of(const result::RunResult& run) {
  return run.findings.empty() ? analysis::find_all(run) : run.findings;
}

}  // namespace paceline::report
