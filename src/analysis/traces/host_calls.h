// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <vector>

#include "analysis/traces/call_kind.h"
#include "analysis/traces/trace_file.h"
#include "analysis/traces/trace_roles.h"

namespace paceline::analysis::traces {

// A call of the host that hands an exchange over to the device or another thread.
struct HostCall {
  std::int64_t begin = 0, end = 0;
  CallKind kind = CallKind::kUnknown;
  std::uint32_t group = 0;  // as EventDetails has it
  bool has_kernel = false;  // a kernel is known to be its own; to be set by the caller
};

// These calls by thread. Calls inside each other are one: the innermost says best what it is.
class HostCalls {
 public:
  HostCalls(const Trace& trace, const std::vector<Role>& roles);

  // The call open on a thread at that time, or null.
  HostCall* at(std::uint32_t thread, std::int64_t time);
  // Exchanges without a known kernel, by begin.
  [[nodiscard]] std::vector<const HostCall*> without_kernel() const;
  // Kind of the device's sends and receives where their own call does not say: known if all calls of
  // exchanges that can consist of them are of one kind.
  [[nodiscard]] CallKind kind_of_pairs() const;

 private:
  std::vector<std::vector<HostCall>> by_thread_;
};

}  // namespace paceline::analysis::traces
