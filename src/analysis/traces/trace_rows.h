// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "analysis/traces/rank_trace.h"
#include "base/maybe.h"

// The rows of a study: figures of each rank, and of operators over all ranks.
namespace paceline::analysis::traces {

// Means over the steps of one rank that follow another one, in ns: step_ns is the sum of data_wait_ns,
// forward_ns, backward_ns, optimizer_ns, exposed_ns and rest_ns, as far as they are known.
struct RankRow {
  std::int64_t rank = 0;
  std::string file, host;
  Number step_ns, data_wait_ns, forward_ns, backward_ns, optimizer_ns;
  Number communication_ns, exposed_ns, rest_ns;
  Number overlap_ratio;          // of communication, the share that computing hides
  Number idle_share;             // of the step: the device had nothing to do
  Number input_elements, batch;  // of the forward pass, where the trace has shapes
  Number last_share;             // of the exchanges that waited for some rank, those that waited for it
};

// Kernels of one name, and copies, that an operator launched, averaged in the same way.
struct KernelRow {
  std::string name;
  double calls = 0, device_ns = 0;
  double share = 0;  // of the step
};

// Means per step and rank. Times of the host exclude the operators that are called.
struct OperatorRow {
  std::string name;
  double calls = 0, host_ns = 0, device_ns = 0;
  double share = 0;                     // of the step; of the device's time where there is a device
  std::vector<KernelRow> kernels = {};  // the most time first
};

// Exchanges of one kind: means per step of a rank.
struct ExchangeRow {
  CallKind kind = CallKind::kUnknown;
  double calls = 0, length_ns = 0, exposed_ns = 0;
};

// The kinds of a rank's exchanges in steps of these numbers, the most exposed first. Their lengths may
// overlap.
std::vector<ExchangeRow> exchanges_of(const RankTrace& one, const std::set<std::int64_t>& numbers);

// Whether the trace tells how long communication took, and why it does not.
bool times_communication(const RankTrace& one);
const char* why_untimed(const RankTrace& one);

// Share of these ranks' communication that computing hides.
Number overlap_of(const std::vector<const RankTrace*>& ranks);

RankRow row_of(const RankTrace& one);
std::vector<OperatorRow> operators_of(const std::vector<RankTrace>& ranks, bool on_device);

}  // namespace paceline::analysis::traces
