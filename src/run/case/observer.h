// SPDX-License-Identifier: MIT
// The interface that hears what happens in a run; printing is left to the layer above.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "pass/records.h"
#include "result/run_result.h"

namespace paceline::run {

struct RunOverview {
  std::string experiment_name;
  std::string run_dir;
  std::size_t cases = 0;
  std::size_t repetitions = 0;  // of the case with the most
  const nlohmann::json* environment = nullptr;
  std::vector<std::string> devices{};  // where the cases run and why
};

struct PassInfo {
  std::size_t number = 0;  // 1-based among the timed passes of this run; 0: a check or a reference
  std::size_t of = 0;
  std::string label;  // of the case
  std::string kind;   // timed | check | reference | peak
  std::int64_t repetition = 0;
  double seconds_left = 0;  // estimate for the whole run; 0: unknown
};

// Told what happens, as it happens. Printing lives above this layer.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void run_begins(const RunOverview&) {}
  virtual void warning(const std::string&) {}
  virtual void document(const std::string&) {}  // lines of text that were asked for
  virtual void pass_begins(const PassInfo&) {}
  virtual void notice(const std::string&) {}  // worth a line, but nothing is wrong
  virtual void progress(const pass::ProgressRecord&) {}
  // A case with the figures of one part of it: a size of a sweep. It is measured further.
  virtual void part_measured(const result::CaseResult&) {}
  virtual void pass_ends(const PassInfo&, const std::string& problem) { (void)problem; }
  virtual void case_ends(const result::CaseResult&) {}
};

}  // namespace paceline::run
