// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <map>
#include <string>

#include "result/run_result.h"

namespace paceline::cli {

// Prints sweeps as nccl-tests does, each row once: while it is measured, or at the end. The rows of one of
// several processes are comments, because those of all processes follow.
class SweepTables {
 public:
  void begin(std::string title, std::string run_id) {
    title_ = std::move(title), run_id_ = std::move(run_id);
  }
  // The row of the size that was measured last, with what stands above the first row. `part` has that size
  // alone.
  std::string row(const result::CaseResult& part);
  // Some of its rows were printed while they were measured, and the table was not closed yet.
  [[nodiscard]] bool is_open(const result::CaseResult& one) const;
  // What of a case's table was not printed yet; empty: nothing, or it has none.
  std::string rest(const result::CaseResult& one);

 private:
  struct Printed {
    std::size_t rows = 0;
    bool closed = false;
  };
  std::string head(const result::CaseResult& one);

  std::string title_, run_id_;
  bool titled_ = false;
  std::string commented_;                   // the case whose rows of one process were printed last
  std::map<std::string, Printed> printed_;  // by case
};

}  // namespace paceline::cli
