// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "analysis/traces/host_calls.h"
#include "analysis/traces/rank_operators.h"
#include "analysis/traces/rank_trace.h"
#include "analysis/traces/step_parts.h"
#include "analysis/traces/trace_roles.h"

namespace paceline::analysis::traces {

// Reads one rank's trace: the host's side in rank_trace.cc, the device's in rank_device.cc.
class RankReader {
 public:
  explicit RankReader(const Trace& trace)
      : trace_(trace), roles_(roles_of(trace.names)), operators_(trace, roles_), calls_(trace, roles_) {}
  RankTrace read();

 private:
  // The kernel of a launch that is not known by its number, and the one before it.
  struct Nameless {
    const TraceEvent* kernel;
    std::optional<std::int64_t> before;  // when the kernel before was launched
  };

  [[nodiscard]] Role role(const TraceEvent& e) const { return role_of(e, roles_); }
  StepParts* step_at(std::int64_t time);
  void find_steps();
  void leave_out_untimed();
  [[noreturn]] void refuse_without_steps() const;
  void require_one_process() const;
  void read_host();
  void read_backward();
  void leave_out_stubs();
  [[nodiscard]] bool is_stub(std::size_t at) const;
  void read_shapes();

  // rank_device.cc
  void read_device();
  void add_kernel(const TraceEvent& e, bool communicates, const HostCall* call, std::int64_t launched);
  void add_nameless(const std::vector<Nameless>& nameless);
  [[nodiscard]] bool is_communication(const TraceEvent& e, const Launch* launch, const HostCall* call) const;
  [[nodiscard]] Exchange exchange_of(const TraceEvent& e, const HostCall* call) const;
  [[nodiscard]] std::int64_t launched(const TraceEvent& e, const Launch* launch) const;
  [[nodiscard]] bool is_nameless(const TraceEvent& e, const Launch* launch) const;
  void set_times();
  void count_launches();
  void leave_out_cut_off();
  void count_operators();

  const Trace& trace_;
  std::vector<Role> roles_;  // of the trace's names
  RankOperators operators_;
  HostCalls calls_;
  std::vector<bool> communicates_;  // by name: as a kernel
  std::vector<StepParts> steps_;    // by begin
  RankTimes times_;
  std::int64_t earlier_end_ =
      std::numeric_limits<std::int64_t>::min();  // of kernels that were launched before the trace begins
  RankTrace result_;
};

// Throws Error(kData) when the trace has no step, or those of several processes.
RankTrace rank_trace(const Trace& trace);

}  // namespace paceline::analysis::traces
