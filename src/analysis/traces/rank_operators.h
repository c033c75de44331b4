// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/traces/trace_file.h"
#include "analysis/traces/trace_roles.h"
#include "analysis/traces/trace_step.h"

namespace paceline::analysis::traces {

// A call of the host that started work of the device.
struct Launch {
  std::int64_t correlation = 0, begin = 0;
  std::uint32_t name = kNone;  // of the operator that made it; kNone: no operator
  std::uint32_t thread = 0;
  bool of_kernel = false;   // which the trace must have, too
  bool has_kernel = false;  // to be set by the caller
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
};

// Calls and times by operator, within steps.
class RankOperators {
 public:
  RankOperators(const Trace& trace, const std::vector<Role>& roles);

  // Null: the trace does not have it.
  Launch* launch_of(const TraceEvent& work);
  // Counts calls of operators and their times on the host. `step_of`: index of the step in which a time lies.
  void count_calls(const std::function<std::optional<std::size_t>(std::int64_t)>& step_of);
  // Work of the device in this step; `launch` may be null.
  void add_work(const TraceEvent& work, const Launch* launch, std::size_t step);

  [[nodiscard]] const std::vector<Launch>& launches() const { return launches_; }
  std::vector<TraceOperator> rows(bool on_device);

 private:
  const Trace& trace_;
  std::int64_t least_;                  // of the numbers by which launches and kernels know each other
  std::vector<Launch> launches_;        // by correlation
  std::vector<TraceOperator> by_name_;  // as the names of the trace
  std::map<std::pair<std::uint32_t, std::uint32_t>, TraceKernel> kernels_;  // by names of operator and kernel
};

}  // namespace paceline::analysis::traces
