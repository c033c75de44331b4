// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analysis/what_if.h"
#include "report/machine_course.h"
#include "report/step_view.h"
#include "result/stored/run_result.h"
#include "result/stored/samples.h"

namespace paceline::report {

using result::CaseResult;
using result::RunResult;

// A kernel of a GPU as ncu counted it; `share`: of the time of all that it counted.
struct KernelPoint {
  std::string name;
  double flops_per_s = 0, bytes_per_s = 0, share = 0;
};

// A run with the samples that its report may draw, by case id (may be empty: then no distributions are
// drawn).
struct ReportRun {
  RunResult result;
  std::map<std::string, std::vector<result::Sample>> samples{};
  std::vector<analysis::Change> changes{};                              // asked for with --what-if
  std::map<std::string, StepView> steps{};                              // of training cases, by case id
  std::map<std::string, std::vector<result::SampledWindow>> sampled{};  // readings of samplers, by case id
  MachineCourse machine{};                                    // beside the run; empty: it was not watched
  std::map<std::string, std::vector<KernelPoint>> kernels{};  // of cases that ncu profiled, by case id
};

// A case of one of several runs; `letter` names the run in tables: A, B, … (empty for a single run).
struct ReportCase {
  const ReportRun* run = nullptr;
  const CaseResult* one = nullptr;
  std::string letter;
};
inline ReportCase alone(const CaseResult& one) {
  return {nullptr, &one, {}};
}
std::string name_of(const ReportCase& entry);  // "resnet50 eager fp32 b1"; among several runs "A: resnet50 …"

// All cases in the order of the first run that has them, so that equal ones are side by side.
std::vector<ReportCase> side_by_side(std::span<const ReportRun> runs);

// Selects the cases for which a question is true.
template <typename Question>
std::vector<ReportCase> cases_with(std::span<const ReportRun> runs, const Question& question) {
  auto cases = side_by_side(runs);
  std::erase_if(cases, [&](const ReportCase& entry) { return !question(*entry.one); });
  return cases;
}

// The name of the plan; for a command line what was measured: "tiny_cnn eager fp32 b1", "resnet50: 4 cases".
std::string title_of(const result::RunResult& run);

// Why it is not claimed which of several runs with a case in common is faster; empty for others.
std::string between_runs(std::span<const ReportRun> runs);

std::string run_letter(std::size_t index);  // A … Z, then R27, …

// The texts of all runs, one after the other; each is made with its letter, which a single run does not have.
using TextOfRun = std::string(const result::RunResult& run, const std::string& letter);
std::string of_each(std::span<const ReportRun> runs, TextOfRun text);

// The tables of all runs below the names of the columns.
std::string one_below_another(std::span<const ReportRun> runs, std::string (*csv)(const RunResult&));

// The findings stored with the run, or those of the current rules where it has none.
std::vector<result::Finding> findings_of(const result::RunResult& run);

}  // namespace paceline::report
