// SPDX-License-Identifier: MIT
#include "report/report_run.h"

#include <algorithm>
#include <string_view>

#include "analysis/finding_table.h"
#include "base/text.h"
#include "base/units.h"

namespace paceline::report {
std::string title_of(const result::RunResult& run) {
  const bool of_a_command = run.experiment_name == "infer" || run.experiment_name == "train";
  if (!of_a_command || run.cases.empty()) return run.experiment_name;
  if (run.cases.size() == 1) return run.cases.front().label;
  std::vector<std::string> models;
  for (const auto& one : run.cases) place_of(one.benchmark.model, models);
  const auto cases = plural(std::ssize(run.cases), "case");
  if (models.size() > 3) return plural(std::ssize(models), "model") + ": " + cases;
  return join(models, ", ") + ": " + cases;
}

std::string between_runs(std::span<const ReportRun> runs) {
  std::map<std::string_view, std::size_t> with;  // number of runs that measured a case
  for (const ReportRun& run : runs)
    for (const auto& one : run.result.cases)
      if (one.outcome == result::Outcome::kOk) ++with[one.case_id];
  if (std::ranges::none_of(with, [](const auto& one) { return one.second > 1; })) return {};
  return "Which run is faster is not claimed: their processes did not run in turns. Measure both in one "
         "plan.";
}

std::string run_letter(std::size_t index) {
  return index < 26 ? std::string(1, static_cast<char>('A' + index)) : "R" + std::to_string(index + 1);
}

std::string of_each(std::span<const ReportRun> runs, TextOfRun text) {
  std::string out;
  for (std::size_t index = 0; index < runs.size(); ++index)
    out += text(runs[index].result, runs.size() > 1 ? run_letter(index) : "");
  return out;
}

std::string one_below_another(std::span<const ReportRun> runs, std::string (*csv)(const RunResult&)) {
  std::string out;
  for (const ReportRun& run : runs) {
    const std::string table = csv(run.result);
    out += out.empty() ? table : table.substr(table.find('\n') + 1);
  }
  return out;
}

std::string name_of(const ReportCase& entry) {
  return entry.letter.empty() ? entry.one->label : entry.letter + ": " + entry.one->label;
}

std::vector<ReportCase> side_by_side(std::span<const ReportRun> runs) {
  std::vector<ReportCase> cases;
  std::map<std::string_view, std::size_t> places;  // of case ids, in the order in which they first appear
  for (std::size_t index = 0; index < runs.size(); ++index)
    for (const auto& one : runs[index].result.cases) {
      places.emplace(one.case_id, places.size());
      cases.push_back({&runs[index], &one, runs.size() > 1 ? run_letter(index) : ""});
    }
  std::ranges::stable_sort(cases, {}, [&](const ReportCase& e) { return places.at(e.one->case_id); });
  return cases;
}

std::vector<result::Finding> findings_of(const result::RunResult& run) {
  return run.findings.empty() ? analysis::find_all(run) : run.findings;
}

}  // namespace paceline::report
