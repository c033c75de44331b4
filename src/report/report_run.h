// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "result/run_result.h"
#include "result/samples.h"

namespace paceline::report {

// A run with the samples that its report may draw, by case id (may be empty: then no distributions are
// drawn).
struct ReportRun {
  result::RunResult result;
  std::map<std::string, std::vector<result::Sample>> samples;
};

// A case of one of several runs; `letter` names the run in tables: A, B, … (empty for a single run).
struct ReportCase {
  const ReportRun* run = nullptr;
  const result::CaseResult* one = nullptr;
  std::string letter;
};
std::string name_of(const ReportCase& entry);  // "resnet50 eager fp32 b1"; among several runs "A: resnet50 …"

// All cases in the order of the first run that has them, so that equal ones are side by side.
std::vector<ReportCase> side_by_side(std::span<const ReportRun> runs);

// The name of the plan; for a command line what was measured: "tiny_cnn eager fp32 b1", "resnet50: 4 cases".
std::string title_of(const result::RunResult& run);

std::string run_letter(std::size_t index);  // A … Z, then R27, …

// The findings stored with the run, or those of the current rules where it has none.
std::vector<result::Finding> findings_of(const result::RunResult& run);

}  // namespace paceline::report
