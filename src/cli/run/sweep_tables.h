// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <map>
#include <string>

#include "run/case/observer.h"

namespace paceline::cli {

// Prints sweeps as nccl-tests does, each row once: while it is measured, or at the end. The rows of one of
// several processes are comments, because those of all processes follow.
class SweepTables : public run::RunObserver {
 public:
  explicit SweepTables(run::RunObserver& view) : view_(view) {}  // prints documents; outlives this
  void run_begins(const run::RunOverview& overview) override;
  void part_measured(const result::CaseResult& part) override;
  void case_ends(const result::CaseResult& result) override;
  void run_ends(const result::RunResult& run) override;

 private:
  struct Printed {
    std::size_t rows = 0;
    bool closed = false;
  };
  std::string head(const result::CaseResult& one);
  std::string row(const result::CaseResult& part);
  std::string rest(const result::CaseResult& one);  // what of its table was not printed yet

  run::RunObserver& view_;
  std::string title_, run_id_;
  bool titled_ = false;
  std::string commented_;                   // the case whose rows of one process were printed last
  std::map<std::string, Printed> printed_;  // by case
};

}  // namespace paceline::cli
