// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/maybe.h"

// Times of a training step's operators, from a pass under the library's profiler.
namespace paceline::result {

// All calls of one operator, or of one part of the step, over all profiled steps.
struct OperatorRow {
  std::string name;
  std::int64_t calls = 0;
  Number self_ns;   // inside it alone; missing where it ran beside the training thread
  Number total_ns;  // inside it and what it called
  Number share;     // of self_ns in the profiled steps
};

// Report of the profiled process.
struct ProfiledSteps {
  std::string source;              // what measured it, in words
  bool on_device = false;          // self times are those of a device's work, total times the host's
  std::int64_t untimed_steps = 0;  // before the profiler started
  std::vector<double> step_ns;     // of each profiled step
  std::vector<OperatorRow> parts;  // parts of a step, in its order; without shares
  std::vector<OperatorRow> operators;
  double outside_ns = 0;  // time of the steps that is in no operator
  std::string no_trace;   // why no trace was written; empty: it was
};

struct OperatorProfile {
  std::string source;
  bool on_device = false;                              // as in ProfiledSteps
  Count steps = Count::missing("no profile");          // profiled steps
  Count untimed_steps = Count::missing("no profile");  // steps before them
  Number step_ns = Number::missing("no profile");      // median of the profiled steps of rank 0
  Number of_timed = Number::missing("no profile");     // step_ns over the median of the timed steps
  Number total_ns = Number::missing("no profile");     // of the profiled steps together
  std::vector<OperatorRow> parts;                      // of a step, in its order
  Count operators = Count::missing("no profile");      // in `table`
  std::vector<OperatorRow> top;                        // those with the largest self time
  OperatorRow rest{"", 0, Number::missing("no profile"), Number::missing("a sum would count calls twice"),
                   Number::missing("no profile")};       // the others together
  Number outside_ns = Number::missing("no profile");     // time of the steps that is in no operator
  Number outside_share = Number::missing("no profile");  // as a share of the steps
  std::string table;                                     // beside result.json: every operator; empty: none
  std::string trace;  // beside result.json: Chrome's trace format; empty: none
  Count trace_bytes = Count::missing("no trace");
  std::string reason;  // why there is no profile, or no trace, although asked for
};

inline constexpr std::size_t kTopOperators = 15;

// Fills in the shares of `steps`, and makes a profile of them: sums, the operators with the largest self
// time, the rest. `p50_ns` is the median of the timed steps.
OperatorProfile summarize_operators(ProfiledSteps& steps, const Number& p50_ns);

// Columns index,name,calls,self_ns,total_ns,share; the cell of a missing number is empty.
std::string operators_to_csv(const std::vector<OperatorRow>& rows);

}  // namespace paceline::result
